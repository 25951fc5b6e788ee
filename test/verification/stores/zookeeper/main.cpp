// Runs simulated worlds in which processes keep locks in ZooKeeper, by their seeds, and judges
// them. run_program() says which options there are besides, and what is printed.

#include "verification/stores/program.hpp"
#include "verification/stores/zookeeper/zookeeper_world.hpp"

int main(int argc, char** argv)
{
    return holdfast::store_simulation::run_program(
        argc, argv, "simulate_zookeeper", holdfast::zookeeper_simulation::simulate);
}
