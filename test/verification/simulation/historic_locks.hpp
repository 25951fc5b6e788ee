#pragma once

#include "verification/simulation/simulation.hpp"

#include <span>
#include <string_view>

namespace holdfast::simulation {

// A lock that can be simulated by name.
struct known_lock {
    std::string_view name, what;
    bool flawed = true;
    subject_maker make = nullptr;
};

// "holdfast" first, then historic locks on one Redis node, each with its flaw, and last the
// historic lock without a flaw.
std::span<const known_lock> known_locks();

// A historic lock gets one node, no renewal, and only faults that a correct single-node lock
// survives.
// Throws `std::invalid_argument` for an unknown name.
experiment experiment_with(std::string_view name);

} // namespace holdfast::simulation
