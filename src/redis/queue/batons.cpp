#include "redis/queue/batons.hpp"

#include "redis/node/scripts.hpp"

#include <algorithm>
#include <chrono>

namespace holdfast::redis {

using core::claim_id;
using core::time_point;
using key = claim_node::key;
using passing = queue_ticket::passing;
using namespace std::chrono_literals;

namespace {

constexpr core::duration haste = 1s; // after a wait in vain
// The keys stay until the queue node has answered. One that is slower is not waited for.
constexpr core::duration slowest_answer = 25ms;
// All other waiters came after this one. A client that stands still and is given a lease keeps it
// to its end, so it is given only to clients that were well so long ago.
constexpr core::duration longest_stay = 1s;

// Whether no request about a key is under way.
bool is_settled(const claim& c) noexcept
{
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        const claim_node& n = c.keys[i];
        if (n.open != 0 || n.renewing != 0 || n.repairing)
            return false;
        if (c.round.is_fenced() && c.round.ballots().is_under_way(i))
            return false; // the node may yet count
    }
    return true;
}

// Whether a node may hold the key without counting. It would count for the next holder.
bool has_doubtful_keys(const claim& c) noexcept
{
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        if (c.keys[i].state == key::repaired || c.keys[i].state == key::asked)
            return true;
    }
    return false;
}

// The waiters would use a good part of the time that is left to confirm the keys; and a release
// that deletes them reaches nodes that the lease does not have.
bool is_fresh(const claim& c, time_point now) noexcept
{
    return c.keys.valid_until() >= now + c.params.ttl * 7 / 10; // `long_ago` without a majority
}

// What the script answers, besides 0.
constexpr std::int64_t nobody_waits = 1; // the key is ours as before
constexpr std::int64_t given = 2, handed_off = 3;

bool is_outcome(const resp::value& v) noexcept
{
    return v.kind == resp::value_kind::error ||
           (v.kind == resp::value_kind::integer && v.integer >= 0 && v.integer <= handed_off);
}

std::chrono::milliseconds lag_of(const claim& c) noexcept
{
    const custody* const b = c.came_by_baton();
    if (b != nullptr && !b->renewed)
        return b->lag;
    const core::duration behind =
        c.queue.ticket->keys_end - (c.keys.valid_until() + c.params.drift);
    return std::chrono::ceil<std::chrono::milliseconds>(std::max(behind, core::duration(0)));
}

} // namespace

passing batons::begin(claim_id id, time_point now)
{
    claim& c = claims_[id];
    // Only if the lease has been waited for in the queue: others probably wait there, too.
    if (!dialect_.common().knows_batons() || !c.queue.handed_over || !c.queue.has_waited ||
        c.queue.ticket->strayed || c.queue.ticket->answered_in > slowest_answer ||
        now - c.queue.ticket->entered > longest_stay ||
        (dialect_.has_polling_clients() &&
            hints_.windows.is_due(c.hash, c.params.polling, c.window_due, now)))
        return passing::no;
    if (!is_settled(c) && now < hasty_until_)
        return passing::no;
    return go_on(id, now);
}

passing batons::go_on(claim_id id, time_point now)
{
    claim& c = claims_[id];
    const std::size_t node = nodes_.queue_node_of(c, now, node_pool::among::holding);
    passing& gives = c.queue.ticket->gives;
    if (!may_give(c, node, now)) {
        gives = passing::no;
    } else if (!is_settled(c)) {
        gives = passing::waits;
    } else if (has_doubtful_keys(c) || !c.round.can_be_given()) {
        gives = passing::no;
    } else {
        gives = passing::sent;
        c.queue.ticket->gave_at = static_cast<std::uint8_t>(node);
        send(id, node, false, now);
    }
    return gives;
}

// Where our own entry may still be in a queue, that queue may set the key to our token again, after
// the lease has ended. And `longest_stay` is about the queue of the node where we had our turn.
bool batons::may_give(const claim& c, std::size_t node, time_point now) const noexcept
{
    if (node == max_nodes || node != c.queue.node || c.keys.is_queued() || !nodes_.is_ready(node) ||
        nodes_[node].congested(now) || c.keys[node].state != key::ours || c.queue.ticket->strayed ||
        !is_fresh(c, now))
        return false;
    const custody* const b = c.came_by_baton();
    return b == nullptr || b->node == node;
}

passing batons::end_wait(claim_id id, time_point now)
{
    passing state = go_on(id, now);
    if (state == passing::waits) {
        hasty_until_ = now + haste;
        state = claims_[id].queue.ticket->gives = passing::no;
    }
    return state;
}

void batons::send(claim_id id, std::size_t node, bool by_text, time_point now)
{
    const claim& c = claims_[id];
    ++under_way_;
    const std::string terms = terms_of(lag_of(c), c.round.next_fence());
    nodes_.send(node, dialect_.common().give_baton(c, node, terms, by_text),
        {.reference = id, .kind = request_kind::give, .by_text = by_text, .sent = now});
}

bool batons::say_again(std::size_t node, const request& r, time_point now)
{
    const claim* const c = claims_.find(r.reference);
    if (c == nullptr || c->gives() != passing::sent)
        return false;
    --under_way_;
    send(r.reference, node, true, now);
    return true;
}

batons::result batons::on_reply(std::size_t node, const request& r, reply answer, time_point now)
{
    --under_way_;
    claim* const found = claims_.find(r.reference);
    if (found == nullptr)
        return result::given; // or its keys have ended
    claim& c = *found;
    const resp::value& v = answer.front();
    if (!is_outcome(v)) { // that of another request, perhaps
        c.queue.ticket->gives = passing::in_doubt;
        return result::unusable;
    }
    c.queue.ticket->gives = passing::no;
    if (v.kind == resp::value_kind::error) { // then it has changed nothing
        nodes_.note_queue_error(node, &c, dialect_.names().queue_of(c.lock), answer, now);
        return result::kept;
    }
    if (v.integer == given || v.integer == handed_off) {
        hints_.contention.note_turn(c.hash, now);
        hints_.windows.note_contention(c.hash, now);
        c.queue.others_first = true;
    }
    if (v.integer == given) {
        c.relinquish(); // sets `gives`, too
        return result::given;
    }
    if (v.integer != nobody_waits)
        c.keys.deleted(node, v.integer == handed_off);
    return result::kept;
}

void batons::lose_answer(claim_id id) noexcept
{
    --under_way_;
    if (claim* const c = claims_.find(id); c != nullptr && c->gives() == passing::sent)
        c->queue.ticket->gives = passing::in_doubt;
}

} // namespace holdfast::redis
