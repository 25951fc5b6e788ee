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
};

} // namespace holdfast::redis
