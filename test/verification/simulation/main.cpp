// Runs simulated worlds by their seeds and judges what happens in them.

#include "verification/simulation/historic_locks.hpp"
#include "verification/simulation/report.hpp"
#include "verification/simulation/simulation.hpp"

#include <boost/program_options.hpp>

#include <atomic>
#include <cstdint>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace sim = holdfast::simulation;
namespace po = boost::program_options;

namespace {

struct wishes {
    std::string lock, program;
    std::uint64_t first = 1, count = 1000;
    unsigned jobs = 1;
    bool until_caught = false;
};

// Runs the same seeds for any number of threads. With `until_caught`, stops at the first seed with
// a violation.
sim::totals run_all(const sim::experiment& what, const wishes& w)
{
    sim::totals all;
    std::mutex mutex;
    std::atomic<std::uint64_t> next{w.first};
    std::atomic<std::uint64_t> end{w.first + w.count};
    const auto work = [&] {
        for (std::uint64_t seed = next++; seed < end; seed = next++) {
            const sim::result r = sim::simulate(what, seed);
            const std::lock_guard lock(mutex);
            all.add(seed, r);
            if (!r.violations.empty() && w.until_caught && seed < end)
                end = seed; // other threads may still find an earlier seed
        }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < w.jobs; ++i)
        threads.emplace_back(work);
    for (std::thread& t : threads)
        t.join();
    return all;
}

int show_one(const sim::experiment& what, std::uint64_t seed)
{
    const sim::result r =
        sim::simulate(what, seed, [](std::chrono::nanoseconds when, const std::string& line) {
            std::cout << sim::in_ms(when) << "  " << line << '\n';
        });
    sim::print(std::cout, seed, r);
    return r.violations.empty() ? 0 : 1;
}

} // namespace

int main(int argc, char** argv)
try {
    wishes w;
    w.program = argv[0];
    po::options_description options(
        "Runs the library's cores in simulated worlds: virtual time, modelled nodes and network,\n"
        "random faults. The same seed gives the same world.\n\nOptions");
    // clang-format off
    options.add_options()
        ("help", "show this text")
        ("first", po::value(&w.first)->default_value(1), "the first seed")
        ("count", po::value(&w.count)->default_value(1000), "how many seeds")
        ("jobs", po::value(&w.jobs)->default_value(1), "how many threads")
        ("seed", po::value<std::uint64_t>(), "run one seed only and print a trace of its events")
        ("lock", po::value(&w.lock)->default_value("holdfast"),
            "which lock to simulate, see --locks")
        ("locks", "list the locks")
        ("contended", "only worlds in which many users want one resource")
        ("lingering", "only worlds in which leases linger: `linger`")
        ("resting", "only worlds in which resources stay locked after a release: `min_hold`")
        ("draining", "processes drain, end and start again at random times")
        ("burst", "only worlds with more attempts at once than can be served; the fewer\n"
            "the attempts, the higher the cost of each")
        ("full", "like --burst, with 100,000 attempts at once, each with the cost of an\n"
            "attempt in a real process")
        ("fenced", "only worlds with fencing tokens")
        ("until-caught", "stop at the first violation; exit status 0 if there was one");
    // clang-format on
    po::variables_map given;
    po::store(po::parse_command_line(argc, argv, options), given);
    po::notify(given);
    if (given.contains("help")) {
        std::cout << options;
        return 0;
    }
    if (given.contains("locks")) {
        for (const sim::known_lock& each : sim::known_locks())
            std::cout << each.name << '\t' << each.what << '\t'
                      << (each.flawed ? "flawed" : "right") << '\n';
        return 0;
    }
    w.until_caught = given.contains("until-caught");
    sim::experiment what = sim::experiment_with(w.lock);
    what.contended = given.contains("contended");
    if (what.contended)
        w.program += " --contended";
    what.lingering = given.contains("lingering");
    if (what.lingering)
        w.program += " --lingering";
    what.resting = given.contains("resting");
    if (what.resting)
        w.program += " --resting";
    what.draining = given.contains("draining");
    if (what.draining)
        w.program += " --draining";
    if (given.contains("fenced")) {
        what.fenced = sim::experiment::fenced_worlds::only;
        w.program += " --fenced";
    }
    if (given.contains("burst") || given.contains("full")) {
        const bool full = given.contains("full");
        what.bursts = full ? sim::burst_size::full : sim::burst_size::scaled;
        w.program += full ? " --full" : " --burst";
    }
    if (given.contains("seed"))
        return show_one(what, given["seed"].as<std::uint64_t>());

    const sim::totals all = run_all(what, w);
    if (w.until_caught) {
        all.print_caught(std::cout);
        return all.caught() ? 0 : 1;
    }
    all.print(std::cout, w.program + (w.lock == "holdfast" ? "" : " --lock " + w.lock));
    return all.caught() ? 1 : 0;
} catch (const std::exception& e) {
    std::cerr << "simulate: " << e.what() << '\n';
    return 2;
}
