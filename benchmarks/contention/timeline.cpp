#include "timeline.hpp"

#include "quantile.hpp"
#include "statistics.hpp"

#include <algorithm>

namespace contention {

timeline put_in_order(
    std::vector<hold> all, std::size_t processes, std::int64_t from, std::int64_t until)
{
    std::sort(
        all.begin(), all.end(), [](const hold& a, const hold& b) { return a.begin < b.begin; });
    timeline t;
    if (all.empty())
        return t;
    const auto later_end = [](const hold& a, const hold& b) {
        return a.end < b.end;
    };
    if (until == 0)
        until = std::max_element(all.begin(), all.end(), later_end)->end + 1;
    t.seconds = static_cast<double>(until - from) / 1e9;

    std::vector<std::size_t> shares(processes);
    std::vector<double> gaps;
    std::int64_t free_at = all.front().begin;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const hold& now = all[i];
        const bool measured = now.begin < until;
        const bool changed = i > 0 && now.process != all[i - 1].process;
        t.holds += measured;
        t.changes += measured && changed;
        t.all_changes += changed;
        t.overlaps += now.begin < free_at;
        if (measured)
            ++shares[now.process];
        if (measured && i > 0)
            gaps.push_back(static_cast<double>(std::max<std::int64_t>(0, now.begin - free_at)));
        free_at = std::max(free_at, now.end);
    }

    const auto [fewest, most] = std::minmax_element(shares.begin(), shares.end());
    const double equal = ratio(t.holds, processes);
    t.smallest_share = ratio(static_cast<double>(*fewest), equal);
    t.largest_share = ratio(static_cast<double>(*most), equal);
    t.median_gap_ms = median(gaps) / 1e6;
    t.p99_gap_ms = benchmark::quantile(gaps, 0.99) / 1e6;
    t.max_gap_ms = benchmark::quantile(gaps, 1) / 1e6;
    return t;
}

} // namespace contention
