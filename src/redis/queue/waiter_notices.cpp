#include "redis/queue/waiter_notices.hpp"

#include "redis/node/scripts.hpp"
#include "redis/quorum/rendezvous.hpp"

namespace holdfast::redis {

using core::claim_id;
using core::time_point;

void waiter_notices::ask(claim_id id, time_point now)
{
    const claim& c = claims_[id];
    const std::size_t first = nodes_.queue_node_of(c, now);
    const bool refused = first != max_nodes && !c.keys.may_hold(first);
    const std::size_t node =
        refused ? max_nodes : nodes_.queue_node_of(c, now, node_pool::among::holding);
    if (const auto before = set_.find(id); before != set_.end() && before->second.node != node)
        end_tracking(id, now);
    if (refused)
        return note(id); // another process has it there, or may have it
    if (node == max_nodes || !nodes_[node].server().tracks || nodes_[node].congested(now)) {
        end(id);
        unasked_.insert(id);
        return;
    }
    unasked_.erase(id);
    nodes_.send(
        node, calls_.track_next(), {.reference = id, .kind = request_kind::track, .sent = now});
    nodes_.send(
        node, calls_.has_queue(c), {.reference = id, .kind = request_kind::notice, .sent = now});
    const std::uint64_t queue = hash_of(calls_.queue_of(c));
    const auto [set, is_new] = set_.try_emplace(id);
    const notice before = set->second;
    set->second = {
        .node = node, .queue = queue, .looks_at = before.looks_at, .looks = before.looks};
    by_queue_[queue] = id;
    if (!is_new)
        look_elsewhere(id, now);
}

// One request at a time: a silent node is not asked without end. A place there may be our own.
void waiter_notices::look_elsewhere(claim_id id, time_point now)
{
    notice& n = set_.at(id);
    const claim& c = claims_[id];
    for (std::size_t i = 0; i < nodes_.size() && !n.looks; ++i) {
        n.looks_at = (n.looks_at + 1) % nodes_.size();
        node_session& other = nodes_[n.looks_at];
        const bool is_own = c.keys[n.looks_at].queued && now < c.round_began + queue_ttl;
        if (n.looks_at == n.node || is_own || !nodes_.is_ready(n.looks_at) ||
            !other.server().keeps_queue || other.congested(now))
            continue;
        nodes_.send(n.looks_at, calls_.has_queue(c),
            {.reference = id, .kind = request_kind::notice, .sent = now});
        n.looks = true;
    }
}

void waiter_notices::on_tracked(std::size_t node, claim_id id, reply answer)
{
    const auto found = set_.find(id);
    if (found != set_.end() && found->second.node == node)
        found->second.untracked = answer.front().kind == resp::value_kind::error;
}

void waiter_notices::on_reply(std::size_t node, claim_id id, reply answer, time_point now)
{
    const auto found = set_.find(id);
    if (found == set_.end())
        return;
    const resp::value& v = answer.front();
    if (found->second.looks_at == node)
        found->second.looks = false; // also if it is the one to tell by now
    if (found->second.node != node) {
        if (v.kind == resp::value_kind::integer && v.integer != 0) {
            claims_[id].keys[node].others_wait = true;
            end_tracking(id, now);
            note(id);
        }
        return;
    }
    found->second.begun = true;
    if (v.kind == resp::value_kind::integer && v.integer != 0)
        note(id);
    else if (v.kind != resp::value_kind::integer || found->second.untracked)
        end(id);
}

void waiter_notices::on_push(std::size_t node, reply push)
{
    if (set_.empty() || push.size() < 3 || push[1].text != "invalidate")
        return;
    const auto is_told = [node](const notice& n) {
        return n.node == node && n.begun;
    };
    std::vector<claim_id> changed;
    if (push[2].kind == resp::value_kind::null) { // all keys are gone, and nothing is tracked
        for (const auto& [id, each] : set_) {
            if (is_told(each))
                changed.push_back(id);
        }
    }
    for (const resp::value& name : push.subspan(3)) {
        const auto found = by_queue_.find(hash_of(name.text));
        if (found != by_queue_.end() && is_told(set_.at(found->second)))
            changed.push_back(found->second);
    }
    for (const claim_id each : changed)
        note(each);
}

void waiter_notices::on_down(std::size_t node, time_point now)
{
    std::vector<claim_id> lost;
    for (auto& [id, each] : set_) {
        each.looks = each.looks && each.looks_at != node;
        if (each.node == node)
            lost.push_back(id);
    }
    for (const claim_id each : lost) {
        end(each);
        if (claims_[each].stage == claim_stage::held)
            ask(each, now);
    }
}

void waiter_notices::on_ready(time_point now)
{
    const std::vector<claim_id> unasked(unasked_.begin(), unasked_.end());
    for (const claim_id each : unasked) {
        if (claims_[each].stage == claim_stage::held)
            ask(each, now);
    }
}

// The other process perhaps only tries, and never joins the queue.
void waiter_notices::on_refused(std::size_t node, claim_id id, time_point now)
{
    if (const auto found = set_.find(id); found != set_.end() && found->second.node == node) {
        end_tracking(id, now);
        note(id);
    }
}

void waiter_notices::stop(claim_id id, time_point now)
{
    end_tracking(id, now);
    forget(id);
}

std::optional<claim_id> waiter_notices::next_found() noexcept
{
    while (!found_.empty()) {
        const claim_id id = found_.back();
        found_.pop_back();
        if (const claim* const c = claims_.find(id); c && c->stage == claim_stage::held)
            return id;
    }
    return std::nullopt;
}

// If nobody has waited, the node would track the queue for good. If the next claim is told about
// it already, that one ends it.
void waiter_notices::end_tracking(claim_id id, time_point now)
{
    const auto found = set_.find(id);
    if (found == set_.end())
        return;
    const notice& n = found->second;
    const auto latest = by_queue_.find(n.queue);
    if (!n.untracked && latest != by_queue_.end() && latest->second == id &&
        nodes_.is_ready(n.node))
        nodes_.send(n.node, calls_.untrack_queue(claims_[id]),
            {.reference = id, .kind = request_kind::untrack, .sent = now});
}

// Others wait: no node has to tell it any more.
void waiter_notices::note(claim_id id)
{
    end(id);
    unasked_.erase(id);
    found_.push_back(id);
}

// Another claim for the same resource may have come after it.
void waiter_notices::end(claim_id id) noexcept
{
    const auto found = set_.find(id);
    if (found == set_.end())
        return;
    const auto latest = by_queue_.find(found->second.queue);
    if (latest != by_queue_.end() && latest->second == id)
        by_queue_.erase(latest);
    set_.erase(found);
}

} // namespace holdfast::redis
