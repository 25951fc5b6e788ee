#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::recipe_simulation {

struct result {
    std::vector<std::string> violations;
    std::size_t holds = 0; // how often users have held something
};

// Each runs one world, which the seed determines, and judges it.
result simulate_semaphore(std::uint64_t seed);
result simulate_read_write_lock(std::uint64_t seed);
result simulate_election(std::uint64_t seed);
result simulate_multi_lock(std::uint64_t seed);
result simulate_batcher(std::uint64_t seed);

struct experiment {
    const char* name;
    result (*run)(std::uint64_t seed);
};
const std::vector<experiment>& experiments();

} // namespace holdfast::recipe_simulation
