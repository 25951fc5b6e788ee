#pragma once

#include "core/time.hpp"

namespace holdfast::redis {

// The settings of fenced mode, from `fencing_options`.
struct fence_settings {
    core::duration quarantine{};      // of a node that may have forgotten something
    core::duration ahead{};           // no client sends a ballot further ahead of the clocks
    bool first_deployment = false;    // a node without a record is new
    bool trusted_persistence = false; // a node with a record forgets nothing

    // A node that has forgotten its ballots accepts those from its clock plus this on. By then each
    // lease has ended that was granted before, whatever its ballot: no ttl is longer than the
    // quarantine, and ballots are at most `ahead` beyond the clock that the client knows, which
    // differs by less than `ahead` from that of the node.
    core::duration pause() const noexcept { return quarantine + 2 * ahead; }
};

} // namespace holdfast::redis
