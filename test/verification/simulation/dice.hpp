#pragma once

#include "core/backoff.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>

namespace holdfast::simulation {

using nanoseconds = std::chrono::nanoseconds;

// The only source of randomness in a simulated world, so the seed determines everything.
class dice {
public:
    explicit dice(std::uint64_t seed) noexcept : source_(seed) {}

    std::uint64_t bits() noexcept { return source_.next(); }

    // Precondition: n > 0.
    std::size_t below(std::size_t n) noexcept { return static_cast<std::size_t>(bits() % n); }

    bool chance(double probability) noexcept { return fraction() < probability; }

    nanoseconds between(nanoseconds low, nanoseconds high) noexcept
    {
        return source_.between(low, high);
    }

    // Log-uniform: every order of magnitude is equally likely. Precondition: 0 < low <= high.
    nanoseconds of_any_size(nanoseconds low, nanoseconds high) noexcept
    {
        const double ratio = static_cast<double>(high.count()) / static_cast<double>(low.count());
        return nanoseconds(static_cast<std::int64_t>(
            static_cast<double>(low.count()) * std::pow(ratio, fraction())));
    }

    double fraction() noexcept { return static_cast<double>(bits() >> 11) * 0x1p-53; }

private:
    core::jitter source_;
};

} // namespace holdfast::simulation
