#pragma once

#include "core/inspection.hpp"

#include <chrono>

namespace holdfast::io {

// The wall clock, in time since the epoch. Only people read it: no decision depends on it.
std::chrono::nanoseconds wall_clock() noexcept;

// This process, and a locker that is created now.
core::client_identity identify_process();

} // namespace holdfast::io
