#include "redis/claim_ends.hpp"

#include <algorithm>
#include <cassert>

namespace holdfast::redis {

using core::claim_id;
using core::event_kind;
using core::time_point;
using stage = claim_stage;
using passing = queue_ticket::passing;

void claim_ends::abandon(claim_id id, time_point now)
{
    claim& c = claims_[id];
    assert(c.stage == stage::asking || c.stage == stage::queued);
    c.stage = stage::cleaning;
    clean(id, now);
}

void claim_ends::release(claim_id id, time_point now)
{
    claim& c = claims_[id];
    assert(c.stage == stage::held);
    c.stage = stage::releasing;
    c.late.reset();
    if (c.queue.others_first)
        parts_.hints.contention.note_doubt(c.hash, now);
    parts_.rounds.give_up(id);
    parts_.queue.stop_waiting(c);
    c.release_within(parts_.nodes.timeout(c.params.ttl), now);
    const passing state = parts_.given.begin(id, now);
    if (state == passing::waits)
        claims_.wake_at(id, now + batons::longest_wait);
    give(id, state, now);
}

// The release goes on, by the state of the baton.
void claim_ends::give(claim_id id, passing state, time_point now)
{
    switch (state) {
    case passing::waits:
        return;
    case passing::sent:
        return begin_step(id, now);
    default:
        return delete_keys(id, now);
    }
}

void claim_ends::delete_keys(claim_id id, time_point now)
{
    clean(id, now);
    begin_step(id, now);
    settle_release(id, false, now);
}

// The requests of the next step of a release are queued. What earlier steps have taken of the time
// is not given again.
void claim_ends::begin_step(claim_id id, time_point now)
{
    claim& c = claims_[id];
    c.late.reset();
    if (c.queue.ticket) // the loop may be late
        c.queue.ticket->release_left =
            std::max<core::duration>(c.queue.ticket->release_ends - now, core::duration(0));
    limit_release(id, now);
}

void claim_ends::limit_release(claim_id id, time_point now)
{
    claim& c = claims_[id];
    const core::duration left =
        c.queue.ticket ? c.queue.ticket->release_left : parts_.nodes.timeout(c.params.ttl);
    c.release_within(left, now);
    claims_.wake_at(id, now + left);
}

void claim_ends::settle(claim_id id, time_point now)
{
    const claim& c = claims_[id];
    if (c.stage == stage::releasing && c.gives() == passing::waits)
        give(id, parts_.given.go_on(id, now), now);
    else if (c.stage == stage::releasing && c.gives() == passing::no)
        settle_release(id, false, now);
    else if (c.stage == stage::cleaning && !c.keys.may_hold_any())
        forget(id);
}

void claim_ends::settle_release(claim_id id, bool out_of_time, time_point now)
{
    claim& c = claims_[id];
    const auto result = c.keys.judge_release();
    if (!result.decided && !out_of_time && parts_.deletions.is_under_way(c))
        return;
    end_release(id, result.outcome, now);
}

void claim_ends::end_release(claim_id id, release_outcome outcome, time_point now)
{
    claim& c = claims_[id];
    events_.push({.kind = event_kind::released, .outcome = outcome, .tag = c.tag});
    c.stage = stage::cleaning;
    clean(id, now);
}

void claim_ends::out_of_time(claim_id id, time_point now)
{
    const claim& c = claims_[id];
    if (c.stage == stage::cleaning && parts_.deletions.awaits_news(c))
        claims_.wake_at(id, now + queue_ttl);
    else if (c.stage == stage::cleaning)
        forget(id); // its ttl has passed on all nodes
    else if (c.gives() == passing::waits)
        give(id, parts_.given.end_wait(id, now), now);
    else if (c.gives() == passing::no)
        settle_release(id, true, now);
    else
        end_release(id, release_outcome::unconfirmed, now);
}

void claim_ends::on_given(std::size_t node, const request& r, reply answer, time_point now)
{
    using result = batons::result;
    const claim_id id = r.reference;
    const result got = parts_.given.on_reply(node, r, answer, now);
    if (const claim* const c = claims_.find(id)) {
        const bool releasing = c->stage == stage::releasing;
        if (releasing && got == result::given)
            end_release(id, release_outcome::released, now);
        else if (releasing && got == result::unusable)
            end_release(id, release_outcome::unconfirmed, now);
        else if (releasing)
            delete_keys(id, now);
        else
            clean(id, now);
    }
    if (got == result::unusable)
        parts_.nodes.fail(node, now);
}

void claim_ends::on_gift_lost(claim_id id, time_point now)
{
    parts_.given.lose_answer(id);
    const claim* const c = claims_.find(id);
    if (c != nullptr && c->stage == stage::releasing)
        end_release(id, release_outcome::unconfirmed, now);
}

// The lease has other keys: the next waiter gets this one. That is not the lease's own place, which
// may be in this queue again: a request for it may have been under way.
void claim_ends::discard_turn(claim_id of, std::size_t node, time_point now)
{
    parts_.deletions.leave_queue(of, node, now);
    const claim_id id = claims_.all.take();
    claim& c = claims_[id];
    const claim& from = claims_[of];
    c.begin(from.tag, from.lock, from.place(), from.params, parts_.nodes.size());
    parts_.mode.begin(c);
    c.queue.enter(node, core::never);
    c.sent(node, now);
    c.keys.answered(node);
    c.stage = stage::cleaning;
    clean(id, now);
}

// The attempt has ended, or goes on without its turn. Nobody else knows of the lease.
void claim_ends::discard(claim_id of, std::size_t node, const baton& given, time_point now)
{
    const claim_id id = claims_.all.take();
    claim& c = claims_[id];
    const claim& from = claims_[of];
    c.begin(from.tag, from.lock, from.place(), from.params, parts_.nodes.size());
    parts_.mode.begin(c);
    c.queue.enter(node, core::never);
    c.queue.ticket->entered = now; // the lease is not used: any time will do
    c.take_over(node, given, now);
    c.stage = stage::cleaning;
    clean(id, now);
}

void claim_ends::clean(claim_id id, time_point now)
{
    claim& c = claims_[id];
    parts_.rounds.give_up(id);
    parts_.queue.stop_waiting(c);
    parts_.probe.notices().stop(id, now);
    parts_.deletions.ask(id, c.stage == stage::releasing, now);
    if (c.stage == stage::cleaning) {
        claims_.wake_at(id, std::max(now, c.keys.gone_at()));
        if (!c.keys.may_hold_any())
            forget(id);
    }
}

void claim_ends::forget(claim_id id)
{
    claims_.do_not_wake(id);
    parts_.rounds.forget(id);
    parts_.queue.forget(id);
    parts_.probe.notices().forget(id);
    parts_.deletions.forget(claims_[id]);
    claims_.all.give_back(id);
}

} // namespace holdfast::redis
