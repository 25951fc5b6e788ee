#include "core/lingering_leases.hpp"

#include <chrono>

namespace holdfast::core {

// The keeper of a lease in use does the rest. The guard time is not needed before the end of the
// lingering, but a wait needs it before the end of the lease.
void lingering_leases::begin(slot_id lease, duration patience, bool renews, time_point now)
{
    using std::chrono::milliseconds;
    claim_slot& s = slots_[lease];
    s.now = claim_slot::stage::lingering;
    s.since = now;
    lease_params kept = s.terms;
    const auto guard = std::chrono::ceil<milliseconds>(kept.guard);
    kept.guard = guard;
    kept.max_hold = milliseconds(kept.linger_ms) + guard;
    kept.renews = kept.renews && renews;
    s.keeper = lease_keeper(kept, s.keeper.granted(), now, patience);
    ++count_;
    wakes_.set(slot_index(lease), s.keeper.wake_at());
}

lingering_leases::due lingering_leases::service(slot_id lease, time_point now)
{
    using action = lease_keeper::action;
    due found;
    claim_slot& s = slots_[lease];
    for (action next = s.keeper.due(now); next != action::none; next = s.keeper.due(now)) {
        if (next != action::renew) {
            found.over = true;
            return found;
        }
        s.keeper.renewal_sent(now);
        found.renew = true;
    }
    wakes_.set(slot_index(lease), s.keeper.wake_at());
    return found;
}

bool lingering_leases::confirm(slot_id lease, const validity& to, time_point now)
{
    if (!lingers(slots_, lease))
        return false;
    lease_keeper& keeper = slots_[lease].keeper;
    const bool renewed = keeper.changed(to, now);
    wakes_.set(slot_index(lease), keeper.wake_at());
    return renewed;
}

void lingering_leases::end(slot_id lease)
{
    claim_slot& s = slots_[lease];
    s.now = claim_slot::stage::releasing;
    s.keeper.end();
    wakes_.erase(slot_index(lease));
    --count_;
}

} // namespace holdfast::core
