#pragma once

#include "simulation/simulation.hpp"

#include <span>
#include <string_view>

namespace holdfast::simulation {

// The locks that can be put to the proof by name.
struct known_lock {
    std::string_view name, what;
    bool flawed = true;
    subject_maker make = nullptr;
};

// "holdfast" first; then locks as they were built on one Redis node before it was known how, each
// with its flaw, and last the one without.
std::span<const known_lock> known_locks();

// A historic lock gets one node, no renewal, and faults that even a lock without a flaw survives.
// Throws `std::invalid_argument` for an unknown name.
experiment experiment_with(std::string_view name);

} // namespace holdfast::simulation
