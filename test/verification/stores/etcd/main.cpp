// Runs simulated worlds in which processes keep locks in etcd, by their seeds, and judges them.
// run_program() says which options there are, and what is printed.

#include "verification/stores/etcd/etcd_world.hpp"
#include "verification/stores/program.hpp"

int main(int argc, char** argv)
{
    return holdfast::store_simulation::run_program(
        argc, argv, "simulate_etcd", holdfast::etcd_simulation::simulate);
}
