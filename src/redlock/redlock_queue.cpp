// How redlock_core waits for its turn in the queue at the arbiter of a resource.
//
// A hint may be lost, late or wrong: the notification, the queue, who the arbiter is. So whoever
// waits asks again, once a second at least, and then also looks whether the nodes are free. What a
// crash costs is bounded by that and by the ttl of a hand-over.
#include "redlock/redlock_core.hpp"
#include "redlock/script_call.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

using core::claim_id;
using core::slot_index;
using core::time_point;
using key = claim_node::key;
using stage = claim::stage;
using namespace std::chrono_literals;

namespace {

// How long the arbiter keeps its key for the one whose turn has come, until he confirms.
constexpr core::duration hand_over_ttl = 500ms;

// Everybody in the queue is heard of more often.
constexpr core::duration queue_ttl = 3s;

constexpr core::duration longest_silence = 1s; // of one who waits
constexpr core::duration shortest_spread = 1ms,
                         longest_spread = 16ms; // of those who wait for one end

// Most turns come sooner; who waits for longer looks whether it is the first.
constexpr core::duration shortest_look = 32ms, longest_look = 64ms;

// The deletions of the old holder are under way to the other nodes when we hear of our turn.
constexpr unsigned most_refusals = 8;
constexpr core::duration first_pause = 500us;

} // namespace

bool redlock_core::queues() const noexcept
{
    return std::any_of(
        sessions_.begin(), sessions_.end(), [](const auto& s) { return s->keeps_queue(); });
}

// The reachable node with the highest rank that is not avoided, or max_nodes. `untried`: of those
// at which the claim does not stand in the queue already.
std::size_t redlock_core::arbiter_of(const claim& c, time_point now, bool untried) const noexcept
{
    std::size_t best = max_nodes;
    std::uint64_t highest = 0;
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        const node_session& node = *sessions_[i];
        if (!node.keeps_queue() || i == c.avoided || (untried && c.at[i].queued) ||
            !node.answers_within(patience(c.terms.ttl), now))
            continue;
        const std::uint64_t rank = arbiter_rank(c.hash, node.identity());
        if (best == max_nodes || rank > highest) {
            best = i;
            highest = rank;
        }
    }
    return best;
}

// What stands for a claim in a queue: see scripts.hpp.
std::string redlock_core::place_of(claim_id id) const
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string place(claims_.find(id)->token.view());
    for (int shift = 60; shift >= 0; shift -= 4)
        place += digits[id >> shift & 15];
    return place += channel_;
}

void redlock_core::encode_pass_on(claim_id id, std::size_t node, bool by_text)
{
    const claim& c = claims_[id];
    queue_.assign(c.resource).append(queue_suffix);
    command_.clear();
    begin_script(command_, pass_on_script, by_text, 2, 3);
    resp::append_blob(command_, c.resource);
    resp::append_blob(command_, queue_);
    resp::append_blob(command_, c.token.view());
    resp::append_blob(command_, in_ms(std::min(hand_over_ttl, c.terms.ttl)));
    resp::append_blob(command_, c.at[node].queued ? place_of(id) : std::string());
}

void redlock_core::join_queue(claim_id id, std::size_t arbiter, time_point now)
{
    claim& c = claims_[id];
    c.phase = stage::queued;
    c.round_began = now;
    c.arbiter = arbiter;
    c.tracked = false;
    c.asks_again_at = now + jitter_.between(longest_silence * 3 / 4, longest_silence);
    send_enqueue(id, false, now);
}

void redlock_core::send_enqueue(claim_id id, bool by_text, time_point now)
{
    claim& c = claims_[id];
    const bool again = c.at[c.arbiter].queued;
    queue_.assign(c.resource).append(queue_suffix);
    command_.clear();
    begin_script(command_, enqueue_script, by_text, 2, again ? 6 : 5);
    resp::append_blob(command_, c.resource);
    resp::append_blob(command_, queue_);
    resp::append_blob(command_, c.token.view());
    resp::append_blob(command_, in_ms(std::min(hand_over_ttl, c.terms.ttl)));
    resp::append_blob(command_, place_of(id));
    resp::append_blob(command_, in_ms(c.terms.ttl));
    resp::append_blob(command_, in_ms(queue_ttl));
    if (again)
        resp::append_blob(command_, "1");
    send(c.arbiter, by_text ? what::enqueue_by_text : what::enqueue, id, now);
    c.at[c.arbiter].queued = true;
    c.answer_due = true;
    c.others_free = false;
    c.last_sent = std::max(c.last_sent, now);
    claim_ends_.set(slot_index(id), now + patience(c.terms.ttl));
}

