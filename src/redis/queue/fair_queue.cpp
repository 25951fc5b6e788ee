#include "redis/queue/fair_queue.hpp"

#include "redis/node/scripts.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

using core::claim_id;
using core::time_point;
using key = claim_node::key;
using then = fair_queue::outcome::kind;
using namespace std::chrono_literals;

namespace {

constexpr core::duration longest_silence = 1s; // of a waiting claim
constexpr core::duration shortest_spread = 1ms,
                         longest_spread = 16ms; // of the claims that wait for the same end

// Most turns come sooner. A claim that waits for longer checks whether it is the first.
constexpr core::duration shortest_look = 32ms, longest_look = 64ms;

time_point time_of_look(core::jitter& jitter, time_point now) noexcept
{
    return now + jitter.between(shortest_look, longest_look);
}

} // namespace

std::size_t fair_queue::node_for(claim& c, time_point now)
{
    const bool in_turn =
        c.params.queue == core::queueing::now ||
        (c.params.queue == core::queueing::if_contended && hints_.contention.knows(c.hash, now));
    if (!in_turn)
        return max_nodes;
    const std::size_t chosen = nodes_.queue_node_of(c, now, node_pool::among::waiting);
    c.queue.everywhere = hints_.contention.take_fruitless(c.hash) ||
                         chosen != nodes_.queue_node_of(c, now); // others may use that one
    return chosen;
}

void fair_queue::join(claim_id id, std::size_t queue_node, time_point now)
{
    claim& c = claims_[id];
    c.round_began = now;
    enter(c, queue_node, now);
    enqueue(id, false, now);
    if (c.queue.everywhere)
        join_all(id, now);
    if (!c.queue.surveyed && hints_.contention.doubts(c.hash, now))
        owners_.ask(id, now);
}

void fair_queue::enter(claim& c, std::size_t queue_node, time_point now)
{
    time_point asks_again_at = now + jitter_.between(longest_silence * 3 / 4, longest_silence);
    // Others may use a node that we take for unfit.
    const time_point fit_at = nodes_.preferred_is_fit_at(c, queue_node, now);
    if (fit_at < asks_again_at)
        asks_again_at = fit_at + jitter_.between(shortest_spread, longest_spread);
    c.queue.enter(queue_node, asks_again_at);
}

void fair_queue::send(
    std::size_t node, std::string_view command, request_kind kind, claim_id id, time_point now)
{
    nodes_.send(node, command, {.reference = id, .kind = kind, .sent = now});
}

void fair_queue::enqueue(claim_id id, bool by_text, time_point now)
{
    claim& c = claims_[id];
    const std::string place = dialect_.common().place_of(c, id);
    nodes_.send(c.queue.node, dialect_.common().enqueue(c, place, by_text),
        {.reference = id, .kind = request_kind::enqueue, .by_text = by_text, .sent = now});
    c.keys[c.queue.node].queued = c.keys[c.queue.node].tried = true;
    c.queue.asked();
    c.queue.ticket->entered = std::min(c.queue.ticket->entered, now);
    c.keys.stays(now + std::max(c.params.ttl, queue_ttl));
    claims_.wake_at(id, now + nodes_.patience(c.params.ttl));
}

// A claim that waits at its queue node without success may find that other clients use another one.
// In all queues, it gets its turn wherever they hand off the resource. It takes no place where
// turns have led to no lease: there it may be ahead of clients that come before it at the common
// queue node, and turns that come so early cost it its other places.
void fair_queue::join_all(claim_id id, time_point now)
{
    claim& c = claims_[id];
    c.queue.everywhere = true;
    const std::string_view command = dialect_.common().join(c, dialect_.common().place_of(c, id));
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        if (i == c.queue.node || !nodes_[i].server().keeps_queue || nodes_[i].congested(now) ||
            (!c.keys[i].queued && nodes_.unfit().is_fruitless(c.hash, i, now)))
            continue;
        send(i, command, request_kind::join, id, now);
        c.keys[i].queued = true;
    }
    c.keys.stays(now + queue_ttl);
}

