#pragma once

#include "core/time.hpp"

namespace holdfast::core {

// Decides when an overload begins and ends, for people: it ends when no wait has failed because of
// it for a while, and nothing stands in line.
class overload_watch {
public:
    // At most one overload in this time is reported.
    static constexpr duration calm = std::chrono::seconds(1);

    // A wait has failed because of the overload. True if it begins.
    bool refused(time_point now) noexcept
    {
        const bool begins = look_at_ == never;
        look_at_ = now + calm;
        return begins;
    }

    // When to call ends(). Never if there is no overload.
    time_point look_at() const noexcept { return look_at_; }
    // Precondition: look_at() has come. True if the overload ends. `in_line`: attempts wait.
    bool ends(bool in_line, time_point now) noexcept
    {
        look_at_ = in_line ? now + calm : never;
        return !in_line;
    }

private:
    time_point look_at_ = never;
};

} // namespace holdfast::core
