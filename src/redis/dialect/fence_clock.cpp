#include "redis/dialect/fence_clock.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace holdfast::redis {

namespace {

using std::chrono::milliseconds;

// Later clocks are not believed, because the numbers would overflow: the year 2200.
constexpr std::int64_t latest_ms = 7'258'118'400'000;

} // namespace

struct fence_clock::known_clocks {
    std::array<core::duration, max_nodes> offsets{};
    std::size_t count = 0;
    core::duration median{}; // a majority of the known clocks is not behind it
};

fence_clock::known_clocks fence_clock::known() const noexcept
{
    known_clocks k;
    for (const auto& offset : offsets_) {
        if (offset)
            k.offsets[k.count++] = *offset;
    }
    if (k.count > 0)
        k.median = majority_value(std::span(k.offsets.data(), k.count), k.count);
    return k;
}

// The next request will take about as long to the node as this one did, so the clock counts from
// `asked`. It is ignored if the node, or this process, was busy with something else in between.
bool fence_clock::note(std::size_t node, std::int64_t clock_ms, core::time_point asked,
    core::time_point heard) noexcept
{
    if (clock_ms < 0 || clock_ms > latest_ms || heard - asked > ahead_ / 2)
        return false;
    const core::duration offset = milliseconds(clock_ms) - asked.time_since_epoch();
    const bool jumped = offsets_[node] && std::chrono::abs(offset - *offsets_[node]) > ahead_;
    offsets_[node] = offset;
    return jumped;
}

std::int64_t fence_clock::floor(core::time_point now) const noexcept
{
    const known_clocks k = known();
    if (k.count == 0)
        return 0;
    core::duration largest = k.median; // of those that are not too far ahead of it
    for (const core::duration offset : std::span(k.offsets.data(), k.count)) {
        if (offset <= k.median + ahead_)
            largest = std::max(largest, offset);
    }
    const core::duration wanted = std::min(largest, k.median + furthest_ - 2 * margin_) + margin_;
    return std::chrono::ceil<milliseconds>(now.time_since_epoch() + wanted).count();
}

std::int64_t fence_clock::storable(core::time_point now) const noexcept
{
    const known_clocks k = known();
    if (k.count == 0)
        return latest_ms;
    return std::chrono::floor<milliseconds>(now.time_since_epoch() + k.median + furthest_ - margin_)
        .count();
}

} // namespace holdfast::redis