void redlock_core::on_enqueued(std::size_t node, const request& r, reply answer, time_point now)
{
    const claim_id id = r.reference;
    claim* const c = claims_.find(id);
    // Once the turn has come, or the claim is given up, what counts comes behind this.
    if (c == nullptr || c->phase != stage::queued || c->arbiter != node)
        return;
    const resp::value& v = answer.front();
    if (v.what == resp::kind::integer && v.integer == 0) {
        if (!c->has_waited)
            contention_.forget(c->hash);
        c->sent(node, r.sent);
        c->answered(node);
        c->record(node, vote::granted);
        c->at[node].queued = false;
        c->handed_over = true;
        begin_round(id, now);
    } else if (v.what == resp::kind::integer) {
        wait_in_queue(id, v.integer, now);
    } else if (is_no_script(answer) && r.kind == static_cast<std::uint8_t>(what::enqueue)) {
        send_enqueue(id, true, now);
    } else if (v.what == resp::kind::error) {
        note_queue_error(node, v.text);
        change_arbiter(id, now);
    } else {
        fail_session(node, now);
    }
}

// What a node refuses for good need not be asked again. Trouble that passes is no reason to choose
// another arbiter than the other clients do.
void redlock_core::note_queue_error(std::size_t node, std::string_view text)
{
    if (meaning_of(text) == errc::permission_denied || text.starts_with("ERR "))
        sessions_[node]->has_no_queue();
}

// The key will be free so much later, or at a time that nobody knows (-1).
void redlock_core::wait_in_queue(claim_id id, std::int64_t held_for_ms, time_point now)
{
    claim& c = claims_[id];
    c.answer_due = false;
    c.has_waited = true;
    contention_.note(c.hash, now);
    c.arbiter_held_until = core::never;
    if (held_for_ms >= 0) {
        c.arbiter_held_until = core::later(now, std::chrono::milliseconds(held_for_ms));
        if (c.arbiter_held_until < c.asks_again_at)
            c.asks_again_at =
                c.arbiter_held_until + jitter_.between(shortest_spread, longest_spread);
    }
    time_point ask_at = c.asks_again_at;
    if (!c.tracked && sessions_[c.arbiter]->tracks())
        ask_at = std::min(ask_at, now + jitter_.between(shortest_look, longest_look));
    claim_ends_.set(slot_index(id), ask_at);
    if (c.others_free)
        take_what_is_free(id, now);
}

void redlock_core::on_queue_deadline(claim_id id, time_point now)
{
    claim& c = claims_[id];
    if (!c.answer_due && now < c.asks_again_at) {
        ask_who_is_first(id, now);
        claim_ends_.set(slot_index(id), c.asks_again_at);
    } else if (!c.answer_due) {
        c.avoided.reset();
        const std::size_t arbiter = arbiter_of(c, now);
        if (arbiter == max_nodes)
            return refuse(id, errc::contended, now);
        c.tracked = c.tracked && c.arbiter == arbiter;
        c.arbiter = arbiter;
        c.asks_again_at = now + jitter_.between(longest_silence * 3 / 4, longest_silence);
        send_enqueue(id, false, now);
        ask_when_free(id, now);
    } else if (sessions_[c.arbiter]->answers_within(patience(c.terms.ttl), now)) {
        claim_ends_.set(slot_index(id), now + patience(c.terms.ttl)); // it has much to do
    } else {
        sessions_[c.arbiter]->count_timeout();
        change_arbiter(id, now);
    }
}

// The arbiter is of no use: the next one in the order of ranks is asked. We keep our place with the
// first: if it comes back, it may hand its key over to us.
void redlock_core::change_arbiter(claim_id id, time_point now)
{
    const std::size_t arbiter = arbiter_of(claims_[id], now, true);
    if (arbiter == max_nodes)
        return refuse(id, errc::contended, now);
    join_queue(id, arbiter, now);
}

// The arbiter cannot know when the holder could not reach it, or when others use the same key
// without the queue.
void redlock_core::ask_when_free(claim_id id, time_point now)
{
    const core::slot_id w = watches_.take();
    watches_[w] = {.claim = id};
    send_watch(w, claims_[id].resource, now);
}

