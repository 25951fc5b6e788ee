// Runs simulated worlds in which processes keep locks in ZooKeeper, by their seeds, and judges
// them. run_program() says which options there are besides, and what is printed.

#include "verification/stores/program.hpp"
#include "verification/stores/zookeeper/burst_world.hpp"
#include "verification/stores/zookeeper/zookeeper_world.hpp"

int main(int argc, char** argv)
{
    bool aged = false;
    std::size_t burst = 0;
    boost::program_options::options_description more;
    more.add_options()("aged", boost::program_options::bool_switch(&aged),
        "the counters of some queues reach their end")(
        "burst", boost::program_options::value(&burst), "so many attempts at once, and no faults");
    return holdfast::store_simulation::run_program(
        argc, argv, "simulate_zookeeper",
        [&](std::uint64_t seed) {
            return burst != 0 ? holdfast::zookeeper_simulation::simulate_burst(seed, burst)
                              : holdfast::zookeeper_simulation::simulate(seed, aged);
        },
        more);
}
