#pragma once

#include "core/time.hpp"
#include "verification/simulation/schedule.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace holdfast::simulation {

// The end of a process that drains its locker. Times are those of its own clock.
class departure {
public:
    bool begun() const noexcept { return begun_; }
    void begin(std::function<void()> closed)
    {
        begun_ = true;
        closed_ = std::move(closed);
    }
    // The holders may be told to stop from then on. The locker was told so.
    void stop_at(core::time_point when) noexcept { stops_at_ = std::min(stops_at_, when); }
    bool stops(core::time_point now) const noexcept { return now >= stops_at_; }
    core::time_point stops_at() const noexcept { return stops_at_; }
    // The locker is drained. True the first time.
    bool drained() noexcept { return !std::exchange(drained_, true); }
    void has_closed()
    {
        if (const auto next = std::exchange(closed_, nullptr))
            next();
    }

private:
    bool begun_ = false, drained_ = false;
    core::time_point stops_at_ = core::never;
    std::function<void()> closed_;
};

} // namespace holdfast::simulation
