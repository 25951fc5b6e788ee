#include "core/lingering_leases.hpp"

#include <algorithm>
#include <chrono>

namespace holdfast::core {

namespace {

time_point over_at(const claim_slot& lease) noexcept
{
    return later(lease.since, std::chrono::milliseconds(lease.terms.linger_ms));
}

time_point next_wake(const claim_slot& lease) noexcept
{
    return std::min(lease.keeper.wake_at(), over_at(lease));
}

} // namespace

// The keeper of a lease in use does the rest. A wait needs the guard time before the end of the
// lease.
void lingering_leases::begin(slot_id lease, duration patience, time_point now)
{
    claim_slot& s = slots_[lease];
    s.now = claim_slot::stage::lingering;
    s.since = now;
    lease_params kept = s.terms;
    kept.max_hold = std::chrono::milliseconds::max();
    s.keeper = lease_keeper(kept, s.keeper.granted(), now, patience);
    ++count_;
    wakes_.set(slot_index(lease), next_wake(s));
}

lingering_leases::due lingering_leases::service(slot_id lease, time_point now)
{
    using action = lease_keeper::action;
    due found;
    claim_slot& s = slots_[lease];
    found.over = over_at(s) <= now;
    if (found.over)
        return found;
    for (action next = s.keeper.due(now); next != action::none; next = s.keeper.due(now)) {
        if (next != action::renew) {
            found.over = true;
            return found;
        }
        s.keeper.renewal_sent(now);
        found.renew = true;
    }
    wakes_.set(slot_index(lease), next_wake(s));
    return found;
}

bool lingering_leases::confirm(slot_id lease, const validity& to, time_point now)
{
    if (!lingers(slots_, lease))
        return false;
    claim_slot& s = slots_[lease];
    const bool renewed = s.keeper.changed(to, now);
    wakes_.set(slot_index(lease), next_wake(s));
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
