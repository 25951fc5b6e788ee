#include "verification/recipes/experiments.hpp"

namespace holdfast::recipe_simulation {

const std::vector<experiment>& experiments()
{
    static const std::vector<experiment> all{
        {"semaphore", simulate_semaphore},
        {"read_write_lock", simulate_read_write_lock},
        {"election", simulate_election},
        {"multi_lock", simulate_multi_lock},
        {"batcher", simulate_batcher},
    };
    return all;
}

} // namespace holdfast::recipe_simulation