void redlock_core::on_queued_watch(claim_id id, bool conflict, time_point free_at, time_point now)
{
    claim* const c = claims_.find(id);
    if (c == nullptr || c->phase != stage::queued)
        return;
    if (conflict)
        return refuse(id, errc::key_conflict, now);
    c->others_free = free_at <= now;
    if (c->others_free && !c->answer_due)
        take_what_is_free(id, now);
}

// Unless the key is just changing hands: then all other nodes are free for a moment.
void redlock_core::take_what_is_free(claim_id id, time_point now)
{
    if (claims_[id].arbiter_held_until > now + hand_over_ttl)
        begin_round(id, now);
}

// Where the arbiter's key is not ours, somebody else may have been granted it, who then waits for
// the other nodes, not in the queue.
void redlock_core::look_for_others(claim_id id, time_point now)
{
    claim& c = claims_[id];
    const std::size_t arbiter = arbiter_of(c, now);
    if (arbiter == max_nodes || c.looking)
        return;
    const key state = c.at[arbiter].state;
    if (state != key::ours && state != key::healed)
        return;
    c.looking = true;
    queue_.assign(c.resource).append(queue_suffix);
    command_.clear();
    resp::append_command(command_, {"EXISTS", queue_});
    send(arbiter, what::look, id, now);
}

bool redlock_core::looks_for_others(claim_id id) const noexcept
{
    const claim* const c = claims_.find(id);
    return c != nullptr && c->looking;
}

void redlock_core::on_looked(claim_id id, bool alone)
{
    claim* const c = claims_.find(id);
    if (c == nullptr || !std::exchange(c->looking, false))
        return;
    if (alone && c->phase == stage::held)
        emit({.kind = core::backend_event::what::alone, .tag = c->tag});
}

void redlock_core::send_confirm(std::size_t node, claim_id id, bool by_text, time_point now)
{
    claim& c = claims_[id];
    c.at[node].again = false;
    command_.clear();
    begin_script(command_, renew_script, by_text, 1, 2);
    resp::append_blob(command_, c.resource);
    resp::append_blob(command_, c.token.view());
    resp::append_blob(command_, in_ms(c.terms.ttl));
    send(node, by_text ? what::confirm_by_text : what::confirm, id, now);
    c.sent(node, now);
}

void redlock_core::on_confirmed(
    std::size_t node, claim_id id, bool by_text, reply answer, time_point now)
{
    claim* const c = claims_.find(id);
    if (c == nullptr)
        return;
    const bool open = c->phase == stage::asking || c->phase == stage::held;
    if (is_no_script(answer) && !by_text && open) {
        c->answered(node);
        return send_confirm(node, id, true, now);
    }
    const resp::value& v = answer.front();
    const bool usable = v.what == resp::kind::array && v.count == 1;
    vote said = v.what == resp::kind::error ? vote::failed : vote::unknown;
    if (usable)
        said = answer[1].integer == 1 ? vote::granted : vote::refused;
    if (said == vote::granted)
        c->at[node].queued = false;
    on_vote(node, id, said, now);
    if (said == vote::unknown)
        fail_session(node, now);
}

// A node that still refuses when the arbiter has handed over is asked again: at once, then after
// growing pauses. True if it is; then it has no vote yet.
bool redlock_core::ask_again(std::size_t node, claim_id id, time_point now)
{
    claim& c = claims_[id];
    claim_node& n = c.at[node];
    const bool open = c.phase == stage::asking || c.phase == stage::held;
    if (!c.handed_over || node == c.arbiter || !open || n.refusals >= most_refusals)
        return false;
    n.state = key::absent;
    if (n.refusals++ == 0 && sessions_[node]->now() == node_session::reachability::ready) {
        encode_set(c);
        send_set(node, id, what::set, now);
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
    encode_set(c);
    for (std::size_t i = 0; i < c.nodes(); ++i) {
        if (!c.at[i].again)
            continue;
        c.at[i].again = false;
        if (sessions_[i]->now() == node_session::reachability::ready)
            send_set(i, id, what::set, now);
        else
            c.record(i, vote::failed);
    }
    if (c.phase == stage::asking)
        settle_attempt(id, now);
}

} // namespace holdfast::redis
