#include "parts.hpp"
#include "processes.hpp"
#include "statistics.hpp"

#include <algorithm>

namespace contention {
namespace {

namespace json = boost::json;
using results = std::vector<contest_result>;

double hold_rate(const contest_result& r)
{
    return ratio(static_cast<double>(r.order.holds), r.order.seconds);
}

double change_rate(const contest_result& r)
{
    return ratio(static_cast<double>(r.order.changes), r.order.seconds);
}

// Per change of owner; with one process, per hold.
double of_each(double amount, const contest_result& r)
{
    const auto number = r.processes == 1 ? r.order.holds : r.order.all_changes;
    return ratio(amount, static_cast<double>(number));
}

double sent(const contest_result& r)
{
    return of_each(static_cast<double>(r.sent), r);
}

double executed(const contest_result& r)
{
    return of_each(static_cast<double>(r.all_executed()), r);
}

double cpu_us(const contest_result& r)
{
    return of_each(r.cpu_seconds * 1e6, r);
}

template <class Figure>
double largest(const results& rows, Figure figure)
{
    double most = 0;
    for (const auto& row : rows)
        most = std::max(most, figure(row));
    return most;
}

// The calls of each command per change of owner, over all repetitions.
json::object calls_of_each(const results& rows)
{
    std::map<std::string, double> sums;
    for (const auto& row : rows)
        for (const auto& [name, number] : row.executed)
            sums[name] += of_each(static_cast<double>(number), row);
    json::object calls;
    for (const auto& [name, sum] : sums)
        calls[name] = sum / static_cast<double>(rows.size());
    return calls;
}

json::object figures(const results& rows)
{
    const auto of = [&](auto figure) {
        return median_of(rows, figure);
    };
    return {{"holds_per_second", of(hold_rate)}, {"changes_per_second", of(change_rate)},
        {"gap_ms_median", of([](auto& r) { return r.order.median_gap_ms; })},
        {"gap_ms_p99", of([](auto& r) { return r.order.p99_gap_ms; })},
        {"gap_ms_max", largest(rows, [](auto& r) { return r.order.max_gap_ms; })},
        {"smallest_share", of([](auto& r) { return r.order.smallest_share; })},
        {"largest_share", of([](auto& r) { return r.order.largest_share; })},
        {"commands_sent_each", of(sent)}, {"commands_executed_each", of(executed)},
        {"cpu_us_each", of(cpu_us)}, {"calls_each", calls_of_each(rows)}};
}

double number(const json::object& row, const char* name)
{
    return row.at(name).as_double();
}

void print_head(report& out, const char* compared)
{
    out.print("  %9s %9s %9s %7s %8s %8s %8s %6s %6s %7s %9s %8s\n", "processes", "changes/s",
        "holds/s", compared, "gap ms", "p99", "max", "least", "most", "sent", "executed", "CPU us");
}

void print_row(std::size_t processes, const json::object& row, const char* compared, report& out)
{
    out.print("  %9zu %9.0f %9.0f %7.2f %8.3f %8.3f %8.1f %6.2f %6.2f %7.1f %9.1f %8.0f\n",
        processes, number(row, "changes_per_second"), number(row, "holds_per_second"),
        number(row, compared), number(row, "gap_ms_median"), number(row, "gap_ms_p99"),
        number(row, "gap_ms_max"), number(row, "smallest_share"), number(row, "largest_share"),
        number(row, "commands_sent_each"), number(row, "commands_executed_each"),
        number(row, "cpu_us_each"));
}

constexpr char alone_legend[] =
    R"(  / alone: ratio of changes of owner to the holds of one process that has a resource for
  itself, measured before and after each run: %.0f holds/s. In the row of one process both are
  holds, and the distance from 1 is noise.
)";

constexpr const char* legend =
    R"(  least, most: holds of a process, where 1 is an equal share. Per change of owner (with one
  process: per hold): sent = requests that the clients sent to all nodes; executed = calls in
  INFO commandstats of all nodes, those inside scripts included; CPU of the clients.
)";

