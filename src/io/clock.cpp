#include "io/clock.hpp"

#include <ctime>

namespace holdfast::io {

core::time_point now() noexcept
{
#ifdef CLOCK_BOOTTIME
    timespec t{};
    if (::clock_gettime(CLOCK_BOOTTIME, &t) == 0)
        return core::time_point(
            std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
#endif
    return core::time_point(std::chrono::steady_clock::now().time_since_epoch());
}

std::chrono::steady_clock::time_point to_steady(core::time_point when) noexcept
{
    return to_steady(when, read_clocks());
}

clocks read_clocks() noexcept
{
    const auto steady = std::chrono::steady_clock::now();
    return {steady, now()};
}

// The steady clock was read first, so an interruption between the two makes the result earlier.
std::chrono::steady_clock::time_point to_steady(core::time_point when, const clocks& now) noexcept
{
    using steady = std::chrono::steady_clock;
    if (when == core::never)
        return steady::time_point::max();
    if (when == core::long_ago)
        return steady::time_point::min();
    return now.steady + std::chrono::duration_cast<steady::duration>(when - now.lease);
}

} // namespace holdfast::io
