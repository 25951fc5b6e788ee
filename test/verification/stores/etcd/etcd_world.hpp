#pragma once

#include "verification/stores/result.hpp"

#include <cstdint>

namespace holdfast::etcd_simulation {

// Runs one world, which the seed determines, and judges it.
store_simulation::result simulate(std::uint64_t seed);

} // namespace holdfast::etcd_simulation
