#include "core/held_leases.hpp"

#include <algorithm>

namespace holdfast::core {

using stage = claim_slot::stage;
using phase = lease_keeper::phase;

void held_leases::begin(slot_id lease, const validity& granted, duration patience, time_point now)
{
    claim_slot& s = slots_[lease];
    s.now = stage::held;
    s.since = now;
    s.keeper = lease_keeper(s.terms, granted, now, patience);
    ++count_;
    arm(lease, s);
}

held_leases::due held_leases::service(slot_id lease, time_point now)
{
    due found;
    claim_slot* const s = slots_.find(lease);
    if (s == nullptr || s->now != stage::held)
        return found;
    if (s->extension_ends <= now) {
        s->extension_ends = never;
        found.extension_failed = true;
    }
    for (;;) {
        const phase before = s->keeper.where();
        switch (s->keeper.due(now)) {
        case lease_keeper::action::none:
            arm(lease, *s);
            return found;
        case lease_keeper::action::renew:
            s->keeper.renewal_sent(now);
            found.renew = true;
            break;
        case lease_keeper::action::stop_work:
            found.must_stop = true;
            break;
        case lease_keeper::action::end:
            found.must_stop = before == phase::kept;
            found.over = true;
            return found;
        }
    }
}

bool held_leases::begin_extension(slot_id lease, duration patience, time_point now)
{
    claim_slot& s = slots_[lease];
    if (s.extension_ends != never)
        return false;
    s.extension_sent = now;
    s.extension_ends = now + patience;
    s.keeper.renewal_sent(now);
    arm(lease, s);
    return true;
}

held_leases::confirmation held_leases::confirm(slot_id lease, const validity& to, time_point now)
{
    confirmation found;
    claim_slot* const s = slots_.find(lease);
    if (s == nullptr || s->now != stage::held)
        return found;
    found.renewed = s->keeper.changed(to, now);
    if (s->extension_ends != never && s->keeper.covers(s->extension_sent)) {
        s->extension_ends = never;
        found.extended = true;
    }
    arm(lease, *s);
    return found;
}

bool held_leases::stop(slot_id lease, time_point now)
{
    claim_slot& s = slots_[lease];
    if (s.now != stage::held)
        return false;
    const bool works = s.keeper.where() == phase::kept;
    s.keeper.stop(now, s.terms.guard);
    arm(lease, s);
    return works;
}

void held_leases::end(slot_id lease, stage next)
{
    claim_slot& s = slots_[lease];
    s.now = next;
    s.keeper.end();
    s.extension_ends = never;
    wakes_.erase(slot_index(lease));
    --count_;
}

void held_leases::forget(slot_id lease)
{
    wakes_.erase(slot_index(lease));
    slots_.give_back(lease);
}

errc held_leases::must_stop(slot_id lease) const noexcept
{
    const claim_slot* const s = slots_.find(lease);
    if (s == nullptr || (s->now != stage::held && s->now != stage::ended))
        return errc::not_held;
    return s->keeper.where() == phase::kept ? errc{} : errc::lease_lost;
}

bool held_leases::alive(slot_id lease) const noexcept
{
    const claim_slot* const s = slots_.find(lease);
    return s != nullptr && (s->now == stage::held || s->now == stage::ended);
}

bool held_leases::is_held(slot_id lease) const noexcept
{
    const claim_slot* const s = slots_.find(lease);
    return s != nullptr && s->now == stage::held;
}

bool held_leases::held(slot_id lease, time_point now) const noexcept
{
    const claim_slot* const s = slots_.find(lease);
    return s != nullptr && s->now == stage::held && s->keeper.held(now);
}

time_point held_leases::valid_until(slot_id lease) const noexcept
{
    const claim_slot* const s = slots_.find(lease);
    const bool over = s == nullptr || s->now != stage::held || s->keeper.where() == phase::ended;
    return over ? long_ago : s->keeper.ends_at();
}

void held_leases::arm(slot_id lease, const claim_slot& s)
{
    wakes_.set(slot_index(lease), std::min(s.keeper.wake_at(), s.extension_ends));
}

} // namespace holdfast::core
