// Runs simulated worlds in which processes keep locks in MariaDB or MySQL, by their seeds, and
// judges them. Nobody is told by the database: processes look. run_program() says which options
// there are, and what is printed. One more: --forgets, with fail-overs to replicas that are behind,
// which break locks.

#include "verification/stores/program.hpp"
#include "verification/stores/sql/sql_world.hpp"

namespace po = boost::program_options;

int main(int argc, char** argv)
{
    bool forgets = false;
    po::options_description more;
    more.add_options()("forgets", po::bool_switch(&forgets), "with fail-overs that lose commits");
    return holdfast::store_simulation::run_program(
        argc, argv, "simulate_mysql",
        [&forgets](std::uint64_t seed) {
            return holdfast::sql_simulation::simulate(
                seed, {.told = 0, .passes_over = true, .forgets = forgets});
        },
        more);
}
