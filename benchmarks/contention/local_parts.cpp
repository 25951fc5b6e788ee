#include "local.hpp"
#include "parking.hpp"
#include "parts.hpp"
#include "statistics.hpp"

#include <holdfast/lock.hpp>

#include <array>
#include <functional>
#include <map>

namespace contention {
namespace {

namespace json = boost::json;
using results = std::vector<local_result>;

double rate(const local_result& r)
{
    return ratio(static_cast<double>(r.turns), r.seconds);
}

// Prints a row: the figures of one kind of lock, with the ratios of its rate to those of the
// mutexes in the same repetition.
void add_row(const std::string& name, const results& rows, const results& quick,
    const results& awaited, report& out)
{
    std::vector<double> of_quick, of_awaited;
    std::size_t overtakings = 0, overlaps = 0, unfinished = 0;
    std::string failure;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        of_quick.push_back(ratio(rate(rows[i]), rate(quick[i])));
        of_awaited.push_back(ratio(rate(rows[i]), rate(awaited[i])));
        overtakings += rows[i].overtakings;
        overlaps += rows[i].overlaps;
        unfinished += rows[i].unfinished;
        if (failure.empty())
            failure = rows[i].failure;
    }
    const double per_second = median_of(rows, rate);
    const double cpu_us =
        median_of(rows, [](auto& r) { return ratio(r.cpu_seconds * 1e6, double(r.turns)); });
    const double attempts =
        median_of(rows, [](auto& r) { return ratio(double(r.attempts), double(r.turns)); });

    out.print("  %-34s %12.0f %11.3f %11.3f %11.2f %11.4f %6s\n", name.c_str(), per_second,
        median(of_quick), median(of_awaited), cpu_us, attempts, overtakings == 0 ? "yes" : "NO");
    out.part("local")[name] = {{"hand_offs_per_second", per_second},
        {"ratio_to_channel_try_send", median(of_quick)},
        {"ratio_to_channel_async_send", median(of_awaited)}, {"cpu_us", cpu_us},
        {"attempts_per_hand_off", attempts}, {"overtakings", overtakings}, {"overlaps", overlaps},
        {"unfinished", unfinished},
        {"seconds", median_of(rows, [](auto& r) { return r.seconds; })}};
    out.blame(overtakings, "turns were taken before an earlier waiter");
    out.blame(overlaps, "turns began while another coroutine held the lock");
    out.blame(unfinished, "coroutines did not finish: " + failure);
}

} // namespace

void measure_local(servers& nodes, const settings& wanted, report& out)
{
    const auto endpoints = holdfast::test::endpoints(nodes);
    const budget large{wanted.handoff_limit, wanted.handoff_time};
    results quick, awaited, usual, more;
    // Every second time in reverse order, so that no way is always before or behind another one.
    const auto run_all = [&](const settings& given, bool reverse) {
        const std::array<std::function<void()>, 4> ways{
            [&] { quick.push_back(run_channel(given, unlock::try_send)); },
            [&] { awaited.push_back(run_channel(given, unlock::send)); },
            [&] { usual.push_back(run_holdfast(endpoints, given, budget{})); },
            [&] {
                more.push_back(run_holdfast(endpoints, given, large));
            }};
        for (std::size_t i = 0; i < ways.size(); ++i)
            ways[reverse ? ways.size() - 1 - i : i]();
    };
    settings warm_up = wanted;
    warm_up.rounds = 1;
    run_all(warm_up, wanted.reverse);
    for (results* const each : {&quick, &awaited, &usual, &more})
        each->clear();
    for (int i = 0; i < wanted.repetitions; ++i)
        run_all(wanted, (i % 2 != 0) != wanted.reverse);

    out.print(
        "\nlocal: %zu coroutines in one thread, %zu round(s), hold %lld us; %zu nodes; medians "
        "of %d\n",
        wanted.waiters, wanted.rounds, static_cast<long long>(wanted.hold.count()), nodes.size(),
        wanted.repetitions);
    out.print("  %-34s %12s %11s %11s %11s %11s %6s\n", "", "transfers/s", "/ try_send",
        "/ async_send", "CPU us each", "attempts", "FIFO");
    add_row("channel, try_send", quick, quick, awaited, out);
    add_row("channel, async_send", awaited, quick, awaited, out);
    add_row("holdfast", usual, quick, awaited, out);
    add_row("holdfast, larger hand-off budget", more, quick, awaited, out);
    auto& part = out.part("local");
    part["coroutines"] = wanted.waiters;
    part["rounds"] = wanted.rounds;
    part["hold_us"] = wanted.hold.count();
    part["larger_handoff_limit"] = wanted.handoff_limit;
    part["larger_handoff_time_ms"] = wanted.handoff_time.count();
}

void measure_memory(servers& nodes, const settings& wanted, report& out)
{
    const auto urls = holdfast::test::urls(nodes);
    std::map<std::string, parked_bytes> bytes;
    for (const char* what : parked)
        bytes[what] = measure_parked(urls, what, wanted.waiters);

    auto& part = out.part("memory");
    const auto row = [&](const std::string& name, const parked_bytes& each) {
        out.print("  %-58s %10.0f %10.0f\n", name.c_str(), each.allocated, each.resident);
        part[name] = {{"allocated", each.allocated}, {"resident", each.resident}};
    };
    const auto without = [&](const char* less) {
        const parked_bytes &a = bytes["lease"], &b = bytes[less];
        return parked_bytes{a.allocated - b.allocated, a.resident - b.resident};
    };
    out.print("\nmemory: bytes for each of %zu, each kind in its own process\n", wanted.waiters);
    out.print("  %-58s %10s %10s\n", "", "allocated", "resident");
    row("coroutine that waits in acquire", bytes["lease"]);
    row("coroutine that waits for a channel", bytes["channel"]);
    row("coroutine that waits for a timer", bytes["timer"]);
    row("added by the library, compared with a channel", without("channel"));
    row("added by the library, compared with a timer", without("timer"));
    row("lock, of one resource each", bytes["locks"]);
    row("the same, acquired and released once", bytes["used"]);
    row("copy of a lock", bytes["copies"]);
    out.print("  sizeof(holdfast::lock) is %zu\n", sizeof(holdfast::lock));
    part["count"] = wanted.waiters;
    part["size_of_lock"] = sizeof(holdfast::lock);
}

} // namespace contention
