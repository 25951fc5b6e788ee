// Runs simulated worlds in which processes keep locks in PostgreSQL, by their seeds, and judges
// them:
//
//     simulate_postgresql [--first <seed>] [--count <n>] [--until-caught] [--forgets]
//
// Prints a line; with --until-caught "<seed>\t<violation>" and a second column that is empty if
// there is none. --forgets: with fail-overs to standbys that are behind, which break locks. The
// exit status is 1 if there is a violation.

#include "verification/stores/postgresql/postgresql_world.hpp"

#include <boost/program_options.hpp>

#include <cstdint>
#include <exception>
#include <iostream>

namespace sim = holdfast::postgresql_simulation;
namespace po = boost::program_options;

int main(int argc, char** argv)
try {
    std::uint64_t first = 1, count = 1000, violations = 0;
    bool until_caught = false, forgets = false;
    po::options_description all("options");
    all.add_options()("help", "prints this")("first", po::value(&first), "seed")(
        "count", po::value(&count), "how many seeds")(
        "until-caught", po::bool_switch(&until_caught), "stops at the first violation")(
        "forgets", po::bool_switch(&forgets), "with fail-overs that lose commits");
    po::variables_map given;
    po::store(po::parse_command_line(argc, argv, all), given);
    po::notify(given);
    if (given.count("help") != 0) {
        std::cout << all;
        return 0;
    }
    std::size_t holds = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        const sim::result r = sim::simulate(seed, forgets);
        holds += r.holds;
        if (r.violations.empty())
            continue;
        ++violations;
        if (until_caught) {
            std::cout << "seed " << seed << '\t' << r.violations.front() << '\n';
            return 1;
        }
        std::cout << "seed " << seed << ": " << r.violations.front() << '\n';
    }
    if (!until_caught)
        std::cout << count << " worlds, " << holds << " holds, " << violations
                  << " with violations\n";
    return violations == 0 ? 0 : 1;
} catch (const std::exception& e) {
    std::cerr << "simulate_postgresql: " << e.what() << '\n';
    return 2;
}
