#include "core/locker_core.hpp"

#include <algorithm>

namespace holdfast::core {

namespace {

using stage = claim_slot::stage;

// Few attempts are made while results wait for longer than this for their handlers.
constexpr duration longest_lag = std::chrono::milliseconds(50);

} // namespace

locker_core::locker_core(backend_core& backend, entropy& random, const locker_options& options,
    std::uint64_t jitter_seed)
    : backend_(backend),
      contest_(backend, random, slots_, report_, options, jitter_seed),
      leases_(slots_)
{}

slot_id locker_core::acquire(std::uint64_t tag, std::string_view resource,
    const lease_params& terms, std::chrono::milliseconds wait, bool once, time_point now)
{
    const slot_id added = contest_.acquire(tag, resource, terms, wait, once, now);
    if (added != 0)
        absorb(now);
    return added;
}

bool locker_core::cancel(slot_id wait, bool only_if_unsent, time_point now)
{
    if (!contest_.cancel(wait, only_if_unsent, now))
        return false;
    absorb(now);
    return true;
}

bool locker_core::release(slot_id lease, std::uint64_t tag, time_point now)
{
    absorb(now); // the lease may have ended unnoticed
    service(lease, now);
    if (!leases_.alive(lease))
        return false;

    if (!leases_.is_held(lease)) {
        report_.released(tag, release_outcome::expired);
        report_.gone(lease);
        leases_.forget(lease);
    } else {
        report_.given_up();
        if (hand_over(lease, now)) {
            report_.released(tag, release_outcome::released);
            leases_.forget(lease);
        } else {
            slots_[lease].release_tag = tag;
            give_back(lease, now);
        }
    }
    absorb(now);
    return true;
}

bool locker_core::drop(slot_id lease, time_point now)
{
    if (slots_.find(lease) == nullptr)
        return false;
    absorb(now);
    service(lease, now);
    if (!leases_.alive(lease))
        return true;
    if (leases_.is_held(lease)) {
        report_.given_up();
        if (!hand_over(lease, now))
            give_back(lease, now);
    } else {
        report_.gone(lease);
    }
    leases_.forget(lease);
    absorb(now);
    return true;
}

errc locker_core::extend(slot_id lease, time_point now)
{
    service(lease, now); // the extension below is a renewal
    if (const errc reason = must_stop(lease); reason != errc{})
        return reason;

    const claim_slot& s = slots_[lease];
    if (!leases_.begin_extension(lease, backend_.patience(s.terms.ttl), now))
        return errc{};
    const claim_id claim = s.claim;
    backend_.renew({&claim, 1}, true, now);
    absorb(now);
    return errc{};
}

void locker_core::close(time_point now)
{
    if (closing_.begun())
        return;
    closing_.begin();
    contest_.end_all(now);
    for (std::uint32_t i = 0; i < slots_.capacity(); ++i) {
        const slot_id id = slots_.id_at(i);
        if (id != 0 && leases_.stop(id, now))
            report_.must_stop(id);
    }
    absorb(now);
}

bool locker_core::note_lag(duration lag) noexcept
{
    const bool late = lag > longest_lag;
    contest_.hold_back(late);
    return late;
}

void locker_core::wake(time_point now, time_point heard)
{
    heard = std::min(now, heard);
    closing_.note_heard(heard);
    if (backend_.wake_at() <= now)
        backend_.wake(now, heard);
    absorb(now);
    contest_.end_due(now);

    due_renewals_.clear();
    while (const slot_id lease = leases_.next_due(now)) {
        if (service(lease, now))
            due_renewals_.push_back(slots_[lease].claim);
    }
    if (!due_renewals_.empty())
        backend_.renew(due_renewals_, false, now);
    absorb(now);

    // Last, when it is known which waits remain.
    while (contest_.try_due(now))
        absorb(now);
}

time_point locker_core::wake_at() const noexcept
{
    if (closing_.done())
        return never; // keys left on nodes end by their ttl
    return std::min(
        {backend_.wake_at(), contest_.wake_at(), leases_.wake_at(), closing_.wake_at()});
}

void locker_core::add_to(locker_stats& stats) const
{
    stats = report_.counts();
    stats.held = leases_.count();
    contest_.add_to(stats);
    stats.nodes = backend_.nodes();
}

// Releases and renewals go before new attempts.
void locker_core::absorb(time_point now)
{
    do {
        while (const auto event = backend_.next_event())
            handle(*event, now);
    } while (contest_.admit_next(now));

    if (!closing_.begun() || closing_.done() || leases_.count() != 0)
        return;
    if (closing_.winds_up())
        backend_.wind_up(now);
    if (closing_.ends(backend_.cleaning_up(), backend_.unsent(), now)) {
        backend_.close(now);
        report_.closed();
    }
}

void locker_core::handle(const backend_event& event, time_point now)
{
    switch (event.kind) {
    case event_kind::granted:
        contest_.granted(event.tag, event.valid, now);
        install(event.tag, event.valid, event.fence, now);
        break;
    case event_kind::refused:
        contest_.refused(event, now);
        break;
    case event_kind::queued:
        contest_.parked(event.tag);
        break;
    case event_kind::validity: {
        const auto confirmed = leases_.confirm(event.tag, event.valid, now);
        if (confirmed.renewed)
            report_.renewed();
        if (confirmed.extended)
            report_.extended(event.tag, errc{});
        break;
    }
    case event_kind::lost:
        if (leases_.is_held(event.tag))
            lose(event.tag, now);
        break;
    case event_kind::released:
        // Otherwise it was dropped or lost: no caller waits for the outcome.
        if (const claim_slot* const s = slots_.find(event.tag); s && s->now == stage::releasing) {
            report_.released(s->release_tag, event.outcome);
            leases_.forget(event.tag);
        }
        break;
    case event_kind::no_remote_waiters:
        if (leases_.is_held(event.tag))
            contest_.turns(slots_[event.tag].queue).nobody_waits();
        break;
    case event_kind::free_hint:
        contest_.hinted(event, now);
        break;
    }
}

void locker_core::install(
    slot_id lease, const validity& granted, std::optional<std::uint64_t> fence, time_point now)
{
    const claim_slot& s = slots_[lease];
    leases_.begin(lease, granted, backend_.patience(s.terms.ttl), !backend_.renews_itself(), now);
    report_.acquired(contest_.take_next(s.queue, lease), lease, fence);
}

// Transfers a lease to the next waiter, without requests to the nodes. False if that is impossible:
// then the holder still has the lease.
bool locker_core::hand_over(slot_id lease, time_point now)
{
    const claim_slot& from = slots_[lease];
    const wait* const waiter = contest_.next(from.queue);
    if (waiter == nullptr || closing_.begun() || from.keeper.where() != lease_keeper::phase::kept)
        return false;
    const lease_params& terms = waiter->terms;
    const validity granted = from.keeper.granted();
    local_turns& turns = contest_.turns(from.queue);
    // While a probe for other processes is unanswered, local turns go on: the answer comes sooner
    // than the nodes could grant anything.
    if (turns.time_is_up(terms, now) ||
        (turns.used_up(terms) && !backend_.probing_waiters(from.claim)) ||
        !same_claim(terms, from.terms) || granted.until - terms.guard <= now ||
        !backend_.can_transfer(from.claim))
        return false;

    leases_.end(lease, stage::releasing);
    report_.gone(lease);
    const slot_id next = slots_.take();
    claim_slot& to = slots_[next];
    to = claim_slot{};
    to.queue = from.queue;
    to.claim = from.claim;
    to.terms = terms;
    const auto fence = backend_.transfer(to.claim, next);
    turns.pass();
    if (turns.should_probe(terms))
        backend_.probe_waiters(to.claim, now);
    report_.handed_over();
    install(next, granted, fence, now);
    return true;
}

// Gives a held lease back to the backend. Renewal stops first, so none can follow the release.
void locker_core::give_back(slot_id lease, time_point now)
{
    const claim_slot& s = slots_[lease];
    leases_.end(lease, stage::releasing);
    report_.gone(lease);
    const wait* const next = contest_.next(s.queue);
    if (next != nullptr && contest_.turns(s.queue).time_is_up(next->terms, now))
        backend_.leave_open(s.claim);
    backend_.release(s.claim, now);
    contest_.end_turn(s.queue, now);
}

// Does what is due for a lease, except its renewal. True if that is due too.
bool locker_core::service(slot_id lease, time_point now)
{
    const held_leases::due due = leases_.service(lease, now);
    if (due.extension_failed)
        report_.extended(lease, errc::unreachable);
    if (due.must_stop)
        report_.must_stop(lease);
    if (due.over)
        lose(lease, now);
    return due.renew;
}

void locker_core::lose(slot_id lease, time_point now)
{
    if (must_stop(lease) == errc{})
        report_.must_stop(lease);
    leases_.end(lease, stage::ended);
    report_.lost();
    const claim_slot& s = slots_[lease];
    contest_.turns(s.queue).lost(now);
    backend_.release(s.claim, now); // deletes the keys that may be left
    contest_.end_turn(s.queue, now);
}

} // namespace holdfast::core
