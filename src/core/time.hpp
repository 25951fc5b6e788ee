#pragma once

#include <chrono>
#include <cstdint>

namespace holdfast::core {

// The clock of leases, as a type only: a core is given the time and cannot ask for it. The I/O
// layer takes the time from a clock that includes the time in which the machine is suspended.
struct lease_clock {
    using rep = std::int64_t;
    using period = std::nano;
    using duration = std::chrono::nanoseconds;
    using time_point = std::chrono::time_point<lease_clock, duration>;
    static constexpr bool is_steady = true;
};

using duration = lease_clock::duration;
using time_point = lease_clock::time_point;

inline constexpr time_point never = time_point::max();
inline constexpr time_point long_ago = time_point::min();

// `from + length`, where `length` may be as large as `forever`.
constexpr time_point later(time_point from, std::chrono::milliseconds length) noexcept
{
    const auto room = std::chrono::duration_cast<std::chrono::milliseconds>(never - from);
    return length >= room ? never : from + length;
}

} // namespace holdfast::core
