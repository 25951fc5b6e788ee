#pragma once

#include "core/time.hpp"

namespace holdfast::redis {

// The settings of fenced mode, from `fencing_options`.
struct fence_settings {
    core::duration quarantine{};       // of a node that may have forgotten something
    core::duration ahead{};            // how far ahead of its own clock a node lets a token be
    core::duration counter_lifetime{}; // since it was last used; 0: for ever
    bool first_deployment = false;     // a node without a record is new
    bool trusted_persistence = false;  // a node with a record forgets nothing

    // No node stores a token that is further ahead of its own clock than this. A node that has lost
    // its counters begins at its clock plus a quarantine, which is then beyond everything that it
    // has stored. That holds even if the clock was set back in between by less than this.
    core::duration furthest() const noexcept { return quarantine / 2; }
};

} // namespace holdfast::redis
