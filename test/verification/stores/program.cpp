#include "verification/stores/program.hpp"

#include <cstddef>
#include <exception>
#include <iostream>

namespace holdfast::store_simulation {

namespace po = boost::program_options;

int run_program(int argc, char** argv, const std::string& name,
    const std::function<result(std::uint64_t seed)>& simulate, const po::options_description& more)
try {
    std::uint64_t first = 1, count = 1000, violations = 0;
    bool until_caught = false;
    po::options_description all("options");
    all.add_options()("help", "prints this")("first", po::value(&first), "seed")(
        "count", po::value(&count), "how many seeds")(
        "until-caught", po::bool_switch(&until_caught), "stops at the first violation");
    for (const auto& each : more.options())
        all.add(each);
    po::variables_map given;
    po::store(po::parse_command_line(argc, argv, all), given);
    po::notify(given);
    if (given.count("help") != 0) {
        std::cout << all;
        return 0;
    }
    std::size_t holds = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        const result r = simulate(seed);
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
    std::cerr << name << ": " << e.what() << '\n';
    return 2;
}

} // namespace holdfast::store_simulation
