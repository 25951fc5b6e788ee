#include "redis/life_cycle.hpp"

#include "redis/claim/attempt_outcome.hpp"
#include "redis/node/scripts.hpp"

#include <algorithm>
#include <cassert>

namespace holdfast::redis {

using core::backend_event;
using core::claim_id;
using core::event_kind;
using core::time_point;
using key = claim_node::key;
using stage = claim_stage;

namespace {

// The most requests under way to a node for one claim, however often the node pushes.
constexpr unsigned most_open = 16;

// Whether the answers to such requests end the stage.
constexpr bool decides(stage now, request_kind kind) noexcept
{
    switch (kind) {
    case request_kind::acquire:
    case request_kind::confirm:
    case request_kind::ballot:
        return now == stage::asking;
    case request_kind::remove:
    case request_kind::hand_off:
    case request_kind::give:
        return now == stage::releasing;
    default:
        return false;
    }
}

} // namespace

claim_id life_cycle::begin(std::uint64_t tag, std::string_view resource,
    const core::owner_token& token, const core::claim_params& params, time_point now)
{
    const claim_id id = claims_.all.take();
    claim& c = claims_[id];
    c.begin(tag, parts_.mode.names().lock_of(resource), token, params, parts_.nodes.size());
    parts_.mode.begin(c);
    const std::size_t queue_node = parts_.queue.node_for(c, now);
    if (queue_node == max_nodes) {
        open_round(id, now);
    } else {
        c.stage = stage::queued;
        parts_.queue.join(id, queue_node, now);
    }
    return id;
}

void life_cycle::open_round(claim_id id, time_point now)
{
    claim& c = claims_[id];
    c.stage = stage::asking;
    c.late.reset();
    c.round_began = now;
    parts_.queue.stop_waiting(c);
    parts_.rounds.open(id, now);
    settle_attempt(id, now);
}

errc life_cycle::pending_error(claim_id id) const noexcept
{
    const claim* const c = claims_.find(id);
    assert(c != nullptr);
    if (c->stage == stage::queued)
        return c->queue.cut_off ? errc::unreachable : errc::contended;
    if (c->round.votes().judge_now() == verdict::contended)
        return errc::contended;
    return why_unreachable(*c).reason;
}

claim_id life_cycle::adopt(std::uint64_t tag, std::string_view resource,
    const core::owner_token& token, const core::claim_params& params, time_point asked)
{
    const claim_id id = claims_.all.take();
    claim& c = claims_[id];
    c.begin(tag, parts_.mode.names().lock_of(resource), token, params, parts_.nodes.size());
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        c.sent(i, asked);
        c.keys.answered(i);
        c.granted(i, asked);
    }
    c.stage = stage::held;
    c.reported = c.keys.valid_until();
    return id;
}

void life_cycle::disown(claim_id id)
{
    assert(claims_[id].stage == stage::held);
    parts_.rounds.give_up(id);
    ends_.forget(id);
}

void life_cycle::settle(claim_id id, time_point now)
{
    const claim* const c = claims_.find(id);
    if (c == nullptr)
        return;
    if (c->stage == stage::asking)
        settle_attempt(id, now);
    else if (c->stage == stage::releasing || c->stage == stage::cleaning)
        ends_.settle(id, now);
}

// The attempt ends as soon as its votes allow.
void life_cycle::settle_attempt(claim_id id, time_point now)
{
    using kind = attempt_outcome::kind;
    const attempt_outcome o = judge_attempt(claims_[id], now);
    if (o.is == kind::granted)
        grant(id, o.valid_until);
    else if (o.is == kind::refused)
        refuse(id, o.reason, o.transient, now);
}

void life_cycle::grant(claim_id id, time_point valid_until)
{
    claim& c = claims_[id];
    c.stage = stage::held;
    if (c.queue.handed_over)
        parts_.nodes.unfit().note_lease(c.hash, c.queue.node);
    else
        parts_.hints.windows.note_free(c.hash);
    c.reported = valid_until;
    claims_.do_not_wake(id);
    emit({.kind = event_kind::granted,
        .tag = c.tag,
        .valid = c.validity_until(valid_until),
        .asked = c.came_by_baton() != nullptr ? c.round_began : core::never,
        .fence = parts_.mode.token_of(c)});
}

