#pragma once

#include "verification/stores/result.hpp"

#include <cstdint>

namespace holdfast::zookeeper_simulation {

// Runs one world, which the seed determines, and judges it.
store_simulation::result simulate(std::uint64_t seed);

} // namespace holdfast::zookeeper_simulation
