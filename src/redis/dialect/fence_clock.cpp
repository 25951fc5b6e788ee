#include "redis/dialect/fence_clock.hpp"

#include "redis/node/fence_scripts.hpp"

#include <algorithm>
#include <span>

namespace holdfast::redis {

namespace {

using namespace std::chrono_literals;

// Later clocks are not believed, because the numbers would overflow: the year 2200.
constexpr std::int64_t latest_us = 7'258'118'400'000'000;

// So much a clock may drift from ours, as a part of the time that has passed: 100 ppm.
constexpr core::duration::rep drift = 10'000;
constexpr core::duration oldest_sample = 60s;

// So much it may drift at worst, as for leases: 0.5 %.
constexpr core::duration::rep largest_drift = 200;

} // namespace

bool fence_clock::note(std::size_t node, std::int64_t clock_us, core::time_point asked,
    core::time_point heard) noexcept
{
    const core::duration half = (heard - asked) / 2;
    if (clock_us < 0 || clock_us > latest_us || heard < asked || half > ahead_)
        return false;
    const sample now_known{
        .offset = std::chrono::microseconds(clock_us) - (asked + half).time_since_epoch(),
        .error = half,
        .heard = heard};
    std::optional<sample>& known = samples_[node];
    bool jumped = false;
    if (known) {
        const core::duration age = heard - known->heard;
        const core::duration error = known->error + age / drift;
        const core::duration apart = std::chrono::abs(now_known.offset - known->offset);
        jumped = apart > half + error + ahead_;
        const bool agrees = apart <= half + error;
        if (agrees && age < oldest_sample && half > error)
            return false;
    }
    known = now_known;
    latest_ = heard;
    estimate();
    return jumped;
}

void fence_clock::forget(std::size_t node) noexcept
{
    samples_[node].reset();
    estimate();
}

// From the samples that are still exact enough at the latest one, if there are any.
void fence_clock::estimate() noexcept
{
    std::array<core::duration, max_nodes> offsets{};
    std::size_t count = 0;
    const auto use = [&](bool old) {
        for (const auto& each : samples_) {
            if (each && (old || each->error + (latest_ - each->heard) / largest_drift <= ahead_))
                offsets[count++] = each->offset;
        }
        return count != 0;
    };
    known_ = use(false) || use(true);
    if (known_)
        offset_ = majority_value(std::span(offsets.data(), count), count);
}

std::int64_t fence_clock::ms(core::time_point now) const noexcept
{
    return std::chrono::floor<std::chrono::milliseconds>(now.time_since_epoch() + offset_).count();
}

std::uint64_t fence_clock::ballot(core::time_point now) const noexcept
{
    using eighths = std::chrono::duration<std::int64_t, std::ratio<1, 1000 * ballots_in_ms>>;
    const auto since_epoch = std::chrono::floor<eighths>(now.time_since_epoch() + offset_).count();
    return static_cast<std::uint64_t>(std::max<std::int64_t>(since_epoch, 1));
}

} // namespace holdfast::redis