bool fair_queue::say_again(std::size_t node, const request& r, time_point now)
{
    const claim* const c = claims_.find(r.reference);
    if (c == nullptr || c->stage != claim_stage::queued || c->queue.node != node)
        return false;
    enqueue(r.reference, true, now);
    return true;
}

fair_queue::outcome fair_queue::on_reply(
    std::size_t node, const request& r, reply answer, time_point now)
{
    const claim_id id = r.reference;
    const claim* const c = r.kind == request_kind::owner ? nullptr : claims_.find(id);
    switch (r.kind) {
    case request_kind::enqueue:
        return on_enqueued(node, r, answer, now);
    case request_kind::first:
        return on_first(node, id, answer, now);
    case request_kind::owner:
        if (const claim_id about = owners_.on_reply(node, r, answer); about != 0)
            return judge_owners(about, now);
        return {};
    case request_kind::join:
    case request_kind::leave:
        if (c != nullptr)
            nodes_.note_if_unusable(node, c, dialect_.names().queue_of(c->lock), answer, now);
        return {};
    case request_kind::tracked:
        if (tracking_.on_reply(node, id, answer, now))
            on_changed(node, id, now);
        return {};
    default:
        return {}; // `track`: a node that forbids it does not tell us
    }
}

fair_queue::outcome fair_queue::on_enqueued(
    std::size_t node, const request& r, reply answer, time_point now)
{
    using meaning = place_answer::meaning;
    const claim_id id = r.reference;
    claim* const c = claims_.find(id);
    const place_answer a = read_place_answer(answer);
    const bool is_gift = answer.front().kind == resp::value_kind::blob_string;
    if (a.said == meaning::broken && !is_gift) {
        if (c != nullptr)
            c->stray();
        nodes_.fail(node, now); // this chooses another queue node
        return {};
    }
    // Once it is our turn, or the claim is given up, only later answers count.
    if (c == nullptr || c->stage != claim_stage::queued || c->queue.node != node)
        return {};
    c->queue.ticket->answered_in = now - r.sent;
    switch (a.said) {
    case meaning::granted:
        c->note_end(now);
        return take_turn(id, r.sent, now);
    case meaning::waits:
        return wait(id, a.left, now);
    case meaning::window:
        return stay_out(id, a.left, now);
    case meaning::broken:
        return wait_without_place(id); // the gift cannot be used
    default:
        nodes_.note_queue_error(node, c, dialect_.names().queue_of(c->lock), answer, now);
        return change_node(id, now);
    }
}

// The queue node has granted the request that was sent at `asked`.
fair_queue::outcome fair_queue::take_turn(claim_id id, time_point asked, time_point now)
{
    claim& c = claims_[id];
    if (!c.queue.has_waited)
        hints_.note_free(c.hash, now);
    c.sent(c.queue.node, asked);
    c.keys.answered(c.queue.node);
    c.granted(c.queue.node, asked);
    nodes_.unfit().forget_stale(c.hash, c.queue.node);
    nodes_.note_end(c.queue.node, c.lock, true);
    c.keys[c.queue.node].queued = c.queue.everywhere; // another request for a place may cross it
    c.queue.has_turn(c.queue.node);
    return {.then = then::round, .claim = id};
}

// The key will be free in so many ms, or at an unknown time (-1).
fair_queue::outcome fair_queue::wait(claim_id id, std::int64_t held_for_ms, time_point now)
{
    claim& c = claims_[id];
    const bool began = c.queue.waits();
    nodes_.note_end(c.queue.node, c.lock, held_for_ms != -1);
    hints_.windows.note_contention(c.hash, now);
    if (!c.queue.surveyed && (held_for_ms < 0 || !hints_.contention.knows_turns(c.hash, now)))
        owners_.ask(id, now);
    hints_.contention.note(c.hash, now);
    queue_ticket& ticket = *c.queue.ticket;
    ticket.queue_node_held_until = core::never;
    if (held_for_ms >= 0) {
        ticket.queue_node_held_until = core::later(now, std::chrono::milliseconds(held_for_ms));
        if (ticket.queue_node_held_until < ticket.asks_again_at)
            ticket.asks_again_at =
                ticket.queue_node_held_until + jitter_.between(shortest_spread, longest_spread);
    }
    time_point ask_at = ticket.asks_again_at;
    if (!c.queue.tracked && (!c.queue.surveyed || nodes_[c.queue.node].server().tracks))
        ask_at = std::min(ask_at, time_of_look(jitter_, now));
    claims_.wake_at(id, ask_at);
    outcome o = judge_owners(id, now);
    o.claim = id;
    o.began_to_wait = began;
    return o;
}

