#include "redis/acquisition.hpp"

#include <algorithm>

namespace holdfast::redis {

using core::claim_id;
using core::slot_index;
using core::time_point;
using key = claim_node::key;
using namespace std::chrono_literals;

namespace {

// When we are told of our turn, the deletions of the old holder are still under way to the other
// nodes.
constexpr unsigned most_refusals = 8;
constexpr core::duration first_repeat_pause = 500us;

} // namespace

void acquisition::open(claim_id id, time_point now)
{
    claim& c = claims_[id];
    dialect_.begin_acquire(c, false, now);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (c.queue.handed_over && i == c.queue.node)
            continue;
        const auto reach = nodes_[i].now();
        if (reach == reachability::soon)
            c.keys[i].state = key::unsent;
        else if (reach == reachability::down)
            c.not_granted(i, vote::failed, nodes_.why_down(i));
        else if (nodes_[i].congested(now))
            c.not_granted(i, vote::failed);
        else
            ask(id, i, now);
    }
    limit(id, now);
}

// A round needs no limit before a majority has been asked: a node that is still connecting becomes
// ready or fails within the connect timeout.
void acquisition::limit(claim_id id, time_point now)
{
    const claim& c = claims_[id];
    if (c.keys.size() - c.keys.unsent() >= majority(c.keys.size()))
        claims_.wake_at(id, now + nodes_.timeout(c.params.ttl));
}

bool acquisition::ask_unsent(claim_id id, std::size_t node, time_point now)
{
    const claim& c = claims_[id];
    if (!c.is_open() || c.keys[node].state != key::unsent)
        return false;
    dialect_.begin_acquire(c, false, now);
    ask(id, node, now);
    if (c.stage == claim_stage::asking)
        limit(id, now);
    return true;
}

bool acquisition::give_up_unsent(claim_id id, std::size_t node)
{
    claim& c = claims_[id];
    if (c.keys[node].state != key::unsent)
        return false;
    c.not_granted(node, vote::failed, nodes_.why_down(node));
    return true;
}

void acquisition::give_up(claim_id id)
{
    claim& c = claims_[id];
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        c.keys[i].again = false;
        if (c.keys[i].state == key::unsent)
            c.not_granted(i, vote::failed);
    }
    forget(id);
}

// Precondition: begin_acquire() for this claim, with the same `by_text`.
void acquisition::ask(claim_id id, std::size_t node, time_point now, bool by_text)
{
    nodes_.send(node, dialect_.acquire_at(node),
        {.reference = id, .kind = request_kind::acquire, .by_text = by_text, .sent = now});
    claims_[id].sent(node, now);
}

void acquisition::confirm(claim_id id, std::size_t node, bool by_text, time_point now)
{
    claim& c = claims_[id];
    c.keys[node].again = false;
    nodes_.send(node, dialect_.confirm(c, node, by_text, now),
        {.reference = id, .kind = request_kind::confirm, .by_text = by_text, .sent = now});
    c.sent(node, now);
}

bool acquisition::say_again(std::size_t node, const request& r, time_point now)
{
    claim* const c = claims_.find(r.reference);
    if (c == nullptr || !c->is_open() ||
        (r.kind == request_kind::acquire && !dialect_.acquires_by_script()))
        return false;
    if (r.kind == request_kind::write_back) {
        write_back(r.reference, c->round.tokens().write_back_of(node), true, now);
        return true;
    }
    c->keys.answered(node);
    if (r.kind == request_kind::confirm) {
        confirm(r.reference, node, true, now);
    } else {
        dialect_.begin_acquire(*c, true, now);
        ask(r.reference, node, now, true);
    }
    return true;
}

bool acquisition::record(
    std::size_t node, claim_id id, const ballot& b, time_point asked, time_point now)
{
    claim& c = claims_[id];
    c.keys.answered(node);
    if (b.said != vote::granted && c.keys[node].state == key::ours)
        return false; // since the hand-off: a second request changes nothing
    if (b.said == vote::refused && (c.keys[node].open != 0 || asks_again(node, id, now)))
        return false;
    if (b.said == vote::granted) {
        c.granted(node, asked, b.start);
        nodes_.unfit().forget_stale(c.hash, node);
        nodes_.note_end(node, c.lock, true);
    } else {
        c.not_granted(node, b.said, b.why);
    }
    if (b.start != 0 && c.is_open())
        write_back_where_due(id, now);
    return true;
}

// A node executes our requests in the order in which we send them.
bool acquisition::finds_missing(std::size_t node, claim_id id)
{
    claim& c = claims_[id];
    if (c.keys[node].state != key::ours || !c.is_open())
        return false;
    c.keys.answered(node);
    c.keys.missing(node);
    return true;
}