void blame(const results& rows, report& out)
{
    std::size_t overlaps = 0, overtakings = 0, unfinished = 0;
    for (const auto& row : rows) {
        overlaps += row.order.overlaps;
        overtakings += row.overtakings;
        unfinished += row.unfinished;
    }
    out.blame(overlaps, "holds began before another had ended");
    out.blame(overtakings, "turns were taken before an earlier waiter of the same process");
    out.blame(unfinished, "coroutines did not finish");
}

contender_settings common_settings(servers& nodes, const settings& wanted)
{
    contender_settings given;
    if (wanted.lock)
        given.nodes = holdfast::test::urls(nodes);
    given.think_us = static_cast<std::size_t>(wanted.think.count());
    given.hold_us = static_cast<std::size_t>(wanted.hold.count());
    given.limit_s = static_cast<std::size_t>(wanted.limit.count());
    given.fenced = wanted.fenced;
    return given;
}

} // namespace

void measure_processes(servers& nodes, const settings& wanted, report& out)
{
    contender_settings together = common_settings(nodes, wanted), alone = together;
    together.length_ms = static_cast<std::size_t>(wanted.length.count());
    alone.length_ms = static_cast<std::size_t>(wanted.alone_length.count());
    alone.resource = "contention:alone";
    alone.think_us = 0;

    results alone_rows{contend(nodes, alone, 1)};
    std::vector<results> rows(wanted.processes.size());
    std::vector<std::vector<double>> compared(rows.size());
    for (int repetition = 0; repetition < wanted.repetitions; ++repetition) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const double before = hold_rate(alone_rows.back());
            rows[i].push_back(contend(nodes, together, wanted.processes[i]));
            alone_rows.push_back(contend(nodes, alone, 1));
            const double after = hold_rate(alone_rows.back());
            const auto& one = rows[i].back();
            const double rate = one.processes == 1 ? hold_rate(one) : change_rate(one);
            compared[i].push_back(ratio(rate, (before + after) / 2));
        }
    }

    out.print("\nprocesses: one contender each, think %zu us, hold %zu us, %zu ms; %zu nodes; "
              "%smedians of %d\n",
        together.think_us, together.hold_us, together.length_ms, nodes.size(),
        wanted.fenced ? "with fencing tokens; " : "", wanted.repetitions);
    print_head(out, "/ alone");
    json::array all;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        json::object row = figures(rows[i]);
        row["processes"] = wanted.processes[i];
        row["ratio_to_alone"] = median(compared[i]);
        print_row(wanted.processes[i], row, "ratio_to_alone", out);
        blame(rows[i], out);
        all.push_back(std::move(row));
    }
    out.print(alone_legend, median_of(alone_rows, hold_rate));
    out.print("%s", legend);
    blame(alone_rows, out);
    auto& part = out.part("processes");
    part["contests"] = std::move(all);
    part["alone"] = figures(alone_rows);
    part["think_us"] = together.think_us;
    part["hold_us"] = together.hold_us;
    part["fenced"] = together.fenced;
}

void measure_crowd(servers& nodes, const settings& wanted, report& out)
{
    contender_settings given = common_settings(nodes, wanted);
    given.coroutines = wanted.coroutines;
    given.rounds = wanted.rounds;
    const results rows{contend(nodes, given, wanted.crowd_processes)};
    const auto& order = rows.front().order;

    json::object row = figures(rows);
    row["seconds"] = order.seconds;
    row["turns_in_a_row"] =
        ratio(static_cast<double>(order.holds), static_cast<double>(order.changes + 1));
    row["coroutines_each"] = given.coroutines;
    row["rounds"] = given.rounds;
    out.print(
        "\ncrowd: %zu coroutines in each process, %zu turn(s) each, think %zu us, hold %zu us; "
        "%zu nodes\n",
        given.coroutines, given.rounds, given.think_us, given.hold_us, nodes.size());
    print_head(out, "in row");
    print_row(wanted.crowd_processes, row, "turns_in_a_row", out);
    out.print("  in row: holds of one process per change of owner; all turns took %.2f s\n",
        order.seconds);
    blame(rows, out);
    const std::size_t expected = wanted.crowd_processes * given.coroutines * given.rounds;
    if (rows.front().unfinished == 0)
        out.blame(expected - order.holds, "turns are missing");
    out.part("crowd") = std::move(row);
}

} // namespace contention