void life_cycle::refuse(claim_id id, errc reason, bool transient, time_point now)
{
    claim& c = claims_[id];
    if (reason == errc::contended && c.queue.handed_over && !c.taken_away) {
        parts_.hints.contention.note_fruitless(c.hash, now);
        parts_.nodes.unfit().note_turn_in_vain(c.hash, c.queue.node, now);
    }
    c.stage = stage::cleaning;
    emit({.kind = event_kind::refused,
        .reason = reason,
        .tag = c.tag,
        .transient = transient,
        .asked = c.round_began});
    ends_.clean(id, now);
}

void life_cycle::act(const fair_queue::outcome& o, time_point now)
{
    using then = fair_queue::outcome::kind;
    if (o.began_to_wait)
        emit({.kind = event_kind::queued, .tag = claims_[o.claim].tag});
    switch (o.then) {
    case then::nothing:
        return;
    case then::round:
        return open_round(o.claim, now);
    case then::refused:
        return refuse(o.claim, o.reason, false, now);
    }
}

void life_cycle::on_key_answer(
    claim& c, std::size_t node, const request& r, const key_answer& a, time_point now)
{
    const claim_id id = r.reference;
    if (r.kind == request_kind::confirm) {
        // A claim that joins all queues, and had its turn meanwhile, is in this queue again.
        if (a.said == vote::granted && c.came_by_baton() == nullptr)
            c.keys[node].queued = c.queue.everywhere;
        if (a.said == vote::refused && parts_.rounds.finds_missing(node, id)) {
            return c.stage == stage::held ? report(id, now) : settle(id, now);
        }
    }
    if (!parts_.rounds.record(node, r, a, now))
        return;
    parts_.observer.voted(c.tag, node, a.said, a.why, now);
    if (a.said == vote::refused)
        parts_.probe.notices().on_refused(node, id, now);
    if (a.said == vote::refused && parts_.queue.gives_way(node, c, now))
        return refuse(id, errc::contended, false, now);
    if (c.stage != stage::held)
        return settle(id, now);
    if (a.said == vote::granted) // a late grant joins the lease
        report(id, now);
}

void life_cycle::on_ballot(claim_id id, time_point now)
{
    const claim* const c = claims_.find(id);
    if (c != nullptr && c->stage == stage::asking)
        settle_attempt(id, now);
    else if (c != nullptr && c->stage == stage::held)
        report(id, now); // a spare node
    else
        settle(id, now);
}

void life_cycle::on_turn(claim_id id, std::size_t node, time_point now)
{
    claim& c = claims_[id];
    if (c.stage == stage::queued) {
        parts_.queue.note_turn(id, node, now);
        parts_.rounds.confirm(id, node, false, now);
        open_round(id, now);
    } else if (c.came_by_baton() != nullptr) {
        ends_.discard_turn(id, node, now);
    } else if (c.is_open() && c.keys[node].open < most_open) {
        parts_.rounds.confirm(id, node, false, now); // we had gone on without it: a spare node
    }                                                // else it is being deleted
}

void life_cycle::on_taken_away(std::string_view token, std::size_t node, time_point now)
{
    for_each(claims_, [&](claim_id id, claim& c) {
        if (c.token.view() != token || c.gives() == queue_ticket::passing::done)
            return;
        if (c.stage == stage::held) {
            c.taken_away = true;
            if (c.keys.may_hold(node)) {
                c.missing(node, core::long_ago);
                c.keys.repaired(node); // it may still be there: the release deletes it
            }
            report(id, now);
        } else if (c.stage == stage::asking || c.stage == stage::queued) {
            c.taken_away = true;
            refuse(id, errc::contended, false, now);
        }
    });
}

