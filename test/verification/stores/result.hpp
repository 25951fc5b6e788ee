#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::store_simulation {

// What a world has shown.
struct result {
    std::vector<std::string> violations;
    std::size_t holds = 0; // how often a user has held a lease
};

} // namespace holdfast::store_simulation
