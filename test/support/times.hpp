#pragma once

#include "core/time.hpp"

#include <chrono>

namespace holdfast::test {

// Times in tests are constants, never measured. They count from a start that is far from the ends
// of the clock and on no round grid.
inline constexpr core::time_point start{std::chrono::milliseconds(1'000'000'007)};

constexpr core::time_point at(std::chrono::nanoseconds since_start) noexcept
{
    return start + since_start;
}

} // namespace holdfast::test
