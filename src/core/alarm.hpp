#pragma once

#include "core/time.hpp"

#include <algorithm>
#include <optional>

namespace holdfast::core {

// When the one timer of a shell is to fire. It is left alone when it fires early anyway: that costs
// one wake-up, where moving it would cost as much for every operation.
//
// The clock of a timer may stand still while the machine is suspended, ours does not. So nobody
// sleeps for long, and a timer that should have fired is not relied on.
class alarm {
public:
    static constexpr duration longest_sleep = std::chrono::seconds(1);

    // Where to move the timer now, if it must be moved.
    std::optional<time_point> plan(time_point wanted, time_point now) noexcept
    {
        if (wanted == never)
            return std::nullopt;
        const time_point at = std::min(wanted, now + longest_sleep);
        const bool overdue = at_ < now - tolerance;
        if (at >= at_ && !overdue)
            return std::nullopt;
        at_ = at;
        return at;
    }

    void clear() noexcept { at_ = never; } // it has fired, or was cancelled
    bool is_set() const noexcept { return at_ != never; }

private:
    // Timers of a busy loop are a little late, and come all the same.
    static constexpr duration tolerance = std::chrono::milliseconds(10);

    time_point at_ = never;
};

} // namespace holdfast::core
