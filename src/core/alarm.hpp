#pragma once

#include "core/time.hpp"

#include <algorithm>
#include <optional>

namespace holdfast::core {

// Decides when the single timer of the I/O layer has to fire. The timer is not moved if it fires
// earlier than needed: that costs one wake-up, while moving it would cost as much at every
// operation.
//
// The timer's clock may stop while the machine is suspended; the lease clock does not. So no sleep
// is long, and an overdue timer is set again.
class alarm {
public:
    static constexpr duration longest_sleep = std::chrono::seconds(1);

    // The new time of the timer, if it must be moved.
    std::optional<time_point> plan(time_point wanted, time_point now) noexcept
    {
        if (wanted == never)
            return std::nullopt;
        const time_point at = std::clamp(wanted, now, now + longest_sleep);
        const bool overdue = at_ < now - tolerance;
        if (at >= at_ && !overdue)
            return std::nullopt;
        at_ = at;
        return at;
    }

    void clear() noexcept { at_ = never; } // it has fired, or was cancelled
    bool is_set() const noexcept { return at_ != never; }

private:
    // In a busy event loop a timer may fire a little late. It is not overdue then.
    static constexpr duration tolerance = std::chrono::milliseconds(10);

    time_point at_ = never;
};

} // namespace holdfast::core
