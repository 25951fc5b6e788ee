#pragma once

#include "core/slot_map.hpp"
#include "core/timer_queue.hpp"
#include "redis/claim/claim.hpp"

namespace holdfast::redis {

// All claims of a locker, and when the next step of each is due: which step depends on its stage.
// At the stage `cleaning`, the claim is forgotten then.
struct claim_table {
    core::slot_map<claim> all;
    core::timer_queue due;

    claim* find(core::claim_id id) noexcept { return all.find(id); }
    const claim* find(core::claim_id id) const noexcept { return all.find(id); }
    claim& operator[](core::claim_id id) noexcept { return all[id]; }

    void wake_at(core::claim_id id, core::time_point when) { due.set(core::slot_index(id), when); }
    // Something of the claim stays on a node for up to `ttl` from `now`.
    void leave_longer(core::claim_id id, core::duration ttl, core::time_point now)
    {
        claim& c = all[id];
        c.keys.stays(now + ttl);
        if (c.stage == claim_stage::cleaning)
            wake_at(id, c.keys.gone_at());
    }
    void do_not_wake(core::claim_id id) noexcept { due.erase(core::slot_index(id)); }
};

// Calls `visit(id, claim)` for each claim; `visit` may take claims and give them back.
template <class Visit>
void for_each(claim_table& claims, const Visit& visit)
{
    for (std::uint32_t index = 0; index < claims.all.capacity(); ++index) {
        const core::claim_id id = claims.all.id_at(index);
        if (claim* const c = claims.find(id))
            visit(id, *c);
    }
}

} // namespace holdfast::redis
