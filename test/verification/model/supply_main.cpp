// Explores tokens and clocks: a granted token must be larger than all published ones, even if a
// node has lost its data, its counter has expired, or its clock was set back. Every wrong variant
// must be caught. Prints a table, and the steps of each unexpected violation.

#include "verification/model/supply.hpp"

#include <iomanip>
#include <iostream>
#include <string>

namespace supply = holdfast::model::supply;

int main(int argc, char** argv)
{
    const unsigned last_tick = argc > 1 ? static_cast<unsigned>(std::stoul(argv[1])) : 5;
    int wrong = 0;
    for (const supply::variant& v : supply::variants()) {
        const supply::finding f = supply::explore(v.how, last_tick);
        const bool caught = !f.story.empty();
        std::cout << std::left << std::setw(68) << v.what << std::right << std::setw(9) << f.states
                  << (caught ? "  caught in " + std::to_string(f.story.size()) + " steps"
                             : std::string(f.complete ? "  no violation" : "  not complete"))
                  << '\n';
        if (caught == v.wrong)
            continue;
        ++wrong;
        for (const std::string& line : f.story)
            std::cout << "    " << line << '\n';
    }
    return wrong == 0 ? 0 : 1;
}
