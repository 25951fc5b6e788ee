// Runs simulated worlds in which processes use recipes, by their seeds, and judges them:
//
//     simulate_recipes [--recipe <name>] [--first <seed>] [--count <n>] [--until-caught]
//
// Prints a line for each recipe; with --until-caught "<seed>\t<violation>" and a second column that
// is empty if there is none. The exit status is 1 if there is a violation.

#include "verification/recipes/experiments.hpp"

#include <boost/program_options.hpp>

#include <cstdint>
#include <exception>
#include <iostream>
#include <string>

namespace sim = holdfast::recipe_simulation;
namespace po = boost::program_options;

namespace {

struct wishes {
    std::string recipe;
    std::uint64_t first = 1, count = 1000;
    bool until_caught = false;
};

bool run(const sim::experiment& what, const wishes& w)
{
    std::uint64_t violations = 0;
    std::size_t holds = 0;
    for (std::uint64_t seed = w.first; seed < w.first + w.count; ++seed) {
        const sim::result r = what.run(seed);
        holds += r.holds;
        if (r.violations.empty())
            continue;
        ++violations;
        if (w.until_caught) {
            std::cout << "seed " << seed << '\t' << r.violations.front() << '\n';
            return false;
        }
        std::cout << what.name << ": seed " << seed << ": " << r.violations.front() << '\n';
    }
    if (!w.until_caught)
        std::cout << what.name << ": " << w.count << " worlds, " << holds << " holds, "
                  << violations << " with violations\n";
    return violations == 0;
}

} // namespace

int main(int argc, char** argv)
try {
    wishes w;
    po::options_description all("options");
    all.add_options()("help", "prints this")("recipe", po::value(&w.recipe), "only this one")(
        "first", po::value(&w.first), "seed")("count", po::value(&w.count), "how many seeds")(
        "until-caught", po::bool_switch(&w.until_caught), "stops at the first violation");
    po::variables_map given;
    po::store(po::parse_command_line(argc, argv, all), given);
    po::notify(given);
    if (given.count("help") != 0) {
        std::cout << all;
        return 0;
    }
    bool good = true, known = false;
    for (const sim::experiment& each : sim::experiments()) {
        if (!w.recipe.empty() && w.recipe != each.name)
            continue;
        known = true;
        good = run(each, w) && good;
    }
    if (!known) {
        std::cerr << "simulate_recipes: no recipe " << w.recipe << '\n';
        return 2;
    }
    return good ? 0 : 1;
} catch (const std::exception& e) {
    std::cerr << "simulate_recipes: " << e.what() << '\n';
    return 2;
}
