#include "redis/cleanup.hpp"

namespace holdfast::redis {

using core::claim_id;
using core::time_point;
using key = claim_node::key;

void cleanup::ask(claim_id id, bool was_lease, time_point now)
{
    claim& c = claims_[id];
    if (c.gives() != queue_ticket::passing::no)
        return; // only the queue node knows whose the keys are
    std::bitset<max_nodes> due;
    for (std::size_t i = 0; i < c.keys.size(); ++i)
        due[i] = c.keys.may_hold(i) && !c.keys[i].deleting && nodes_.is_ready(i);
    if (due.none())
        return;
    using among = node_pool::among;
    const std::size_t queue_node =
        c.gave_at() != max_nodes
            ? c.gave_at() // its key may have been handed off there already
            : nodes_.queue_node_of(c, now, was_lease ? among::holding : among::all);
    // Only there: if all nodes handed off, different clients could get one node each.
    std::bitset<max_nodes> hands_off;
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        const claim_node& n = c.keys[i];
        const bool only_queued = n.queued && n.state == key::absent;
        const bool only_there =
            n.others_wait && (queue_node == max_nodes || !c.keys[queue_node].others_wait);
        hands_off[i] =
            due[i] && (i == queue_node || i == c.queue.node || only_queued || only_there);
        // The next waiter there is not told: the queue node announces the turn.
        if (due[i] && n.queued && !hands_off[i])
            send_leave(id, i, now);
    }
    const std::bitset<max_nodes> removes = due & ~hands_off;
    std::string_view command;
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        if (!removes[i])
            continue;
        if (command.empty() || c.came_by_baton() != nullptr) // not the same value at all nodes
            command = dialect_.common().remove(c, i, false);
        nodes_.send(i, command, {.reference = id, .kind = request_kind::remove, .sent = now});
        sent(c, i);
    }
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        if (!hands_off[i])
            continue;
        c.keys[i].leaves_open = was_lease && i == queue_node && opens_window(c, now);
        hand_off(id, i, {}, now);
    }
}

void cleanup::ask_late(claim_id id, std::size_t node, time_point now)
{
    using passing = queue_ticket::passing;
    const claim& c = claims_[id];
    const bool may_ask =
        c.gives() == passing::no || (c.gives() == passing::in_doubt && node == c.gave_at());
    const bool may_be_there = c.keys[node].queued || now < c.keys.gone_at();
    if (may_ask && may_be_there && c.keys.may_hold(node))
        hand_off(id, node, {}, now);
}

void cleanup::leave_queue(claim_id id, std::size_t node, time_point now)
{
    const claim& c = claims_[id];
    if (c.keys[node].queued)
        nodes_.send(node, dialect_.common().leave(c, dialect_.common().place_of(c, id)),
            {.reference = id, .kind = request_kind::leave, .sent = now});
}

// A lease that came by a baton has another token than the place: the key may have been handed off
// to the place as well. Where the lease was given, that token may be that of its keys.
void cleanup::send_leave(claim_id id, std::size_t node, time_point now)
{
    const claim& c = claims_[id];
    leave_queue(id, node, now);
    if (const custody* const b = c.came_by_baton(); b != nullptr && b->place.text != c.token.text)
        nodes_.send(node, dialect_.common().remove_turn(c),
            {.reference = id, .kind = request_kind::leave, .sent = now});
}

// Whether the release of this lease asks for a window. If so, our own next attempt keeps out of the
// window, too: it goes through the queue.
bool cleanup::opens_window(const claim& c, time_point now)
{
    if (!dialect_.has_polling_clients() ||
        !hints_.windows.is_due(c.hash, c.params.polling, c.window_due, now))
        return false;
    hints_.contention.note(c.hash, now);
    return true;
}

void cleanup::remove(claim_id id, std::size_t node, manner how, time_point now)
{
    claim& c = claims_[id];
    nodes_.send(node, dialect_.common().remove(c, node, how.by_text),
        {.reference = id,
            .kind = request_kind::remove,
            .by_text = how.by_text,
            .follows = how.follows,
            .sent = now});
    sent(c, node);
}

