#pragma once

#include "core/time.hpp"

#include <chrono>

namespace holdfast::io {

// The clock that leases are decided by. On Linux CLOCK_BOOTTIME: it goes on while the machine is
// suspended, as the nodes' clocks do; steady_clock does not.
core::time_point now() noexcept;

// The same instant on steady_clock, which timers understand; right until the next suspension.
std::chrono::steady_clock::time_point to_steady(core::time_point when) noexcept;

} // namespace holdfast::io
