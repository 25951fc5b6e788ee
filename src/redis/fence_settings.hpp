#pragma once

#include "core/time.hpp"

namespace holdfast::redis {

// Of fenced mode: from `fencing_options`.
struct fence_settings {
    core::duration quarantine{};       // of a node that may have forgotten something
    core::duration ahead{};            // of its own clock, how far a node lets a token be
    core::duration counter_lifetime{}; // since it was last used; 0: for ever
    bool first_deployment = false;     // a node without a record is new
    bool trusted_persistence = false;  // a node with a record forgets nothing

    // No node stores a token that is further ahead of its own clock. What it has stored is behind
    // the clock and a quarantine then, where it begins when it has lost its counters; and still is
    // if the clock was set back in between, by less than as much again.
    core::duration furthest() const noexcept { return quarantine / 2; }
};

} // namespace holdfast::redis
