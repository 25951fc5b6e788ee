// What becomes of the nodes of redlock_core: they come, and go, and one may be the same as another.
#include "redis/redlock_core.hpp"

namespace holdfast::redis {

using core::claim_id;
using core::time_point;
using key = claim_node::key;
using stage = claim::stage;

void redlock_core::close(time_point now)
{
    for (const auto& s : sessions_)
        s->shut(now);
}

std::vector<node_stats> redlock_core::nodes() const
{
    std::vector<node_stats> all;
    for (const auto& s : sessions_)
        all.push_back(s->stats());
    return all;
}

std::string redlock_core::admit(std::size_t node)
{
    const std::string& run_id = sessions_[node]->run_id();
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        const node_session& other = *sessions_[i];
        if (i != node && other.now() == node_session::reachability::ready && !run_id.empty() &&
            other.run_id() == run_id)
            return "the same server as " + other.settings().name;
    }
    return {};
}

void redlock_core::on_ready(std::size_t node, time_point now)
{
    if (fence_)
        greet_fenced(node, now);
    for (std::uint32_t index = 0; index < claims_.capacity(); ++index) {
        const claim_id id = claims_.id_at(index);
        claim* const c = claims_.find(id);
        if (c == nullptr)
            continue;
        if (c->phase == stage::asking && c->at[node].state == key::unsent) {
            encode_ask(*c, false, now);
            send_ask(node, id, false, now);
            limit_round(id, now);
        } else if (c->phase == stage::held && c->at[node].state == key::unsent) {
            // Asked late, it joins the lease as any straggler does: it gives it one node to spare.
            encode_ask(*c, false, now);
            send_ask(node, id, false, now);
        } else if (c->phase == stage::cleaning && c->may_hold(node)) {
            encode_pass_on(id, node, false);
            send_remove(node, id, request_kind::pass_on, now);
        }
    }
}

void redlock_core::on_down(std::size_t node, time_point now)
{
    if (fence_)
        fence_->clock.forget(node);
    for (std::uint32_t index = 0; index < claims_.capacity(); ++index) {
        const claim_id id = claims_.id_at(index);
        claim* const c = claims_.find(id);
        if (c != nullptr && c->phase == stage::queued && c->queue_node == node) {
            change_queue_node(id, now);
            continue;
        }
        if (c == nullptr || c->at[node].state != key::unsent)
            continue;
        c->not_granted(node, vote::failed, why_down(node));
        if (c->phase == stage::asking) {
            limit_round(id, now);
            settle_attempt(id, now);
        }
    }
}

void redlock_core::fail_session(std::size_t node, time_point now)
{
    sessions_[node]->fail(errc::protocol_error, "an answer of the wrong type", now);
}

} // namespace holdfast::redis
