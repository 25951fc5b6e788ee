#include "core/holders.hpp"

namespace holdfast::core {

using stage = claim_slot::stage;

holders::holders(backend_core& backend, claim_slots& slots, wait_queues& queues, contest& waits,
    report& outcomes) noexcept
    : backend_(backend),
      slots_(slots),
      queues_(queues),
      waits_(waits),
      report_(outcomes),
      leases_(slots),
      lingering_(slots)
{}

void holders::install(
    slot_id lease, const validity& granted, std::optional<std::uint64_t> fence, time_point now)
{
    claim_slot& s = slots_[lease];
    s.told = now;
    leases_.begin(lease, granted, backend_.patience(s.terms.ttl), now);
    report_.waited(now - queues_.first_of(s.queue)->began);
    const std::uint64_t wait = queues_.take_first(s.queue, lease);
    report_.acquired(wait, lease, fence);
    report_.notes().acquired(wait, lease, queues_.at(s.queue).resource, fence, now);
}

bool holders::release(slot_id lease, std::uint64_t tag, time_point now)
{
    service(lease, now);
    if (!leases_.alive(lease))
        return false;

    if (!leases_.is_held(lease)) {
        report_.released(tag, release_outcome::expired);
        report_.gone(lease);
        leases_.forget(lease);
        return true;
    }
    note_release(lease, now);
    if (goes_on(lease, now)) {
        report_.released(tag, release_outcome::released);
    } else {
        slots_[lease].release_tag = tag;
        give_back(lease, now);
    }
    return true;
}

bool holders::drop(slot_id lease, time_point now)
{
    service(lease, now);
    if (!leases_.alive(lease))
        return false;
    if (leases_.is_held(lease)) {
        note_release(lease, now);
        if (goes_on(lease, now))
            return true;
        give_back(lease, now);
    } else {
        report_.gone(lease);
    }
    leases_.forget(lease);
    return true;
}

bool holders::resume(slot_id wait, time_point now)
{
    const core::wait* const w = queues_.find_wait(wait);
    const slot_id lease = w != nullptr ? queues_.at(w->queue).holder : 0;
    if (!lingers(slots_, lease))
        return false;
    if (lingering_.service(lease, now).over || !hand_over(lease, now))
        stop_lingering(lease, now);
    else
        leases_.forget(lease);
    return true;
}

// Does what is due for one lease.
void holders::settle(slot_id lease, time_point now)
{
    if (service(lease, now))
        renew(slots_[lease].claim, false, now);
}

errc holders::extend(slot_id lease, time_point now)
{
    if (const errc reason = leases_.must_stop(lease); reason != errc{})
        return reason;
    const claim_slot& s = slots_[lease];
    if (leases_.begin_extension(lease, backend_.patience(s.terms.ttl), now))
        renew(s.claim, true, now);
    return {};
}

void holders::renew(claim_id claim, bool extends, time_point now)
{
    backend_.renew({&claim, 1}, extends, now);
    ask_again_for_waiters(claim, now);
}

void holders::confirmed(slot_id lease, const validity& to, time_point now)
{
    const auto confirmation = leases_.confirm(lease, to, now);
    if (confirmation.renewed || lingering_.confirm(lease, to, now)) {
        slots_[lease].told = now;
        report_.renewed();
    }
    if (confirmation.extended)
        report_.extended(lease, errc{});
}

void holders::lost(slot_id lease, bool keys_left, time_point now)
{
    if (leases_.is_held(lease)) {
        lose(lease, slots_[lease].keeper.granted().until > now && !keys_left, now);
    } else if (lingers(slots_, lease)) { // there is no work to be told
        queues_.at(slots_[lease].queue).turns.lost(now);
        stop_lingering(lease, now);
    } else if (!keys_left) {
        if (const auto resting = resting_.take_lost(lease, now))
            end_rest(*resting, now);
    }
}

void holders::released(slot_id lease, release_outcome outcome)
{
    // Otherwise it was dropped or lost: no caller waits for the outcome.
    if (const claim_slot* const s = slots_.find(lease); s && s->now == stage::releasing) {
        report_.released(s->release_tag, outcome);
        leases_.forget(lease);
    }
}

void holders::nobody_waits(slot_id lease) noexcept
{
    if (leases_.is_held(lease))
        queues_.at(slots_[lease].queue).turns.nobody_waits();
}

void holders::others_wait(slot_id lease, time_point now)
{
    if (lingers(slots_, lease))
        stop_lingering(lease, now);
    else if (leases_.is_held(lease))
        queues_.at(slots_[lease].queue).turns.note_waiters();
}

void holders::service_due(time_point now)
{
    due_renewals_.clear();
    while (const slot_id lease = leases_.next_due(now)) {
        if (!service(lease, now))
            continue;
        const claim_id claim = slots_[lease].claim;
        due_renewals_.push_back(claim);
        ask_again_for_waiters(claim, now);
    }
    service_lingering(now);
    if (!due_renewals_.empty())
        backend_.renew(due_renewals_, false, now);
    while (const auto over = resting_.take_due(now))
        end_rest(*over, now);
}

// An earlier report may have been lost.
void holders::ask_again_for_waiters(claim_id claim, time_point now)
{
    if (backend_.queue().reports_waiters(claim))
        backend_.queue().report_waiters(claim, now);
}

void holders::service_lingering(time_point now)
{
    while (const slot_id lease = lingering_.next_due(now)) {
        const lingering_leases::due due = lingering_.service(lease, now);
        if (due.over) {
            stop_lingering(lease, now);
        } else if (due.renew) {
            const claim_id claim = slots_[lease].claim;
            due_renewals_.push_back(claim);
            backend_.queue().report_waiters(claim, now); // an earlier report may have been lost
        }
    }
}

void holders::close()
{
    closes_ = true;
    while (const auto resting = resting_.take_due(never))
        backend_.cleanup().leave(resting->claim);
}

void holders::end_releases()
{
    for (std::uint32_t i = 0; i < slots_.capacity(); ++i) {
        if (const slot_id id = slots_.id_at(i); id != 0)
            released(id, release_outcome::unconfirmed);
    }
}

// The holder is done. The claim rests, has the next holder, or lingers. False if it does none of
// these: then the holder still has the lease.
bool holders::goes_on(slot_id lease, time_point now)
{
    if (rest(lease, now) || hand_over(lease, now)) {
        leases_.forget(lease);
        return true;
    }
    return linger(lease, now);
}

// The lease ends for its holder, if there is one. What follows for the claim is up to the caller.
void holders::take_from_holder(slot_id lease)
{
    if (lingers(slots_, lease))
        return lingering_.end(lease);
    leases_.end(lease, stage::releasing);
    report_.gone(lease);
}

// Transfers a lease to the next waiter, without requests to the nodes. False if that is impossible:
// then the holder still has the lease, or it lingers.
bool holders::hand_over(slot_id lease, time_point now)
{
    const claim_slot& from = slots_[lease];
    const wait* const waiter = queues_.first_of(from.queue);
    if (waiter == nullptr || from.keeper.where() != lease_keeper::phase::kept)
        return false;
    const lease_params& terms = waiter->terms;
    if (terms.min_hold_ms != 0)
        return false; // the key has less than one ttl left
    const validity granted = from.keeper.granted();
    local_turns& turns = queues_.at(from.queue).turns;
    const bool would_know =
        from.terms.linger_ms != 0 && backend_.queue().reports_waiters(from.claim);
    const bool lingered = lingers(slots_, lease);
    if (would_know && lingered)
        turns.skip(now - from.since); // nobody waited then
    const bool over = lingered ? turns.is_over_after_lingering(terms,
                                     std::chrono::milliseconds(from.terms.linger_ms),
                                     waiter->once ? now : waiter->ends, now)
                               : turns.time_is_up(terms, now);
    // While a probe for other processes is unanswered, local turns go on: the answer comes sooner
    // than the nodes could grant anything.
    if (over || (turns.used_up(terms) && !backend_.queue().is_probing(from.claim)) ||
        !same_claim(terms, from.terms) || granted.until - terms.guard <= now ||
        is_too_old(from, terms, lingered, now) || !backend_.can_transfer(from.claim))
        return false;

    take_from_holder(lease);
    const slot_id next = slots_.take();
    claim_slot& to = slots_[next];
    to = claim_slot{};
    to.queue = from.queue;
    to.claim = from.claim;
    to.terms = terms;
    to.may_linger = from.may_linger;
    const auto fence = backend_.transfer(to.claim, next);
    turns.pass();
    if (would_know)
        turns.nobody_waits();
    else if (turns.should_probe(terms) && !backend_.queue().is_probing(to.claim))
        backend_.queue().probe_waiters(to.claim, now);
    lingered ? report_.resumed() : report_.handed_over();
    install(next, granted, fence, now);
    to.told = from.told;
    return true;
}

// The lease stays in this process for the next wait. False if it must go back: the turns of this
// process need a waiter to end them, so others that wait would get none.
bool holders::linger(slot_id lease, time_point now)
{
    const claim_slot& s = slots_[lease];
    const wait_queue& q = queues_.at(s.queue);
    const bool is_for_others = q.turns.others_wait() || s.terms.handoff_limit == 0;
    if (s.terms.linger_ms == 0 || !s.may_linger || !lets_linger_ || q.first != 0 || is_for_others ||
        s.keeper.where() != lease_keeper::phase::kept || !backend_.can_transfer(s.claim))
        return false;
    take_from_holder(lease);
    lingering_.begin(lease, backend_.patience(s.terms.ttl), now);
    if (!backend_.queue().reports_waiters(s.claim))
        backend_.queue().report_waiters(s.claim, now);
    return true;
}

void holders::stop_lingering(slot_id lease, time_point now)
{
    give_back(lease, now);
    leases_.forget(lease);
}

void holders::end_lingering(time_point now)
{
    lets_linger_ = false;
    for (std::uint32_t i = 0; lingering_.count() != 0 && i < slots_.capacity(); ++i) {
        if (const slot_id id = slots_.id_at(i); lingers(slots_, id))
            stop_lingering(id, now);
    }
}

// Gives a lease back to the backend. Renewal stops first, so none can follow the release.
void holders::give_back(slot_id lease, time_point now)
{
    const claim_slot& s = slots_[lease];
    take_from_holder(lease);
    const wait* const next = queues_.first_of(s.queue);
    if (next != nullptr && queues_.at(s.queue).turns.is_window_due(polling_of(next->terms), now))
        backend_.queue().leave_open(s.claim);
    backend_.release(s.claim, now);
    waits_.end_turn(s.queue, now);
}

// Does what is due for a lease, except its renewal. True if that is due too.
bool holders::service(slot_id lease, time_point now)
{
    const held_leases::due due = leases_.service(lease, now);
    if (due.extension_failed)
        report_.extended(lease, errc::unreachable);
    if (due.must_stop)
        report_.must_stop(lease);
    if (due.over)
        lose(lease, false, now);
    return due.renew;
}

// The holder is done, but the resource stays locked until `min_hold` is over. False if it is.
bool holders::rest(slot_id lease, time_point now)
{
    if (rests_until(slots_[lease]) <= now)
        return false;
    leases_.end(lease, stage::releasing);
    report_.gone(lease);
    begin_rest(lease);
    return true;
}

void holders::begin_rest(slot_id lease)
{
    const claim_slot& s = slots_[lease];
    if (closes_)
        backend_.cleanup().leave(s.claim);
    else
        resting_.add({s.claim, s.queue, lease, s.keeper.granted().until}, rests_until(s));
}

void holders::end_rest(const resting_claims::rest& over, time_point now)
{
    backend_.release(over.claim, now);
    waits_.end_turn(over.queue, now);
}

void holders::lose(slot_id lease, bool gone, time_point now)
{
    if (leases_.must_stop(lease) == errc{})
        report_.must_stop(lease);
    leases_.end(lease, stage::ended);
    report_.lost();
    const claim_slot& s = slots_[lease];
    report_.held_for(now - s.since);
    report_.notes().lost(lease, queues_.at(s.queue).resource, now);
    queues_.at(s.queue).turns.lost(now);
    if (!gone && rests_until(s) > now)
        return begin_rest(lease);
    backend_.release(s.claim, now); // deletes the keys that may be left
    waits_.end_turn(s.queue, now);
}

// Each lease ends a guard time later at the latest.
void holders::stop(time_point now)
{
    for (std::uint32_t i = 0; i < slots_.capacity(); ++i) {
        const slot_id id = slots_.id_at(i);
        if (id != 0 && leases_.stop(id, now))
            report_.must_stop(id);
    }
}

// The holder gives up a lease that is held.
void holders::note_release(slot_id lease, time_point now)
{
    const claim_slot& s = slots_[lease];
    report_.given_up();
    report_.held_for(now - s.since);
    report_.left(s.keeper.ends_at() - now);
    report_.notes().released(lease, queues_.at(s.queue).resource, now);
}

} // namespace holdfast::core