// Until it asks for another place.
fair_queue::outcome fair_queue::wait_without_place(claim_id id)
{
    claim& c = claims_[id];
    const bool began = c.queue.waits();
    claims_.wake_at(id, c.queue.ticket->asks_again_at);
    return {.began_to_wait = began, .claim = id};
}

// The key is free, but left to polling clients for that much longer.
fair_queue::outcome fair_queue::stay_out(claim_id id, std::int64_t for_ms, time_point now)
{
    claim& c = claims_[id];
    hints_.contention.note(c.hash, now);
    owners_.end(c);
    const time_point ends =
        now + std::chrono::milliseconds(for_ms) + jitter_.between(shortest_spread, longest_spread);
    const bool began = c.queue.waits_for_window(ends, ends + longest_spread);
    claims_.wake_at(id, ends);
    return {.began_to_wait = began, .claim = id};
}

fair_queue::outcome fair_queue::on_due(claim_id id, time_point now)
{
    claim& c = claims_[id];
    if (std::exchange(c.queue.stays_out, false)) {
        enqueue(id, false, now);
    } else if (!c.queue.answer_due && now < c.queue.ticket->asks_again_at) {
        send(c.queue.node, dialect_.common().first_of_queue(c), request_kind::first, id, now);
        claims_.wake_at(id, c.queue.ticket->asks_again_at);
    } else if (!c.queue.answer_due) {
        const std::size_t queue_node = nodes_.queue_node_of(c, now, node_pool::among::waiting);
        if (queue_node == max_nodes)
            return go_without_turn(id, now);
        c.keys.forget_tried(); // if this one is silent, our place at another still counts
        enter(c, queue_node, now);
        enqueue(id, false, now);
        join_all(id, now);
        owners_.ask(id, now);
    } else if (nodes_[c.queue.node].answers_within(nodes_.patience(c.params.ttl), now)) {
        claims_.wake_at(id, now + nodes_.patience(c.params.ttl)); // it is busy
    } else {
        if (!c.queue.cut_off) // otherwise it is the same request
            nodes_[c.queue.node].count_timeout();
        if (nodes_.queue_node_of(c, now, node_pool::among::untried) == max_nodes)
            return go_without_turn(id, now);
        return change_node(id, now);
    }
    return {};
}

// No node keeps the queue now, so all nodes are asked for their keys. But while too few of them
// answer, that would be in vain, and would cost a claim that waits its places.
fair_queue::outcome fair_queue::go_without_turn(claim_id id, time_point now)
{
    claim& c = claims_[id];
    if (!c.queue.has_waited || nodes_.majority_answers(c.params.ttl, now))
        return {.then = then::round, .claim = id};
    c.queue.cut_off = true;
    claims_.wake_at(id, now + nodes_.patience(c.params.ttl));
    return {};
}

// Asks the next node in the order of ranks. We keep our place at the first: if it comes back, it
// may hand its key off to us. If there is no other node, the round is opened without a turn.
fair_queue::outcome fair_queue::change_node(claim_id id, time_point now)
{
    const std::size_t queue_node =
        nodes_.queue_node_of(claims_[id], now, node_pool::among::untried);
    if (queue_node == max_nodes)
        return {.then = then::round, .claim = id};
    join(id, queue_node, now);
    return {};
}

void fair_queue::on_tracking(std::size_t node, reply push, time_point now)
{
    for (const claim_id each : tracking_.changed_by(push))
        on_changed(node, each, now);
}

