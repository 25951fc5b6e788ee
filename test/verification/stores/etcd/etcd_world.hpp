#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::etcd_simulation {

struct result {
    std::vector<std::string> violations;
    std::size_t holds = 0;
};

// Runs one world, which the seed determines, and judges it.
result simulate(std::uint64_t seed);

} // namespace holdfast::etcd_simulation
