// What redlock_core does when its turn has come: it has the queue_node's key, and asks the other
// nodes until those that the old holder's deletions have not reached yet grant theirs.
#include "redis/redlock_core.hpp"
#include "redis/script_call.hpp"

#include <algorithm>

namespace holdfast::redis {

using core::claim_id;
using core::slot_index;
using core::time_point;
using key = claim_node::key;
using stage = claim::stage;
using namespace std::chrono_literals;

namespace {

// The deletions of the old holder are under way to the other nodes when we hear of our turn.
constexpr unsigned most_refusals = 8;
constexpr core::duration first_pause = 500us;

} // namespace

// The queue_node has granted what it was asked for at `asked`.
void redlock_core::begin_turn(claim_id id, time_point asked, std::uint64_t start, time_point now)
{
    claim& c = claims_[id];
    if (!c.has_waited) {
        contention_.forget(c.hash);
        windows_.note_free(c.hash);
    }
    c.sent(c.queue_node, asked);
    c.answered(c.queue_node);
    c.granted(c.queue_node, asked, start);
    unfit_.forget_stale(c.hash, c.queue_node);
    c.at[c.queue_node].queued = false;
    c.handed_over = true;
    begin_round(id, now);
}

void redlock_core::send_confirm(std::size_t node, claim_id id, bool by_text, time_point now)
{
    claim& c = claims_[id];
    c.at[node].again = false;
    command_.clear();
    if (fence_)
        fence_->calls.confirm(command_, wanted_by(c, by_text, now), sessions_[node]->run_id());
    else
        encode_renewal({&id, 1}, by_text);
    send(node, by_text ? request_kind::confirm_by_text : request_kind::confirm, id, now);
    c.sent(node, now);
}

void redlock_core::on_confirmed(std::size_t node, const request& r, reply answer, time_point now)
{
    const claim_id id = r.reference;
    claim* const c = claims_.find(id);
    if (c == nullptr)
        return;
    const bool by_text = r.kind == static_cast<std::uint8_t>(request_kind::confirm_by_text);
    const bool open = c->phase == stage::asking || c->phase == stage::held;
    if (is_no_script(answer) && !by_text && open) {
        c->answered(node);
        return send_confirm(node, id, true, now);
    }
    const resp::value& v = answer.front();
    const bool usable = v.kind == resp::value_kind::array && v.count == 1;
    vote said = v.kind == resp::value_kind::error ? vote::failed : vote::unknown;
    if (usable)
        said = answer[1].integer == 1 ? vote::granted : vote::refused;
    // Who had its turn while it asked to stand there once more, stands there once more.
    if (said == vote::granted)
        c->at[node].queued = c->everywhere;
    if (said != vote::refused || !finds_missing(node, *c, id, now))
        on_vote(node, id, {said, trouble_in(answer)}, r.sent, now);
    if (said == vote::unknown)
        fail_session(node, now);
}

// What is not there for us to confirm, although it was granted before, has been lost since: the
// node executes what we send in its order.
bool redlock_core::finds_missing(std::size_t node, claim& c, claim_id id, time_point now)
{
    if (c.at[node].state != key::ours || (c.phase != stage::asking && c.phase != stage::held))
        return false;
    c.answered(node);
    c.missing(node);
    if (c.phase == stage::held)
        report(id, now);
    return true;
}

// A node that still refuses when the queue_node has handed over is asked again: at once, then after
// growing pauses. True if it is; then it has no vote yet.
bool redlock_core::ask_again(std::size_t node, claim_id id, time_point now)
{
    claim& c = claims_[id];
    claim_node& n = c.at[node];
    const bool open = c.phase == stage::asking || c.phase == stage::held;
    if (!c.handed_over || node == c.queue_node || !open || n.lost || n.refusals >= most_refusals ||
        unfit_.knows_stale(c.hash, node, now))
        return false;
    n.state = key::absent;
    if (n.refusals++ == 0 && sessions_[node]->now() == node_session::reachability::ready) {
        encode_ask(c, false, now);
        send_ask(node, id, false, now);
        return true;
    }
    n.again = true;
    c.asked_again_at = std::min(c.asked_again_at, now + first_pause * (1 << (n.refusals - 1)));
    asked_again_.set(slot_index(id), c.asked_again_at);
    return true;
}

void redlock_core::ask_those_again(claim_id id, time_point now)
{
    claim& c = claims_[id];
    c.asked_again_at = core::never;
    encode_ask(c, false, now);
    for (std::size_t i = 0; i < c.nodes(); ++i) {
        if (!c.at[i].again)
            continue;
        c.at[i].again = false;
        if (sessions_[i]->now() == node_session::reachability::ready)
            send_ask(i, id, false, now);
        else
            c.not_granted(i, vote::failed, why_down(i));
    }
    if (c.phase == stage::asking)
        settle_attempt(id, now);
}

} // namespace holdfast::redis
