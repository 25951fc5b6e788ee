#pragma once

#include "core/backend.hpp"
#include "core/ring.hpp"
#include "redis/acquisition.hpp"
#include "redis/claim/claim_table.hpp"
#include "redis/cleanup.hpp"
#include "redis/dialect/dialect.hpp"
#include "redis/pool/node_pool.hpp"
#include "redis/queue/fair_queue.hpp"
#include "redis/queue/resource_hints.hpp"
#include "redis/queue/waiter_probe.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace holdfast::redis {

// The life cycle of claims: an attempt, perhaps a lease, then a clean-up. This is the only writer
// of a claim's stage. It calls collaborators and acts on their results; no collaborator calls
// another.
class life_cycle {
public:
    // `events`: the events for the locker.
    life_cycle(node_pool& nodes, dialect& d, core::jitter& jitter,
        core::ring<core::backend_event>& events) noexcept;

    claim_table& claims() noexcept { return claims_; }

    // These implement the seam: see core::backend_core.
    core::claim_id begin(std::uint64_t tag, std::string_view resource,
        const core::owner_token& token, const core::claim_params& params, core::time_point now);
    void abandon(core::claim_id id, core::time_point now);
    errc pending_error(core::claim_id id) const noexcept;
    bool can_transfer(core::claim_id id) const noexcept
    {
        const claim* const c = claims_.find(id);
        return c == nullptr || c->round.can_transfer();
    }
    void release(core::claim_id id, core::time_point now);
    void probe_waiters(core::claim_id id, core::time_point now) { probe_.ask(id, now); }
    bool probing_waiters(core::claim_id id) const noexcept { return probe_.is_open(id); }
    std::size_t cleaning_up() const noexcept { return cleanup_.under_way(); }
    // Reports the validity of a held claim, if it has changed.
    void report(core::claim_id id, core::time_point now);

    // The answers of nodes to requests of claims: to `acquire` and `confirm`; to `write_back`; to
    // `remove` and `hand_off`; to the probe for other waiters (nothing, if the node is gone); to
    // requests of the queue.
    void on_ballot(std::size_t node, const request& r, reply answer, core::time_point now);
    void on_written_back(std::size_t node, const request& r, reply answer, core::time_point now);
    void on_deleted(std::size_t node, const request& r, reply answer, core::time_point now)
    {
        cleanup_.on_reply(node, r, answer, now);
        settle(r.reference, now);
    }
    void on_probed(std::size_t node, core::claim_id id, reply answer);
    void on_queue_reply(std::size_t node, const request& r, reply answer, core::time_point now)
    {
        act(queue_.on_reply(node, r, answer, now), now);
    }
    bool say_again(std::size_t node, const request& r, core::time_point now);
    void on_orphaned(std::size_t node, const request& r, core::time_point now);
    void on_push(std::size_t node, reply push, core::time_point now)
    {
        if (const auto id = queue_.on_push(node, push, now))
            on_turn(*id, node, now);
    }
    // A request of the claim was sent late: the ttl of what it stores on a node counts from then
    // on, and the timeout too, unless the script of the request is only said again.
    void on_sent_late(core::claim_id id, bool again, core::time_point now);
    void on_renewal_sent_late(core::claim_id id, core::time_point now)
    {
        if (const claim* const c = claims_.find(id))
            claims_.leave_longer(id, c->params.ttl, now);
    }
    void on_ready(std::size_t node, core::time_point now);
    void on_down(std::size_t node, core::time_point now);
    // A node has answered a repair, or will not.
    void on_repaired(core::claim_id id);

    core::time_point wake_at() const noexcept
    {
        return std::min(claims_.due.earliest(), acquisition_.wake_at());
    }
    void wake(core::time_point now, core::time_point heard);

private:
    void open_round(core::claim_id id, core::time_point now);
    void emit(const core::backend_event& event) { events_.push(event); }
    void count_vote(
        claim& c, std::size_t node, const request& r, const ballot& b, core::time_point now);
    void on_turn(core::claim_id id, std::size_t node, core::time_point now);
    void settle(core::claim_id id, core::time_point now); // by its stage
    void settle_attempt(core::claim_id id, core::time_point now);
    void settle_release(core::claim_id id, bool out_of_time, core::time_point now);
    void grant(core::claim_id id, core::time_point valid_until);
    void refuse(core::claim_id id, errc reason, bool transient, core::time_point now);
    void act(const fair_queue::outcome& o, core::time_point now);
    void clean(core::claim_id id, core::time_point now);
    void forget(core::claim_id id);

    node_pool& nodes_;
    dialect& dialect_;
    claim_table claims_;
    resource_hints hints_;
    acquisition acquisition_;
    fair_queue queue_;
    cleanup cleanup_;
    waiter_probe probe_;
    core::ring<core::backend_event>& events_;
};

} // namespace holdfast::redis