// A node that still refuses when the queue node has handed off its key is asked again: at once,
// then after growing pauses. True if so; then it has no vote yet.
bool acquisition::asks_again(std::size_t node, claim_id id, time_point now)
{
    claim& c = claims_[id];
    claim_node& n = c.keys[node];
    if (!c.queue.handed_over || node == c.queue.node || !c.is_open() || n.lost ||
        n.refusals >= most_refusals || nodes_.unfit().knows_stale(c.hash, node, now))
        return false;
    n.state = key::absent;
    if (n.refusals++ == 0 && nodes_.is_ready(node)) {
        dialect_.begin_acquire(c, false, now);
        ask(id, node, now);
        return true;
    }
    n.again = true;
    c.asked_again_at =
        std::min(c.asked_again_at, now + first_repeat_pause * (1 << (n.refusals - 1)));
    asked_again_.set(slot_index(id), c.asked_again_at);
    return true;
}

std::optional<claim_id> acquisition::ask_again(time_point now)
{
    const auto index = asked_again_.pop_due(now);
    if (!index)
        return std::nullopt;
    const claim_id id = claims_.all.id_at(*index);
    claim& c = claims_[id];
    c.asked_again_at = core::never;
    dialect_.begin_acquire(c, false, now);
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        if (!c.keys[i].again)
            continue;
        c.keys[i].again = false;
        if (nodes_.is_ready(i))
            ask(id, i, now);
        else
            c.not_granted(i, vote::failed, nodes_.why_down(i));
    }
    return id;
}

// Some nodes have granted less than the token. The answer to a write-back is waited for like any
// other.
void acquisition::write_back_where_due(claim_id id, time_point now)
{
    claim& c = claims_[id];
    bool any = false;
    while (const auto w = c.round.tokens().next_write_back()) {
        any = true;
        if (nodes_.is_ready(w->node))
            write_back(id, *w, false, now);
        else
            c.written_back(w->node, write_back_answer::unknown);
    }
    if (any && c.stage == claim_stage::asking)
        claims_.wake_at(id, now + nodes_.timeout(c.params.ttl));
}

void acquisition::write_back(
    claim_id id, const token_round::write_back& w, bool by_text, time_point now)
{
    nodes_.send(w.node, dialect_.write_back(claims_[id], w, by_text),
        {.reference = id, .kind = request_kind::write_back, .by_text = by_text, .sent = now});
}

std::optional<write_back_answer> acquisition::on_written_back(
    std::size_t node, const request& r, reply answer, time_point now)
{
    std::optional<write_back_answer> said;
    claim* const c = claims_.find(r.reference);
    if (c != nullptr && c->is_open()) {
        said = dialect_.read_write_back(node, answer, *c);
        c->written_back(node, *said);
    }
    const resp::value_kind kind = answer.front().kind;
    if (kind != resp::value_kind::integer && kind != resp::value_kind::error)
        nodes_.fail(node, now);
    return said;
}

bool acquisition::lose_write_back(std::size_t node, claim_id id)
{
    claim* const c = claims_.find(id);
    if (c == nullptr || !c->is_open())
        return false; // it is being deleted
    c->written_back(node, write_back_answer::unknown);
    return true;
}

void acquisition::time_out(claim_id id)
{
    claim& c = claims_[id];
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        if (c.round.votes().of(i) != vote::pending)
            continue;
        if (c.keys[i].state == key::unsent) {
            c.not_granted(i, vote::failed);
            continue;
        }
        if (c.keys[i].again) {
            c.not_granted(i, vote::refused);
            continue;
        }
        nodes_[i].count_timeout();
        c.not_granted(i, vote::unknown);
    }
}

acquisition::outcome acquisition::judge(claim_id id, time_point now) const
{
    const claim& c = *claims_.find(id);
    switch (c.round.votes().judge()) {
    case verdict::undecided:
        return {};
    case verdict::contended:
        return {.is = outcome::kind::refused, .reason = errc::contended};
    case verdict::unreachable:
        return why_unreachable(c);
    case verdict::acquired:
        break;
    }
    const time_point valid_until = c.keys.valid_until();
    if (valid_until > now + c.params.guard)
        return {.is = outcome::kind::granted, .valid_until = valid_until};
    if (c.round.votes().count(vote::pending) == 0)
        return {.is = outcome::kind::refused, .reason = errc::too_late};
    return {}; // later grants may make it longer: the queue node is asked first
}

// If so many nodes have a permanent fault that they alone prevent a majority, that fault is the
// reason. If they do so only together with nodes in temporary trouble (a quarantine, or clocks),
// the refusal is temporary. Only the answers to this attempt count, not those to others.
acquisition::outcome acquisition::why_unreachable(const claim& c) const noexcept
{
    std::size_t hopeless = 0, passing = 0;
    errc reason = errc::unreachable;
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
        const vote v = c.round.votes().of(i);
        if (v == vote::granted || v == vote::refused)
            continue;
        if (c.round.gives_no_token_for_now(i)) {
            ++passing;
            continue;
        }
        const errc why = c.keys.trouble_of(i);
        if (why != errc{} && make_error_code(why) == condition::misconfigured && hopeless++ == 0)
            reason = why;
    }
    if (hopeless >= blocking(c.keys.size()))
        return {.is = outcome::kind::refused, .reason = reason};
    if (hopeless + passing >= blocking(c.keys.size()))
        return {
            .is = outcome::kind::refused, .reason = errc::fencing_unavailable, .transient = true};
    return {.is = outcome::kind::refused, .reason = errc::unreachable};
}

} // namespace holdfast::redis
