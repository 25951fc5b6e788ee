#pragma once

#include "verification/stores/result.hpp"

#include <cstdint>

namespace holdfast::postgresql_simulation {

// Runs one world, which the seed determines, and judges it. `forgets`: the database fails over to
// standbys that are behind, which is known to break locks.
store_simulation::result simulate(std::uint64_t seed, bool forgets);

} // namespace holdfast::postgresql_simulation
