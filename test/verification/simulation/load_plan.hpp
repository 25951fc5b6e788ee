#pragma once

#include "verification/simulation/plan.hpp"

namespace holdfast::simulation {

// In some worlds, gives nodes and processes costs for their work.
void add_costs(plan& p, dice& chance);

enum class burst_size : std::uint8_t {
    scaled, // up to some thousand attempts, each with a proportionally higher cost
    full,   // 100,000 attempts
};

// A world with a burst. Its only fault, in some worlds, is a frozen node.
plan make_burst_plan(dice& chance, burst_size size);

} // namespace holdfast::simulation
