#include "redis/life_cycle.hpp"

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

} // namespace

life_cycle::life_cycle(
    node_pool& nodes, dialect& d, core::jitter& jitter, core::ring<backend_event>& events) noexcept
    : nodes_(nodes),
      dialect_(d),
      acquisition_(claims_, nodes, d),
      queue_(claims_, nodes, d, hints_, jitter),
      cleanup_(claims_, nodes, d, hints_),
      probe_(claims_, nodes, d.common()),
      events_(events)
{}

claim_id life_cycle::begin(std::uint64_t tag, std::string_view resource,
    const core::owner_token& token, const core::claim_params& params, time_point now)
{
    const claim_id id = claims_.all.take();
    claim& c = claims_[id];
    c.begin(tag, dialect_.names().lock_of(resource), token, params, nodes_.size());
    dialect_.begin(c, now);
    const std::size_t queue_node = queue_.node_for(c, now);
    if (queue_node == max_nodes) {
        open_round(id, now);
    } else {
        c.stage = stage::queued;
        queue_.join(id, queue_node, now);
    }
    return id;
}

void life_cycle::open_round(claim_id id, time_point now)
{
    claim& c = claims_[id];
    c.stage = stage::asking;
    c.late = 0;
    c.round_began = now;
    queue_.stop_waiting(c);
    acquisition_.open(id, now);
    settle_attempt(id, now);
}

void life_cycle::abandon(claim_id id, time_point now)
{
    claim& c = claims_[id];
    assert(c.stage == stage::asking || c.stage == stage::queued);
    c.stage = stage::cleaning;
    clean(id, now);
}

errc life_cycle::pending_error(claim_id id) const noexcept
{
    const claim* const c = claims_.find(id);
    assert(c != nullptr);
    if (c->stage == stage::queued || c->round.votes().judge_now() == verdict::contended)
        return errc::contended;
    return acquisition_.why_unreachable(*c).reason;
}

void life_cycle::release(claim_id id, time_point now)
{
    claim& c = claims_[id];
    assert(c.stage == stage::held);
    c.stage = stage::releasing;
    c.late = 0;
    if (c.queue.others_first)
        hints_.contention.note_doubt(c.hash, now);
    clean(id, now);
    claims_.wake_at(id, now + nodes_.timeout(c.params.ttl));
    settle_release(id, false, now);
}

void life_cycle::settle(claim_id id, time_point now)
{
    const claim* const c = claims_.find(id);
    if (c == nullptr)
        return;
    if (c->stage == stage::asking)
        settle_attempt(id, now);
    else if (c->stage == stage::releasing)
        settle_release(id, false, now);
    else if (c->stage == stage::cleaning && !c->keys.may_hold_any())
        forget(id);
}

// The attempt ends as soon as its votes allow.
void life_cycle::settle_attempt(claim_id id, time_point now)
{
    using kind = acquisition::outcome::kind;
    const acquisition::outcome o = acquisition_.judge(id, now);
    if (o.is == kind::granted)
        grant(id, o.valid_until);
    else if (o.is == kind::refused)
        refuse(id, o.reason, o.transient, now);
}

void life_cycle::grant(claim_id id, time_point valid_until)
{
    claim& c = claims_[id];
    c.stage = stage::held;
    if (!c.queue.handed_over)
        hints_.windows.note_free(c.hash);
    c.reported = valid_until;
    claims_.do_not_wake(id);
    emit({.kind = event_kind::granted,
        .tag = c.tag,
        .valid = c.validity_until(valid_until),
        .fence = dialect_.token_of(c)});
}