void fair_queue::note_turn(claim_id id, std::size_t node, time_point now)
{
    claim& c = claims_[id];
    hints_.contention.note_turn(c.hash, now);
    c.queue.has_turn(node);
}

// The first in the queue watches for clients that do not use the queue. It also asks the other
// nodes.
fair_queue::outcome fair_queue::on_first(
    std::size_t node, claim_id id, reply answer, time_point now)
{
    claim* const c = claims_.find(id);
    if (c == nullptr || c->stage != claim_stage::queued || c->queue.node != node)
        return {};
    if (nodes_.note_if_unusable(node, c, dialect_.names().queue_of(c->lock), answer, now))
        return change_node(id, now);
    if (answer.size() != 2 || !answer[1].text.starts_with(c->token.view()))
        return {};
    if (nodes_[node].server().tracks) // its answer comes before that about the owner
        tracking_.begin(id, node, now);
    if (!c->queue.surveyed)
        owners_.ask(id, now);
    return {};
}

// The queue node's key is free, or has another expiry: the queue node knows which.
void fair_queue::on_changed(std::size_t node, claim_id id, time_point now)
{
    claim* const c = claims_.find(id);
    if (c == nullptr || c->stage != claim_stage::queued || c->queue.node != node ||
        !c->queue.tracked)
        return;
    c->queue.tracked = false;
    if (!c->queue.answer_due)
        enqueue(id, false, now);
}

// The client to which the key was handed off is about to ask the other nodes. An attempt that had
// begun before we knew that would only take nodes from it.
bool fair_queue::gives_way(std::size_t node, claim& c, time_point now) const noexcept
{
    if (node != nodes_.queue_node_of(c, now) || c.queue.handed_over ||
        c.params.queue == core::queueing::none)
        return false;
    c.queue.others_first = true;
    return c.stage == claim_stage::asking && !c.queue.has_waited &&
           hints_.contention.knows(c.hash, now);
}

// The key at the queue node may not be that of the holder: its owner may have crashed during a
// release, or the holder may not have reached that node. Then no client hands it off.
fair_queue::outcome fair_queue::judge_owners(claim_id id, time_point now)
{
    using finding = owner_survey::finding;
    claim& c = claims_[id];
    const owner_survey* const found_by_now = owners_.find(c);
    if (found_by_now == nullptr)
        return {};
    const owner_survey owners = *found_by_now;
    const finding found = owners.judge(c.queue.node);
    if (found == finding::conflict)
        return {.then = then::refused, .reason = errc::key_conflict, .claim = id};
    if (found == finding::open || c.queue.answer_due || c.queue.stays_out)
        return {};

    owners_.end(c);
    if (found == finding::free && owners.is_free(c.queue.node)) { // since it reported the owner
        enqueue(id, false, now);
        return {};
    }
    unfit_queue_nodes& unfit = nodes_.unfit();
    const std::uint64_t there = owners.owner(c.queue.node);
    const bool settled = unfit.is_settled(c.hash, c.queue.node, there, now);
    if (!settled && key_owners::may_change(c, now)) {
        // Then the other nodes are free for a moment, or not yet free.
        unfit.note_owner(c.hash, c.queue.node, there, now);
        c.queue.surveyed = false;
        claims_.wake_at(id, std::min(c.queue.ticket->asks_again_at, time_of_look(jitter_, now)));
        return {};
    }
    distrust_minority(c, owners, now);
    if (found == finding::elsewhere)
        return change_node(id, now);
    hints_.contention.forget(c.hash);
    return {.then = then::round, .claim = id};
}

// These nodes keep no queue of this resource for a while.
void fair_queue::distrust_minority(const claim& c, const owner_survey& owners, time_point now)
{
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        if (owners.is_minority(i))
            nodes_.unfit().note_stale(c.hash, i, owners.owner(i),
                i == c.queue.node ? c.queue.ticket->queue_node_held_until : core::never, now);
    }
}

} // namespace holdfast::redis
