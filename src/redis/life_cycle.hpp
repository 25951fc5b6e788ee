#pragma once

#include "core/backend.hpp"
#include "core/ring.hpp"
#include "redis/claim_ends.hpp"
#include "redis/collaborators.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace holdfast::redis {

// The life cycle of claims: an attempt, perhaps a lease, then an end. With claim_ends, this is the
// only writer of a claim's stage. It calls collaborators and acts on their results.
class life_cycle {
public:
    // `events`: the events for the locker.
    life_cycle(
        collaborators& parts, claim_ends& ends, core::ring<core::backend_event>& events) noexcept
        : parts_(parts),
          ends_(ends),
          claims_(parts.claims),
          events_(events)
    {}

    // These implement the seam: see core::backend_core.
    core::claim_id begin(std::uint64_t tag, std::string_view resource,
        const core::owner_token& token, const core::claim_params& params, core::time_point now);
    errc pending_error(core::claim_id id) const noexcept;

    // A lease that was granted elsewhere goes on here: all nodes have its key since `asked`.
    // Precondition: plain mode.
    core::claim_id adopt(std::uint64_t tag, std::string_view resource,
        const core::owner_token& token, const core::claim_params& params, core::time_point asked);
    // A held claim goes on elsewhere. Nothing is sent.
    void disown(core::claim_id id);

    // Reports the validity of a held claim, if it has changed.
    void report(core::claim_id id, core::time_point now);
    // The claim goes on if what a collaborator has recorded decides its stage. It may be gone.
    void settle(core::claim_id id, core::time_point now);
    // The queue has decided on a claim.
    void act(const fair_queue::outcome& o, core::time_point now);

    // A node has voted, or never will: the answer to `acquire` or `confirm`.
    void on_key_answer(
        claim& c, std::size_t node, const request& r, const key_answer& a, core::time_point now);
    // An answer about ballots was recorded. The claim may be gone.
    void on_ballot(core::claim_id id, core::time_point now);
    // A node has answered a renewal, and that counts.
    void on_renewed(core::claim_id id, core::time_point now);
    // A node says that it has handed its key off to the claim.
    void on_turn(core::claim_id id, std::size_t node, core::time_point now);
    // A node says that it has given the claim the lease of another client.
    void on_baton(core::claim_id id, std::size_t node, const baton& given, core::time_point now);
    // A node tells that a person has taken away the lock of that token. The key there
    // counts no more for a lease; an attempt is refused, and what is left of its keys is deleted.
    void on_taken_away(std::string_view token, std::size_t node, core::time_point now);
    // A request of the claim was sent late: the ttl of what it stores on a node counts from then
    // on, and the timeout too, unless it only repeats or follows an earlier request.
    void on_sent_late(std::size_t node, const request& r, core::time_point now);
    void on_ready(std::size_t node, core::time_point now);
    void on_down(std::size_t node, core::time_point now);

    core::time_point wake_at() const noexcept
    {
        return std::min(claims_.due.earliest(), parts_.rounds.wake_at());
    }
    void wake(core::time_point now, core::time_point heard);

private:
    void open_round(core::claim_id id, core::time_point now);
    void emit(const core::backend_event& event) { events_.push(event); }
    void settle_attempt(core::claim_id id, core::time_point now);
    void grant(core::claim_id id, core::time_point valid_until);
    void refuse(core::claim_id id, errc reason, bool transient, core::time_point now);

    collaborators& parts_;
    claim_ends& ends_;
    claim_table& claims_;
    core::ring<core::backend_event>& events_;
};

} // namespace holdfast::redis