void cleanup::hand_off(claim_id id, std::size_t node, manner how, time_point now)
{
    claim& c = claims_[id];
    const std::string place =
        c.keys[node].queued ? dialect_.common().place_of(c, id) : std::string();
    nodes_.send(node, dialect_.common().hand_off(c, node, place, how.by_text),
        {.reference = id,
            .kind = request_kind::hand_off,
            .by_text = how.by_text,
            .follows = how.follows,
            .sent = now});
    sent(c, node);
    c.keys[node].hands_off = true;
}

void cleanup::sent(claim& c, std::size_t node) noexcept
{
    under_way_ += c.keys[node].deleting ? 0u : 1u;
    c.keys[node].deleting = true;
}

void cleanup::ended(claim_node& n) noexcept
{
    under_way_ -= n.deleting ? 1u : 0u;
    n.deleting = n.hands_off = false;
}

bool cleanup::say_again(std::size_t node, const request& r, time_point now)
{
    if (claims_.find(r.reference) == nullptr)
        return false;
    if (r.kind == request_kind::remove)
        remove(r.reference, node, {.by_text = true, .follows = r.follows}, now);
    else
        hand_off(r.reference, node, {.by_text = true, .follows = r.follows}, now);
    return true;
}

void cleanup::on_reply(std::size_t node, const request& r, reply answer, time_point now)
{
    claim* const c = claims_.find(r.reference);
    if (c == nullptr)
        return;
    ended(c->keys[node]);
    const resp::value& v = answer.front();
    if (v.kind == resp::value_kind::error && r.kind == request_kind::hand_off) {
        nodes_.note_queue_error(node, c, dialect_.names().queue_of(c->lock), answer, now);
        // The key must go in any case.
        remove(r.reference, node, {.follows = true}, now);
    } else if (v.kind == resp::value_kind::integer) {
        if (may_have_gift(*c, node, r, v.integer))
            return hand_off(r.reference, node, {.follows = true}, now);
        note_deletion(*c, node, r, v.integer, now);
    } else if (v.kind == resp::value_kind::blob_string && r.kind == request_kind::hand_off) {
        note_deletion(*c, node, r, 0, now); // another client's lease: see life_cycle::on_baton
    } else if (v.kind != resp::value_kind::error) { // an error leaves the key to its ttl
        nodes_.fail(node, now);
    }
}

// The claim had also asked for the key, where it has a place. The key is not ours, but its value
// may be a lease that was given to the place, and the message may be lost.
bool cleanup::may_have_gift(
    const claim& c, std::size_t node, const request& r, std::int64_t answer) const noexcept
{
    return r.kind == request_kind::remove && !r.follows && answer == 0 && c.keys[node].queued &&
           dialect_.common().knows_batons();
}

void cleanup::note_deletion(
    claim& c, std::size_t node, const request& r, std::int64_t answer, time_point now)
{
    constexpr std::int64_t deleted = 1, handed_off = 2, window_open = 3;
    const bool hands_off = r.kind == request_kind::hand_off;
    if (answer == window_open)
        hints_.windows.opened(c.hash, c.params.polling, now);
    else if (hands_off && c.keys[node].leaves_open)
        hints_.windows.refused(c.hash, c.params.polling, now);
    if (answer == handed_off) {
        hints_.contention.note_turn(c.hash, now);
        hints_.windows.note_contention(c.hash, now);
        c.queue.others_first = true;
    } else if (hands_off && answer == deleted && !c.queue.others_first && now < c.keys.gone_at()) {
        hints_.note_free(c.hash, now);
    }
    c.keys.deleted(node, answer != 0);
    if (c.gives() != queue_ticket::passing::in_doubt)
        return;
    if (answer == 0)
        c.relinquish(); // or the node has lost the key: the others end by themselves
    else
        c.queue.ticket->gives = queue_ticket::passing::no;
    ask(r.reference, false, now);
}

void cleanup::lose_answer(std::size_t node, claim_id id)
{
    if (claim* const c = claims_.find(id))
        ended(c->keys[node]);
}

bool cleanup::is_under_way(const claim& c) const noexcept
{
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        if (c.keys[i].deleting)
            return true;
    }
    return false;
}

bool cleanup::awaits_news(const claim& c) const noexcept
{
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        if (c.keys[i].deleting && (c.keys[i].queued || c.keys[i].hands_off))
            return true;
    }
    return false;
}

void cleanup::forget(claim& c) noexcept
{
    for (std::size_t i = 0; i < c.keys.size(); ++i)
        ended(c.keys[i]);
}

} // namespace holdfast::redis
