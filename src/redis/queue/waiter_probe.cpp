#include "redis/queue/waiter_probe.hpp"

#include <utility>

namespace holdfast::redis {

using core::claim_id;
using core::time_point;
using key = claim_node::key;

void waiter_probe::probe_waiters(claim_id id, time_point now)
{
    claim& c = claims_[id];
    const auto holds = [&c](std::size_t i) {
        return c.keys[i].state == key::ours || c.keys[i].state == key::repaired;
    };
    const std::size_t queue_node = nodes_.queue_node_of(c, now);
    if (queue_node == max_nodes || c.look.is_under_way() || !holds(queue_node))
        return;
    c.look.begin();
    const std::string_view command = calls_.has_queue(c);
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        if (!holds(i) || !nodes_[i].server().keeps_queue || nodes_[i].congested(now))
            continue;
        nodes_.send(i, command, {.reference = id, .kind = request_kind::look, .sent = now});
        c.look.asked();
    }
}

bool waiter_probe::is_probing(claim_id id) const noexcept
{
    const claim* const c = std::as_const(claims_).find(id);
    return c != nullptr && c->look.is_under_way() && c->look.may_succeed();
}

bool waiter_probe::on_reply(std::size_t node, claim_id id, reply answer)
{
    claim* const c = claims_.find(id);
    if (c == nullptr)
        return false;
    const bool told = !answer.empty() && answer.front().kind == resp::value_kind::integer;
    c->keys[node].others_wait = told && answer.front().integer != 0;
    c->look.answered(told && !c->keys[node].others_wait);
    return !c->look.is_under_way() && c->look.may_succeed() && c->stage == claim_stage::held;
}

} // namespace holdfast::redis
