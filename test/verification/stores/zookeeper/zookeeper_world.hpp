#pragma once

#include "verification/stores/result.hpp"

#include <cstdint>

namespace holdfast::zookeeper_simulation {

// Runs one world, which the seed determines, and judges it. `aged`: there may be a queue that has
// seen nearly as many nodes as its parent can count.
store_simulation::result simulate(std::uint64_t seed, bool aged);

} // namespace holdfast::zookeeper_simulation
