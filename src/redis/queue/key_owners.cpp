#include "redis/queue/key_owners.hpp"

#include "redis/node/scripts.hpp"

#include <utility>

namespace holdfast::redis {

using core::claim_id;
using core::time_point;

void key_owners::ask(claim_id id, time_point now)
{
    claim& c = claims_[id];
    end(c);
    c.queue.surveyed = true;
    c.queue.ticket->survey = surveys_.take();
    surveys_[c.queue.ticket->survey] = {.claim = id, .owners = owner_survey(c.keys.size())};
    const std::string_view command = calls_.owner(c);
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        if (nodes_.is_ready(i) && !nodes_[i].congested(now))
            nodes_.send(i, command,
                {.reference = c.queue.ticket->survey, .kind = request_kind::owner, .sent = now});
    }
}

claim_id key_owners::on_reply(std::size_t node, const request& r, reply answer)
{
    survey* const s = surveys_.find(r.reference);
    if (s == nullptr)
        return 0;
    const resp::value& v = answer.front();
    if (v.kind == resp::value_kind::null) {
        s->owners.record(node, owner_survey::nobody);
    } else if (v.kind == resp::value_kind::blob_string) {
        s->owners.record(node, owner_survey::owner_of(v.text));
    } else if (trouble_in(answer) == errc::key_conflict) {
        s->owners.record(node, owner_survey::other_data);
        nodes_[node].health().explain(
            "the key " + printable(claims_[s->claim].lock) + " is no lock: ");
    } else {
        s->owners.record_silence(node);
    }
    return s->claim;
}

const owner_survey* key_owners::find(const claim& c) const noexcept
{
    const survey* const s = c.queue.ticket ? surveys_.find(c.queue.ticket->survey) : nullptr;
    return s != nullptr ? &s->owners : nullptr;
}

void key_owners::end(claim& c) noexcept
{
    if (c.queue.ticket && c.queue.ticket->survey != 0)
        surveys_.give_back(std::exchange(c.queue.ticket->survey, 0));
}

bool key_owners::may_change(const claim& c, time_point now) noexcept
{
    constexpr auto longest_start =
        std::chrono::milliseconds(64); // until its owner has asked the other nodes
    const core::duration left = c.queue.ticket->queue_node_held_until - now;
    return left <= hand_over_ttl || (left <= c.params.ttl && left >= c.params.ttl - longest_start);
}

} // namespace holdfast::redis