void life_cycle::refuse(claim_id id, errc reason, bool transient, time_point now)
{
    claim& c = claims_[id];
    if (reason == errc::contended && c.queue.handed_over)
        hints_.contention.note_fruitless(c.hash, now);
    c.stage = stage::cleaning;
    emit({.kind = event_kind::refused,
        .reason = reason,
        .tag = c.tag,
        .transient = transient,
        .asked = c.round_began});
    clean(id, now);
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

void life_cycle::on_ballot(std::size_t node, const request& r, reply answer, time_point now)
{
    claim* const c = claims_.find(r.reference);
    const ballot b = dialect_.read_ballot(node, r, answer, c, now);
    if (c != nullptr)
        count_vote(*c, node, r, b, now);
    if (b.said == vote::unknown)
        nodes_.fail(node, now);
}

void life_cycle::on_written_back(std::size_t node, const request& r, reply answer, time_point now)
{
    const auto said = acquisition_.on_written_back(node, r, answer, now);
    const claim* const c = said ? claims_.find(r.reference) : nullptr;
    if (c != nullptr && c->stage == stage::asking)
        settle_attempt(r.reference, now);
    else if (c != nullptr && said == write_back_answer::ok)
        report(r.reference, now); // a spare node
}

bool life_cycle::say_again(std::size_t node, const request& r, time_point now)
{
    switch (r.kind) {
    case request_kind::acquire:
    case request_kind::confirm:
    case request_kind::write_back:
        return acquisition_.say_again(node, r, now);
    case request_kind::enqueue:
        return queue_.say_again(node, r, now);
    case request_kind::remove:
    case request_kind::hand_off:
        return cleanup_.say_again(node, r, now);
    default:
        return false;
    }
}

void life_cycle::count_vote(
    claim& c, std::size_t node, const request& r, const ballot& b, time_point now)
{
    const claim_id id = r.reference;
    if (r.kind == request_kind::confirm) {
        // A claim that joins all queues, and had its turn meanwhile, is in this queue again.
        if (b.said == vote::granted)
            c.keys[node].queued = c.queue.everywhere;
        if (b.said == vote::refused && acquisition_.finds_missing(node, id)) {
            if (c.stage == stage::held)
                report(id, now);
            return;
        }
    }
    if (!acquisition_.record(node, id, b, r.sent, now))
        return;
    if (b.said == vote::refused && queue_.gives_way(node, c, now))
        return refuse(id, errc::contended, false, now);
    if (c.stage != stage::held)
        return settle(id, now);
    if (b.said == vote::granted) // a late grant joins the lease
        report(id, now);
}

void life_cycle::on_orphaned(std::size_t node, const request& r, time_point now)
{
    const claim_id id = r.reference;
    switch (r.kind) {
    case request_kind::acquire:
    case request_kind::confirm:
        if (claim* const c = claims_.find(id))
            count_vote(*c, node, r, {.said = vote::unknown, .why = nodes_.why_down(node)}, now);
        return;
    case request_kind::write_back:
        if (acquisition_.lose_write_back(node, id) && claims_[id].stage == stage::asking)
            settle_attempt(id, now);
        return;
    case request_kind::remove:
    case request_kind::hand_off:
        cleanup_.lose_answer(node, id);
        if (const claim* const c = claims_.find(id); c != nullptr && c->stage == stage::releasing)
            settle_release(id, false, now);
        return;
    case request_kind::look:
        return on_probed(node, id, {});
    default:
        return; // the node is down: another one is asked
    }
}

void life_cycle::on_probed(std::size_t node, claim_id id, reply answer)
{
    if (probe_.on_reply(node, id, answer))
        emit({.kind = event_kind::no_remote_waiters, .tag = claims_[id].tag});
}

void life_cycle::on_turn(claim_id id, std::size_t node, time_point now)
{
    claim& c = claims_[id];
    if (c.stage == stage::queued) {
        queue_.note_turn(id, node, now);
        acquisition_.confirm(id, node, false, now);
        open_round(id, now);
    } else if (c.is_open() && c.keys[node].open < most_open) {
        acquisition_.confirm(id, node, false, now); // we had gone on without it: a spare node
    }                                               // else it is being deleted
}

void life_cycle::on_sent_late(claim_id id, bool again, time_point now)
{
    claim* const c = claims_.find(id);
    if (c == nullptr)
        return;
    claims_.leave_longer(id, std::max(c->params.ttl, queue_ttl), now);
    if (again)
        return;
    if (c->stage == stage::queued && c->queue.answer_due) {
        claims_.wake_at(id, now + nodes_.timeout(c->params.ttl));
        return;
    }
    // A minority that is slow to accept our requests does not extend the time.
    if (++c->late != blocking(c->keys.size()))
        return;
    if (c->stage == stage::asking) {
        c->round_began = now;
        acquisition_.limit(id, now);
    } else if (c->stage == stage::releasing) {
        claims_.wake_at(id, now + nodes_.timeout(c->params.ttl));
    }
}

// A node that is asked late joins the lease like any late grant, as a spare node.
void life_cycle::on_ready(std::size_t node, time_point now)
{
    for_each(claims_, [&](claim_id id, const claim& c) {
        if (!acquisition_.ask_unsent(id, node, now) && c.stage == stage::cleaning)
            cleanup_.ask_late(id, node, now);
    });
}

void life_cycle::on_down(std::size_t node, time_point now)
{
    for_each(claims_, [&](claim_id id, const claim& c) {
        if (c.stage == stage::queued && c.queue.node == node) {
            act(queue_.change_node(id, now), now);
        } else if (acquisition_.give_up_unsent(id, node) && c.stage == stage::asking) {
            acquisition_.limit(id, now);
            settle_attempt(id, now);
        }
    });
}

void life_cycle::on_repaired(claim_id id)
{
    const claim& c = claims_[id];
    if (c.stage == stage::cleaning && !c.keys.may_hold_any())
        forget(id);
}

// Asks every node that may hold our key to delete it, and remembers the claim until all have done
// so, or until the key has expired.
void life_cycle::clean(claim_id id, time_point now)
{
    claim& c = claims_[id];
    acquisition_.give_up(id);
    queue_.stop_waiting(c);
    cleanup_.ask(id, c.stage == stage::releasing, now);
    if (c.stage == stage::cleaning) {
        claims_.wake_at(id, std::max(now, c.keys.gone_at()));
        if (!c.keys.may_hold_any())
            forget(id);
    }
}

void life_cycle::settle_release(claim_id id, bool out_of_time, time_point now)
{
    claim& c = claims_[id];
    const auto result = c.keys.judge_release();
    if (!result.decided && !out_of_time && cleanup_.is_under_way(c))
        return;
    emit({.kind = event_kind::released, .outcome = result.outcome, .tag = c.tag});
    c.stage = stage::cleaning;
    clean(id, now);
}

void life_cycle::forget(claim_id id)
{
    claims_.do_not_wake(id);
    acquisition_.forget(id);
    queue_.forget(id);
    cleanup_.forget(claims_[id]);
    claims_.all.give_back(id);
}

void life_cycle::report(claim_id id, time_point now)
{
    claim& c = claims_[id];
    const time_point valid_until = c.keys.valid_until();
    if (valid_until <= now) {
        emit({.kind = event_kind::lost, .tag = c.tag});
    } else if (valid_until != c.reported) {
        c.reported = valid_until;
        emit({.kind = event_kind::validity, .tag = c.tag, .valid = c.validity_until(valid_until)});
    }
}

void life_cycle::wake(time_point now, time_point heard)
{
    while (const auto id = acquisition_.ask_again(now)) {
        if (claims_[*id].stage == stage::asking)
            settle_attempt(*id, now);
    }
    while (const auto index = claims_.due.pop_due(std::min(now, heard))) {
        const claim_id id = claims_.all.id_at(*index);
        switch (claims_[id].stage) {
        case stage::queued:
            act(queue_.on_due(id, now), now);
            break;
        case stage::asking:
            acquisition_.time_out(id);
            settle_attempt(id, now);
            break;
        case stage::releasing:
            settle_release(id, true, now);
            break;
        case stage::cleaning:
            forget(id);
            break; // its ttl has passed on all nodes
        case stage::held:
            break;
        }
    }
}

} // namespace holdfast::redis
