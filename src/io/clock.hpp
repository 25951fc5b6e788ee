#pragma once

#include "core/time.hpp"

#include <chrono>

namespace holdfast::io {

// The clock of leases. On Linux this is CLOCK_BOOTTIME: like the nodes' clocks, and unlike
// steady_clock, it continues while the machine is suspended.
core::time_point now() noexcept;

// The same instant on steady_clock, as timers need it. Correct until the next suspension.
std::chrono::steady_clock::time_point to_steady(core::time_point when) noexcept;

// Both clocks, the steady one first.
struct clocks {
    std::chrono::steady_clock::time_point steady;
    core::time_point lease;
};
clocks read_clocks() noexcept;
std::chrono::steady_clock::time_point to_steady(core::time_point when, const clocks& now) noexcept;

} // namespace holdfast::io
