// The life of a lease in locker_core, from the grant to the end of its release.
#include "core/locker_core.hpp"

#include <algorithm>

namespace holdfast::core {

bool locker_core::release(slot_id lease, std::uint64_t tag, time_point now)
{
    absorb(now); // the lease may have ended unnoticed
    if (lease_slot* const s = leases_.find(lease); s != nullptr && s->now == state::held)
        service_lease(lease, now);
    due_renewals_.clear();
    lease_slot* const s = leases_.find(lease);
    if (s == nullptr || (s->now != state::held && s->now != state::ended))
        return false;

    if (s->now == state::ended) {
        emit({.kind = effect_kind::released, .outcome = release_outcome::expired, .tag = tag});
        emit({.kind = effect_kind::gone, .lease = lease});
        forget(lease);
    } else {
        ++counts_.released;
        if (hand_over(lease, now)) {
            emit({.kind = effect_kind::released, .outcome = release_outcome::released, .tag = tag});
            forget(lease);
        } else {
            s->release_tag = tag;
            give_back(lease, now);
        }
    }
    absorb(now);
    return true;
}

bool locker_core::drop(slot_id lease, time_point now)
{
    if (leases_.find(lease) == nullptr)
        return false;
    absorb(now);
    if (lease_slot* const s = leases_.find(lease); s != nullptr && s->now == state::held)
        service_lease(lease, now);
    due_renewals_.clear();
    const lease_slot* const s = leases_.find(lease);
    if (s == nullptr || s->now == state::releasing)
        return true;
    if (s->now == state::held) {
        ++counts_.released;
        if (!hand_over(lease, now))
            give_back(lease, now);
    } else {
        emit({.kind = effect_kind::gone, .lease = lease});
    }
    forget(lease);
    absorb(now);
    return true;
}

errc locker_core::extend(slot_id lease, time_point now)
{
    if (leases_.find(lease) != nullptr)
        service_lease(lease, now);
    due_renewals_.clear(); // the extension below is a renewal
    if (const errc reason = must_stop(lease); reason != errc{})
        return reason;

    lease_slot& s = leases_[lease];
    if (s.extension_ends != never)
        return errc{}; // shares the extension under way
    s.extension_sent = now;
    s.extension_ends = now + backend_.patience(s.terms.ttl);
    s.keeper.renewal_sent(now);
    const claim_id claim = s.claim;
    backend_.renew({&claim, 1}, true, now);
    arm(lease);
    absorb(now);
    return errc{};
}

errc locker_core::must_stop(slot_id lease) noexcept
{
    const lease_slot* const s = leases_.find(lease);
    if (s == nullptr || s->now == state::releasing || s->now == state::asking)
        return errc::not_held;
    return s->keeper.where() == lease_keeper::phase::kept ? errc{} : errc::lease_lost;
}

bool locker_core::alive(slot_id lease) noexcept
{
    const lease_slot* const s = leases_.find(lease);
    return s != nullptr && (s->now == state::held || s->now == state::ended);
}

bool locker_core::held(slot_id lease, time_point now) noexcept
{
    const lease_slot* const s = leases_.find(lease);
    return s != nullptr && s->now == state::held && s->keeper.held(now);
}

time_point locker_core::valid_until(slot_id lease) noexcept
{
    const lease_slot* const s = leases_.find(lease);
    const bool over =
        s == nullptr || s->now != state::held || s->keeper.where() == lease_keeper::phase::ended;
    return over ? long_ago : s->keeper.ends_at();
}

void locker_core::on_validity(const backend_event& event, time_point now)
{
    lease_slot* const s = leases_.find(event.tag);
    if (s == nullptr || s->now != state::held)
        return;
    if (s->keeper.changed(event.valid, now))
        ++counts_.renewals;
    if (s->extension_ends != never && s->keeper.covers(s->extension_sent)) {
        s->extension_ends = never;
        emit({.kind = effect_kind::extended, .lease = event.tag});
    }
    arm(event.tag);
}

void locker_core::on_released(const backend_event& event)
{
    const lease_slot* const s = leases_.find(event.tag);
    if (s == nullptr || s->now != state::releasing)
        return; // dropped or lost: no caller waits for the outcome
    emit({.kind = effect_kind::released, .outcome = event.outcome, .tag = s->release_tag});
    forget(event.tag);
}

// Gives a held lease back to the backend. Renewal stops first, so none can follow the release.
void locker_core::give_back(slot_id lease, time_point now)
{
    const lease_slot& s = leases_[lease];
    const wait_queue& q = queues_.at(s.queue);
    stop_keeping(lease);
    emit({.kind = effect_kind::gone, .lease = lease});
    if (q.first != 0 && turns_are_over(q, now))
        backend_.leave_open(s.claim);
    backend_.release(s.claim, now);
    end_turn(s.queue, now);
}

// Ends a lease locally. The caller tells the backend.
void locker_core::stop_keeping(slot_id lease)
{
    lease_slot& s = leases_[lease];
    s.now = state::releasing;
    s.keeper.end();
    s.extension_ends = never;
    lease_wakes_.erase(slot_index(lease));
    --held_;
    --active_;
}

void locker_core::lose(slot_id lease, time_point now)
{
    lease_slot& s = leases_[lease];
    if (s.keeper.where() == lease_keeper::phase::kept)
        emit({.kind = effect_kind::must_stop, .lease = lease});
    stop_keeping(lease);
    s.now = state::ended;
    ++counts_.lost;
    queues_.at(s.queue).closed_since = now; // another client may hold it
    backend_.release(s.claim, now);         // deletes the keys that may be left
    end_turn(s.queue, now);
}

// Performs the actions that the keeper of a lease says are due.
void locker_core::service_lease(slot_id lease, time_point now)
{
    lease_slot& s = leases_[lease];
    if (s.now != state::held)
        return;
    if (s.extension_ends <= now) {
        s.extension_ends = never;
        emit({.kind = effect_kind::extended, .reason = errc::unreachable, .lease = lease});
    }
    for (;;) {
        const auto before = s.keeper.where();
        switch (s.keeper.due(now)) {
        case lease_keeper::action::none:
            return arm(lease);
        case lease_keeper::action::renew:
            s.keeper.renewal_sent(now);
            due_renewals_.push_back(s.claim);
            break;
        case lease_keeper::action::stop_work:
            emit({.kind = effect_kind::must_stop, .lease = lease});
            break;
        case lease_keeper::action::end:
            if (before == lease_keeper::phase::kept)
                emit({.kind = effect_kind::must_stop, .lease = lease});
            return lose(lease, now);
        }
    }
}

void locker_core::arm(slot_id lease)
{
    const lease_slot& s = leases_[lease];
    lease_wakes_.set(slot_index(lease), std::min(s.keeper.wake_at(), s.extension_ends));
}

void locker_core::forget(slot_id lease)
{
    lease_wakes_.erase(slot_index(lease));
    leases_.give_back(lease);
}

} // namespace holdfast::core
