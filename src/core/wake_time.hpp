#pragma once

#include "core/time.hpp"

#include <algorithm>

namespace holdfast::core {

// The earliest time at which one of several parts must be woken. Each part notes its own time here
// whenever it gets an earlier one, so that it costs nothing to ask for the earliest. It is never
// too late. It is too early if a part has put its time off since.
class wake_time {
public:
    time_point at() const noexcept { return at_; }

    void note(time_point when) noexcept { at_ = std::min(at_, when); }
    // Before all parts note their times again.
    void start_over() noexcept { at_ = never; }

private:
    time_point at_ = never;
};

} // namespace holdfast::core
