// Runs simulated worlds in which processes keep locks in ZooKeeper, by their seeds, and judges
// them. run_program() says which options there are besides, and what is printed.

#include "verification/stores/program.hpp"
#include "verification/stores/zookeeper/zookeeper_world.hpp"

int main(int argc, char** argv)
{
    bool aged = false;
    boost::program_options::options_description more;
    more.add_options()("aged", boost::program_options::bool_switch(&aged),
        "the counters of some queues reach their end");
    return holdfast::store_simulation::run_program(
        argc, argv, "simulate_zookeeper",
        [&aged](
            std::uint64_t seed) { return holdfast::zookeeper_simulation::simulate(seed, aged); },
        more);
}
