#pragma once

#include "core/time.hpp"

#include <chrono>
#include <cstdint>

namespace holdfast::simulation {

using nanoseconds = std::chrono::nanoseconds;

// The time that a clock shows for true time `t` (up to some days) if it runs `ppm` parts per
// million too fast.
constexpr nanoseconds at_rate(nanoseconds t, std::int64_t ppm) noexcept
{
    return t + nanoseconds(t.count() * ppm / 1'000'000);
}

// The clocks of a machine that runs clients. During a suspension the boot clock advances and the
// monotonic clock does not.
class machine_clock {
public:
    machine_clock() = default;
    machine_clock(core::time_point at_start, std::int64_t ppm) noexcept
        : start_(at_start),
          ppm_(ppm)
    {}

    core::time_point boot(nanoseconds t) const noexcept { return start_ + at_rate(t, ppm_); }
    core::time_point monotonic(nanoseconds t) const noexcept { return boot(t) - asleep_; }

    nanoseconds when_monotonic_shows(core::time_point when) const noexcept
    {
        return when_boot_shows(when + asleep_);
    }
    nanoseconds when_boot_shows(core::time_point when) const noexcept
    {
        const std::int64_t shown = (when - start_).count();
        const std::int64_t rate = 1'000'000 + ppm_;
        nanoseconds t(shown / rate * 1'000'000 + shown % rate * 1'000'000 / rate);
        while (boot(t) < when)
            ++t;
        return t;
    }

    void suspended_for(nanoseconds t) noexcept { asleep_ += at_rate(t, ppm_); }

private:
    core::time_point start_{};
    std::int64_t ppm_ = 0;
    nanoseconds asleep_{0};
};

// The clock that a server uses to expire keys. It can be set.
class wall_clock {
public:
    wall_clock() = default;
    wall_clock(std::chrono::milliseconds at_start, std::int64_t ppm) noexcept
        : start_(at_start),
          ppm_(ppm)
    {}

    std::chrono::milliseconds show(nanoseconds t) const noexcept
    {
        return std::chrono::floor<std::chrono::milliseconds>(start_ + at_rate(t, ppm_));
    }

    void step(nanoseconds by) noexcept { start_ += by; }

private:
    nanoseconds start_{};
    std::int64_t ppm_ = 0;
};

} // namespace holdfast::simulation
