// Runs simulated worlds by their seeds and judges what happens in them.

#include "simulation/historic_locks.hpp"
#include "simulation/report.hpp"
#include "simulation/simulation.hpp"

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

// The same seeds whatever the number of threads; with `until_caught`, the first that is caught.
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
                end = seed; // the threads may still find an earlier one
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
        "faults by chance. The same seed gives the same world.\n\nOptions");
    // clang-format off
    options.add_options()
        ("help", "show this")
        ("first", po::value(&w.first)->default_value(1), "the first seed")
        ("count", po::value(&w.count)->default_value(1000), "how many seeds")
        ("jobs", po::value(&w.jobs)->default_value(1), "how many threads")
        ("seed", po::value<std::uint64_t>(), "one seed only, with a trace of what happens")
        ("lock", po::value(&w.lock)->default_value("holdfast"),
            "whose locks, see --locks")
        ("locks", "list them")
        ("contended", "only worlds in which many want one resource")
        ("burst", "only worlds in which many locks are asked for at once, more than can be\n"
            "served; each attempt costs as much more as there are fewer of them")
        ("full", "as --burst, with 100,000 at once, each of which costs what it does in a\n"
            "real process")
        ("fenced", "only worlds in which the locks give tokens")
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
