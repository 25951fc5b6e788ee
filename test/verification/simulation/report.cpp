#include "verification/simulation/report.hpp"

#include <algorithm>
#include <iomanip>
#include <string_view>

namespace holdfast::simulation {

namespace {

constexpr std::size_t most_shown = 20;

void print_count(std::ostream& out, std::uint64_t n, std::string_view what)
{
    out << std::setw(14) << n << "  " << what << '\n';
}

} // namespace

void print(std::ostream& out, std::uint64_t seed, const result& r)
{
    for (const violation& v : r.violations)
        out << "seed " << seed << ": " << name_of(v.of) << " violated at " << in_ms(v.when) << ": "
            << v.text << '\n';
    out << "seed " << seed << ": " << (r.violations.empty() ? "no violation" : "violations")
        << " in " << in_ms(r.simulated) << ", " << r.leases << " leases, " << r.events
        << " events\n";
}

void totals::add(std::uint64_t seed, const result& r)
{
    if (!r.violations.empty())
        violations_.emplace(seed, r.violations.front());
    ++seeds_;
    fenced_ += r.fenced ? 1u : 0u;
    refused_writes_ += r.refused_writes;
    replaced_ += r.replaced;
    leases_ += r.leases;
    events_ += r.events;
    simulated_ += r.simulated;
    for (std::size_t i = 0; i < fault_kinds; ++i)
        faults_[i] += r.faults[i];
    if (r.burst) {
        ++bursts_;
        attempts_ += r.burst->attempts;
        granted_ += r.burst->granted;
        most_times_the_work_ = std::max(most_times_the_work_, r.burst->times_the_work);
    }
    streams_.streams += r.streams.streams;
    streams_.refused += r.streams.refused;
    streams_.resets += r.streams.resets;
    streams_.timed_out += r.streams.timed_out;
    streams_.cut += r.streams.cut;
    streams_.late += r.streams.late;
    streams_.pushes_lost += r.streams.pushes_lost;
    streams_.pushes_repeated += r.streams.pushes_repeated;
}

void totals::print(std::ostream& out, const std::string& program) const
{
    out << std::fixed << std::setprecision(1);
    out << seeds_ << " seeds (" << fenced_ << " fenced), " << simulated_.count() / 3600
        << " simulated hours, " << leases_ << " leases, " << events_ << " events\n\nfaults:\n";
    for (std::size_t i = 0; i < fault_kinds; ++i)
        print_count(out, faults_[i], name_of(static_cast<fault>(i)));
    out << "\nconnections:\n";
    print_count(out, streams_.streams, "opened");
    print_count(out, streams_.refused, "refused");
    print_count(out, streams_.resets, "broken by the other side");
    print_count(out, streams_.timed_out, "given up by the kernel");
    print_count(out, streams_.cut, "cut, with a part of the bytes under way delivered");
    print_count(out, streams_.late, "closed with bytes under way that arrived later");
    print_count(out, streams_.pushes_lost, "notifications were lost");
    print_count(out, streams_.pushes_repeated, "notifications arrived twice");

    if (replaced_ > 0) {
        out << "\nrollouts:\n";
        print_count(out, replaced_, "processes drained, closed and were replaced");
    }
    if (fenced_ > 0) {
        out << "\nregisters:\n";
        print_count(out, refused_writes_, "writes were refused for their tokens");
    }
    if (bursts_ > 0) {
        out << "\nbursts:\n";
        print_count(out, bursts_, "bursts");
        print_count(out, attempts_, "attempts");
        print_count(out, granted_, "were granted");
        out << std::setw(14) << most_times_the_work_
            << "  times the work: the longest burst in which all attempts were granted\n";
    }
    out << '\n' << violations_.size() << " seeds with a violation\n";
    std::size_t shown = 0;
    for (const auto& [seed, v] : violations_) {
        if (++shown > most_shown) {
            out << "  and more\n";
            break;
        }
        out << "  seed " << seed << ": " << name_of(v.of) << " violated at " << in_ms(v.when)
            << ": " << v.text << "\n    again, with a trace: " << program << " --seed " << seed
            << '\n';
    }
}

void totals::print_caught(std::ostream& out) const
{
    if (violations_.empty()) {
        out << "not caught in " << seeds_ << " seeds\n";
        return;
    }
    const auto& [seed, v] = *violations_.begin();
    out << "seed " << seed << '\t' << name_of(v.of) << '\t' << v.text << '\n';
}

} // namespace holdfast::simulation
