#pragma once

#include "verification/stores/result.hpp"

#include <cstdint>

namespace holdfast::sql_simulation {

struct world_settings {
    double told = 0.8;        // so many of the processes are told by the database
    bool passes_over = false; // as MariaDB does it: no statement waits for rows
    bool forgets = false;     // it fails over to standbys that are behind: known to break locks
};

// Runs one world, which the seed determines, and judges it.
store_simulation::result simulate(std::uint64_t seed, const world_settings& settings);

} // namespace holdfast::sql_simulation
