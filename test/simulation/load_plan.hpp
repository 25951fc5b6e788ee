#pragma once

#include "simulation/plan.hpp"

namespace holdfast::simulation {

// Lets nodes and processes take some time for what they do, in some worlds.
void add_costs(plan& p, dice& chance);

enum class burst_size : std::uint8_t {
    scaled, // up to some thousand attempts, each of which costs as much more
    full,   // 100,000
};

// A world of a burst: without faults, but for a node that stands still in some.
plan make_burst_plan(dice& chance, burst_size size);

} // namespace holdfast::simulation
