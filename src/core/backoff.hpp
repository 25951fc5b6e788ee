#pragma once

#include "core/time.hpp"

#include <algorithm>
#include <cstdint>

namespace holdfast::core {

// Cheap random numbers to spread retries; not for secrets. SplitMix64, from Steele, Lea and Flood,
// "Fast splittable pseudorandom number generators", 2014.
class jitter {
public:
    explicit jitter(std::uint64_t seed) noexcept : state_(seed) {}

    std::uint64_t next() noexcept
    {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

    // Uniform in [low, high]; `low` if they are not in this order.
    duration between(duration low, duration high) noexcept
    {
        if (high <= low)
            return low;
        const auto width = static_cast<std::uint64_t>((high - low).count()) + 1;
        return low + duration(static_cast<std::int64_t>(next() % width));
    }

private:
    std::uint64_t state_;
};

// How long to wait after the `failures`-th failure in a row (from 1): uniform between zero and a
// limit, which is `first` at first and doubles each time, up to `last`. This "full jitter" spreads
// clients best.
// Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
inline duration backoff(unsigned failures, duration first, duration last, jitter& random) noexcept
{
    const unsigned doublings = std::min(failures > 0 ? failures - 1 : 0u, 30u);
    const duration limit = first > last / (std::int64_t(1) << doublings)
                               ? last
                               : first * (std::int64_t(1) << doublings);
    return random.between(duration(0), limit);
}

} // namespace holdfast::core
