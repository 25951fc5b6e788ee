// What nodes say to redlock_core without being asked: whose turn it is, and which keys have
// changed. All of it are hints: see redlock_queue.cpp.
#include "redis/redlock_core.hpp"
#include "resp/command.hpp"

#include <charconv>

namespace holdfast::redis {

using core::claim_id;
using core::time_point;
using stage = claim::stage;

namespace {

constexpr std::size_t token_length = 32;

// More requests than that are not under way to a node for one claim, however often it calls.
constexpr unsigned most_open = 16;

std::optional<claim_id> claim_of(std::string_view reference)
{
    claim_id id = 0;
    const auto [end, ec] =
        std::from_chars(reference.data(), reference.data() + reference.size(), id, 16);
    if (ec != std::errc() || end != reference.data() + reference.size())
        return std::nullopt;
    return id;
}

} // namespace

void redlock_core::on_push(std::size_t node, reply push, time_point now)
{
    if (push.size() < 3)
        return;
    if (push.size() == 4 && push[1].text == "message")
        return on_turn(node, push[3].text, now);
    if (push[1].text != "invalidate")
        return;
    if (push[2].kind == resp::value_kind::null) { // all keys are gone
        for (const auto& [hash, id] : std::vector(tracked_.begin(), tracked_.end()))
            on_changed(node, id, now);
    }
    for (const resp::value& name : push.subspan(3)) {
        const auto found = tracked_.find(hash_of(name.text));
        if (found != tracked_.end())
            on_changed(node, found->second, now);
    }
}

void redlock_core::on_turn(std::size_t node, std::string_view message, time_point now)
{
    if (message.size() != token_length + reference_length)
        return;
    const auto id = claim_of(message.substr(token_length));
    claim* const c = id ? claims_.find(*id) : nullptr;
    if (c == nullptr || !c->at[node].queued || c->token.view() != message.substr(0, token_length))
        return;
    if (c->phase == stage::queued) {
        contention_.note_turn(c->hash, now);
        c->queue_node = node;
        c->handed_over = true;
        send_confirm(node, *id, false, now);
        begin_round(*id, now);
    } else if (c->phase == stage::asking || c->phase == stage::held) {
        if (c->at[node].open < most_open)
            send_confirm(node, *id, false, now); // we had gone on without it: one node more
    }                                            // else it is being deleted
}

// Whoever uses the key without the queue tells nobody when he is done. The queue_node does, but
// once, and to each who asks: so only the first in the queue asks. It also asks the others.
void redlock_core::ask_who_is_first(claim_id id, time_point now)
{
    const claim& c = claims_[id];
    name_queue(c);
    command_.clear();
    resp::append_command(command_, {"ZRANGE", queue_, "0", "0"});
    send(c.queue_node, request_kind::first, id, now);
}

void redlock_core::on_first(std::size_t node, claim_id id, reply answer, time_point now)
{
    claim* const c = claims_.find(id);
    if (c == nullptr || c->phase != stage::queued || c->queue_node != node)
        return;
    if (note_if_unusable(node, id, answer, now))
        return change_queue_node(id, now);
    if (answer.size() != 2 || !answer[1].text.starts_with(c->token.view()))
        return;
    if (!c->surveyed)
        ask_for_owners(id, now);
    if (!sessions_[node]->tracks())
        return;
    command_.clear();
    resp::append_command(command_, {"CLIENT", "CACHING", "YES"});
    send(node, request_kind::track, id, now);
    command_.clear();
    resp::append_command(command_, {"PTTL", c->lock});
    send(node, request_kind::tracked, id, now);
    c->tracked = true;
    tracked_[c->hash] = id;
}

void redlock_core::on_tracked(std::size_t node, claim_id id, reply answer, time_point now)
{
    constexpr std::int64_t free = -2;
    if (answer.front().kind == resp::value_kind::integer && answer.front().integer == free)
        on_changed(node, id, now);
}

// The queue_node's key is free, or has another end: the queue_node knows.
void redlock_core::on_changed(std::size_t node, claim_id id, time_point now)
{
    claim* const c = claims_.find(id);
    if (c == nullptr || c->phase != stage::queued || c->queue_node != node || !c->tracked)
        return;
    c->tracked = false;
    if (!c->answer_due)
        send_enqueue(id, false, now);
}

void redlock_core::forget_tracking(claim_id id) noexcept
{
    if (tracked_.empty())
        return;
    const auto found = tracked_.find(claims_[id].hash);
    if (found != tracked_.end() && found->second == id)
        tracked_.erase(found);
}

} // namespace holdfast::redis
