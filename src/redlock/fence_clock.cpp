#include "redlock/fence_clock.hpp"

#include <algorithm>
#include <limits>

namespace holdfast::redis {

namespace {

using std::chrono::milliseconds;

// Clocks beyond this are not believed: the numbers would overflow. It is in the year 2200.
constexpr std::int64_t latest_ms = 7'258'118'400'000;

} // namespace

// The next request will be on its way for about as long as this one was, so it counts from when
// that was asked. But not where the node, or we, did something else in the meantime.
void fence_clock::note(std::size_t node, std::int64_t clock_ms, core::time_point asked,
    core::time_point heard) noexcept
{
    if (clock_ms < 0 || clock_ms > latest_ms || heard - asked > ahead_ / 2)
        return;
    offsets_[node] = milliseconds(clock_ms) - asked.time_since_epoch();
}

std::int64_t fence_clock::floor(core::time_point now) const noexcept
{
    std::array<core::duration, max_nodes> known{};
    std::size_t count = 0;
    for (const auto& offset : offsets_) {
        if (offset)
            known[count++] = *offset;
    }
    if (count == 0)
        return 0;
    const auto last = known.begin() + static_cast<std::ptrdiff_t>(count);
    std::sort(known.begin(), last);
    const core::duration limit = known[(count - 1) / 2] + ahead_;
    const core::duration largest = *(std::upper_bound(known.begin(), last, limit) - 1);
    return std::chrono::ceil<milliseconds>(now.time_since_epoch() + largest + margin_).count();
}

} // namespace holdfast::redis
