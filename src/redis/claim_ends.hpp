#pragma once

#include "core/backend.hpp"
#include "core/ring.hpp"
#include "redis/collaborators.hpp"

#include <cstddef>

namespace holdfast::redis {

// How claims end: a lease is released, by a baton or by the deletion of its keys, and what is left
// of a claim is deleted. Writes the stages of that: `releasing` and `cleaning`.
class claim_ends {
public:
    // `events`: the events for the locker.
    claim_ends(collaborators& parts, core::ring<core::backend_event>& events) noexcept
        : parts_(parts),
          claims_(parts.claims),
          events_(events)
    {}

    // An attempt is over.
    void abandon(core::claim_id id, core::time_point now);
    // A held lease is released: `released` follows.
    void release(core::claim_id id, core::time_point now);
    // Its requests were sent noticeably later than they were queued: so much longer it may take.
    void limit_release(core::claim_id id, core::time_point now);
    // A claim that is being released or deleted goes on, if what was recorded allows. It may be
    // gone.
    void settle(core::claim_id id, core::time_point now);
    // The time of its stage is over. It may be gone.
    void out_of_time(core::claim_id id, core::time_point now);

    // The answer of a node that was to give the lease of a claim; or no answer will come.
    void on_given(std::size_t node, const request& r, reply answer, core::time_point now);
    void on_gift_lost(core::claim_id id, core::time_point now);

    // The node has handed its key off, or given a lease, to a claim that has no use for it.
    void discard_turn(core::claim_id of, std::size_t node, core::time_point now);
    void discard(core::claim_id of, std::size_t node, const baton& given, core::time_point now);

    // Asks every node that may hold our key to delete it, and remembers the claim until all have
    // done so, or until the key has expired.
    void clean(core::claim_id id, core::time_point now);
    void forget(core::claim_id id);

private:
    void give(core::claim_id id, queue_ticket::passing state, core::time_point now);
    void delete_keys(core::claim_id id, core::time_point now);
    void begin_step(core::claim_id id, core::time_point now);
    void settle_release(core::claim_id id, bool out_of_time, core::time_point now);
    void end_release(core::claim_id id, release_outcome outcome, core::time_point now);

    collaborators& parts_;
    claim_table& claims_;
    core::ring<core::backend_event>& events_;
};

} // namespace holdfast::redis
