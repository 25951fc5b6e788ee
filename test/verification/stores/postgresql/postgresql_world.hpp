#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::postgresql_simulation {

struct result {
    std::vector<std::string> violations;
    std::size_t holds = 0;
};

// Runs one world, which the seed determines, and judges it. `forgets`: the database fails over to
// standbys that are behind, which is known to break locks.
result simulate(std::uint64_t seed, bool forgets);

} // namespace holdfast::postgresql_simulation