void life_cycle::on_sent_late(std::size_t node, const request& r, time_point now)
{
    const claim_id id = r.reference;
    claim* const c = claims_.find(id);
    if (c == nullptr)
        return;
    claims_.leave_longer(id, std::max(c->params.ttl, queue_ttl), now);
    if (r.by_text || r.follows)
        return;
    if (c->stage == stage::queued && c->queue.answer_due) {
        claims_.wake_at(id, now + parts_.nodes.patience(c->params.ttl));
        return;
    }
    // A minority that is slow to accept our requests does not extend the time.
    if (!decides(c->stage, r.kind) || c->late.test(node))
        return;
    c->late.set(node);
    const std::size_t most =
        r.kind == request_kind::give ? 1 : blocking(c->keys.size()); // only one is asked to give
    if (c->late.count() != most)
        return;
    if (c->stage == stage::asking) {
        c->round_began = now;
        parts_.rounds.limit(id, now);
    } else if (c->stage == stage::releasing) {
        ends_.limit_release(id, now);
    }
}

// A node that is asked late joins the lease like any late grant, as a spare node.
void life_cycle::on_ready(std::size_t node, time_point now)
{
    parts_.probe.notices().on_ready(now);
    for_each(claims_, [&](claim_id id, const claim& c) {
        if (!parts_.rounds.ask_unsent(id, node, now) && c.stage == stage::cleaning)
            parts_.deletions.ask_late(id, node, now);
    });
}

void life_cycle::on_down(std::size_t node, time_point now)
{
    parts_.probe.notices().on_down(node, now);
    for_each(claims_, [&](claim_id id, const claim& c) {
        if (c.stage == stage::queued && c.queue.node == node) {
            act(parts_.queue.change_node(id, now), now);
        } else if (parts_.rounds.give_up_unsent(id, node, now) && c.stage == stage::asking) {
            parts_.rounds.limit(id, now);
            settle_attempt(id, now);
        } else if (c.stage == stage::releasing && c.gives() == queue_ticket::passing::waits) {
            ends_.settle(id, now); // it may have waited for that node
        }
    });
}

void life_cycle::on_renewed(claim_id id, time_point now)
{
    if (claims_[id].stage == stage::held)
        report(id, now);
    else
        settle(id, now);
}

// All nodes are asked before the lease counts, if much of its time is over, or its keys would
// outlast the ttl of the claim.
void life_cycle::on_baton(claim_id id, std::size_t node, const baton& given, time_point now)
{
    claim& c = claims_[id];
    if (c.stage != stage::queued) {
        c.keys[node].queued = c.queue.everywhere; // as in take_over()
        c.queue.ticket->discarded = given.token;
        return ends_.discard(id, node, given, now);
    }
    parts_.queue.note_turn(id, node, now);
    parts_.queue.stop_waiting(c);
    c.take_over(node, given, now);
    c.late.reset();
    const time_point valid_until = c.keys.valid_until();
    const core::duration enough = std::max(c.params.ttl * 2 / 3, c.params.guard);
    c.round_began = now;
    if (valid_until - now > enough && given.left <= c.params.ttl && !c.params.whole_ttl)
        return grant(id, valid_until);
    c.stage = stage::asking;
    parts_.rounds.confirm_all(id, now);
    settle_attempt(id, now);
}

void life_cycle::report(claim_id id, time_point now)
{
    claim& c = claims_[id];
    const time_point valid_until = c.keys.valid_until();
    if (valid_until <= now) {
        emit({.kind = event_kind::lost,
            .tag = c.tag,
            .keys_left = !c.taken_away && c.keys.may_have_any_key()});
    } else if (valid_until != c.reported) {
        c.reported = valid_until;
        emit({.kind = event_kind::validity, .tag = c.tag, .valid = c.validity_until(valid_until)});
    }
}

void life_cycle::wake(time_point now, time_point heard)
{
    while (const auto id = parts_.rounds.ask_again(now)) {
        if (claims_[*id].stage == stage::asking)
            settle_attempt(*id, now);
    }
    while (const auto index = claims_.due.pop_due(std::min(now, heard))) {
        const claim_id id = claims_.all.id_at(*index);
        switch (claims_[id].stage) {
        case stage::queued:
            act(parts_.queue.on_due(id, now), now);
            break;
        case stage::asking:
            parts_.rounds.time_out(id);
            settle_attempt(id, now);
            break;
        case stage::releasing:
        case stage::cleaning:
            ends_.out_of_time(id, now);
            break;
        case stage::held:
            break;
        }
    }
}

} // namespace holdfast::redis
