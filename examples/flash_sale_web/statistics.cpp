#include "statistics.hpp"

#include <algorithm>
#include <cmath>

namespace flash_sale_web {

microseconds latencies::quantile(double share) const
{
    if (all_.empty())
        return microseconds(0);
    std::vector<microseconds> sorted = all_;
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(count())));
    const auto place =
        sorted.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
    std::nth_element(sorted.begin(), place, sorted.end());
    return *place;
}

void recent_latencies::add(instant now, microseconds value)
{
    forget(now);
    all_.emplace_back(now, value);
}

latencies recent_latencies::at(instant now)
{
    forget(now);
    latencies result;
    for (const auto& [when, value] : all_)
        result.add(value);
    return result;
}

void recent_latencies::forget(instant now)
{
    while (!all_.empty() && all_.front().first + window_ < now)
        all_.pop_front();
}

void rate_meter::add(instant now, std::uint64_t total)
{
    seen_.emplace_back(now, total);
    // The second one is old enough: the first is not needed any more.
    while (seen_.size() > 2 && seen_[1].first + window_ <= now)
        seen_.pop_front();
}

double rate_meter::per_second() const
{
    if (seen_.size() < 2)
        return 0;
    const auto time = std::chrono::duration<double>(seen_.back().first - seen_.front().first);
    const auto growth = static_cast<double>(seen_.back().second - seen_.front().second);
    return time.count() > 0 ? growth / time.count() : 0;
}

pace::pace(unsigned per_second, instant start)
    : interval_(std::chrono::steady_clock::duration(std::chrono::seconds(1)) / per_second),
      due_(start)
{}

instant pace::next()
{
    const instant now_due = due_;
    due_ += interval_;
    return now_due;
}

void ledger::update(const round_count& round)
{
    open_[round.item] = round;
}

void ledger::settle(std::int64_t item)
{
    const auto found = open_.find(item);
    if (found == open_.end())
        return;
    add(found->second.locked ? with_ : without_, found->second);
    open_.erase(found);
}

ledger::totals ledger::of(bool locked) const
{
    totals all = locked ? with_ : without_;
    for (const auto& [item, round] : open_) {
        if (round.locked == locked)
            add(all, round);
    }
    return all;
}

void ledger::add(totals& to, const round_count& round)
{
    to.orders += round.orders;
    to.oversold += round.oversold();
    ++to.rounds;
}

} // namespace flash_sale_web
