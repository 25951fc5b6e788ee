#pragma once

#include <holdfast/detail/export.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace holdfast {

/// How often durations of each length were recorded, from microseconds to hours.
///
/// The buckets are fixed, so histograms of different lockers and processes can be added. The upper
/// bound of each bucket is twice that of the one before: 1.024 µs, 2.048 µs … 9.8 h. One more
/// bucket has what is longer. A value type of about 300 bytes; allocates nothing. Thread safety: as
/// an int.
class histogram {
public:
    using duration = std::chrono::nanoseconds; ///< what is recorded

    static constexpr std::size_t bounds = 36;          ///< buckets with an upper bound
    static constexpr std::size_t buckets = bounds + 1; ///< and the one for longer durations

    /// The upper bound of a bucket, which belongs to the bucket. Precondition: bucket < bounds.
    static constexpr duration bound(std::size_t bucket) noexcept
    {
        return duration(static_cast<std::int64_t>(first_bound) << bucket);
    }

    /// A duration of less than 1 ns counts as 1 ns, of more than 146 years as that.
    constexpr void record(duration value) noexcept
    {
        const std::int64_t ns = std::clamp<std::int64_t>(value.count(), 1, std::int64_t(1) << 62);
        // Less 1, because a bound belongs to its bucket. The low bits make the first bucket.
        const auto within = static_cast<std::uint64_t>(ns - 1) | (first_bound - 1);
        const std::size_t bucket = width(within) - width(first_bound - 1);
        ++counts_[std::min(bucket, bounds)];
        add(static_cast<std::uint64_t>(ns));
    }

    /// How many durations a bucket has, without those of other buckets. Precondition:
    /// bucket < buckets.
    constexpr std::uint64_t in(std::size_t bucket) const noexcept { return counts_[bucket]; }

    /// How many durations were recorded.
    constexpr std::uint64_t count() const noexcept
    {
        std::uint64_t all = 0;
        for (const std::uint64_t each : counts_)
            all += each;
        return all;
    }

    /// The sum of all durations, without a limit: whole seconds, and the rest.
    constexpr std::uint64_t sum_seconds() const noexcept { return seconds_; }
    /// Less than a second.
    constexpr duration sum_rest() const noexcept
    {
        return duration(static_cast<std::int64_t>(ns_));
    }

    /// The sum of all durations; `duration::max()` if it is larger than that, 292 years.
    constexpr duration sum() const noexcept
    {
        constexpr auto most = static_cast<std::uint64_t>(duration::max().count());
        if (seconds_ >= most / in_second)
            return duration::max();
        return duration(static_cast<std::int64_t>(seconds_ * in_second + ns_));
    }

    /// An estimate of the duration that the share `q` of all durations does not exceed: 0.5 for the
    /// median, 0.99 for the 99th percentile. The true value is in the same bucket, so the estimate
    /// is wrong by a factor of less than 2 above 1.024 µs. Within the bucket it is interpolated.
    /// `q` below 0 counts as 0, above 1 as 1. For durations beyond the last bound, that bound. 0 if
    /// nothing was recorded.
    HOLDFAST_EXPORT duration quantile(double q) const noexcept;

    /// Adds the durations of another histogram.
    constexpr histogram& operator+=(const histogram& other) noexcept
    {
        for (std::size_t i = 0; i < buckets; ++i)
            counts_[i] += other.counts_[i];
        seconds_ += other.seconds_;
        add(other.ns_);
        return *this;
    }

    /// Whether both have recorded the same: the same counts and the same sum.
    friend constexpr bool operator==(const histogram&, const histogram&) = default;

private:
    static constexpr std::uint64_t first_bound = 1024; // ns

    static constexpr std::size_t width(std::uint64_t n) noexcept
    {
        return static_cast<std::size_t>(std::bit_width(n));
    }

    constexpr void add(std::uint64_t ns) noexcept
    {
        ns_ += ns;
        if (ns_ >= in_second) {
            seconds_ += ns_ / in_second;
            ns_ %= in_second;
        }
    }

    static constexpr std::uint64_t in_second = 1'000'000'000;

    std::array<std::uint64_t, buckets> counts_{};
    std::uint64_t seconds_ = 0, ns_ = 0; // the sum; ns_ < in_second
};

} // namespace holdfast
