#include "redis/queue/key_tracking.hpp"

#include "redis/quorum/rendezvous.hpp"

namespace holdfast::redis {

using core::claim_id;
using core::time_point;

void key_tracking::begin(claim_id id, std::size_t node, time_point now)
{
    claim& c = claims_[id];
    nodes_.send(
        node, calls_.track_next(), {.reference = id, .kind = request_kind::track, .sent = now});
    nodes_.send(node, calls_.time_left(c.lock),
        {.reference = id, .kind = request_kind::tracked, .sent = now});
    c.queue.tracked = true;
    tracked_[c.hash] = id;
}

bool key_tracking::on_reply(std::size_t node, claim_id id, reply answer, time_point now)
{
    constexpr std::int64_t free = -2;
    const resp::value& v = answer.front();
    claim* const c = claims_.find(id);
    if (v.kind != resp::value_kind::integer || c == nullptr)
        return false;
    // It may have been handed off since our last request for our turn.
    if (v.integer >= 0 && c->stage == claim_stage::queued && c->queue.node == node)
        c->queue.ticket->queue_node_held_until =
            core::later(now, std::chrono::milliseconds(v.integer));
    return v.integer == free;
}

std::vector<claim_id> key_tracking::changed_by(reply push) const
{
    std::vector<claim_id> changed;
    if (push.size() < 3 || push[1].text != "invalidate")
        return changed;
    if (push[2].kind == resp::value_kind::null) { // all keys are gone
        for (const auto& [hash, id] : tracked_)
            changed.push_back(id);
    }
    for (const resp::value& name : push.subspan(3)) {
        const auto found = tracked_.find(hash_of(name.text));
        if (found != tracked_.end())
            changed.push_back(found->second);
    }
    return changed;
}

void key_tracking::forget(claim_id id) noexcept
{
    if (tracked_.empty())
        return;
    const auto found = tracked_.find(claims_[id].hash);
    if (found != tracked_.end() && found->second == id)
        tracked_.erase(found);
}

} // namespace holdfast::redis
