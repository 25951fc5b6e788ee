// How redlock_core waits for its turn in the queue at the queue_node of a resource.
//
// A hint may be lost, late or wrong: the notification, the queue, who the queue_node is. So whoever
// waits asks again, once a second at least, and then also looks who has the key elsewhere. What a
// crash costs is bounded by that and by the ttl of a hand-over.
#include "redis/redlock_core.hpp"
#include "redis/script_call.hpp"

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

constexpr core::duration longest_silence = 1s; // of one who waits
constexpr core::duration shortest_spread = 1ms,
                         longest_spread = 16ms; // of those who wait for one end

// Most turns come sooner; who waits for longer looks whether it is the first.
constexpr core::duration shortest_look = 32ms, longest_look = 64ms;

} // namespace

bool redlock_core::queues() const noexcept
{
    return std::any_of(
        sessions_.begin(), sessions_.end(), [](const auto& s) { return s->keeps_queue(); });
}

// The reachable node with the highest rank, or max_nodes.
std::size_t redlock_core::queue_node_of(const claim& c, time_point now, among which) const noexcept
{
    std::size_t best = max_nodes;
    std::uint64_t highest = 0;
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        if (!may_be_queue_node(i, c, which, now))
            continue;
        const std::uint64_t rank = queue_node_rank(c.hash, sessions_[i]->identity());
        if (best == max_nodes || rank > highest) {
            best = i;
            highest = rank;
        }
    }
    return best;
}

bool redlock_core::may_be_queue_node(
    std::size_t node, const claim& c, among which, time_point now) const noexcept
{
    const node_session& session = *sessions_[node];
    const claim_node& n = c.at[node];
    if (!session.keeps_queue() || in_quarantine(node, now) ||
        !session.answers_within(patience(c.terms.ttl), now))
        return false;
    if (unfit_.knows_no_queue(c.hash, node, now))
        return false;
    if (which == among::holding) // it does not matter who had the key before
        return n.state != key::absent && n.state != key::unsent;
    return !unfit_.knows_stale(c.hash, node, now) && (which == among::all || !n.was_queue_node);
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

void redlock_core::name_queue(const claim& c)
{
    if (fence_)
        fenced_calls::name_queue(queue_, c.lock);
    else
        queue_.assign(c.lock).append(queue_suffix);
}

void redlock_core::encode_pass_on(claim_id id, std::size_t node, bool by_text)
{
    const claim& c = claims_[id];
    name_queue(c);
    const resp::decimal ttl(in_ms(std::min(hand_over_ttl, c.terms.ttl)));
    const std::string place = c.at[node].queued ? place_of(id) : std::string();
    command_.clear();
    if (!c.at[node].leaves_open) {
        resp::append_command(
            command_, {script_command(by_text), script_name(pass_on_script, by_text), "2", c.lock,
                          queue_, c.token.view(), ttl.view(), place});
        return;
    }
    name_window(c);
    const resp::decimal behind(c.terms.polling.period_ms - c.terms.polling.window_ms);
    const resp::decimal period(c.terms.polling.period_ms);
    resp::append_command(command_,
        {script_command(by_text), script_name(pass_on_script, by_text), "3", c.lock, queue_,
            window_, c.token.view(), ttl.view(), place, behind.view(), period.view()});
}

void redlock_core::join_queue(claim_id id, std::size_t queue_node, time_point now)
{
    claim& c = claims_[id];
    c.phase = stage::queued;
    c.round_began = now;
    c.queue_node = queue_node;
    c.tracked = false;
    c.asks_again_at = now + jitter_.between(longest_silence * 3 / 4, longest_silence);
    send_enqueue(id, false, now);
    if (c.everywhere)
        join_all(id, now);
    if (!c.surveyed && contention_.doubts(c.hash, now))
        ask_for_owners(id, now);
}

// Who waits in vain at its queue_node may find that others have another one. Wherever they pass the
// resource on, our turn comes.
void redlock_core::join_all(claim_id id, time_point now)
{
    claim& c = claims_[id];
    c.everywhere = true;
    name_queue(c);
    command_.clear();
    begin_script(command_, join_script, true, 1, 2);
    resp::append_blob(command_, queue_);
    resp::append_blob(command_, place_of(id));
    resp::append_blob(command_, in_ms(queue_ttl));
    for (std::size_t i = 0; i < c.nodes(); ++i) {
        if (i == c.queue_node || !sessions_[i]->keeps_queue() || sessions_[i]->congested(now))
            continue;
        send(i, request_kind::join, id, now);
        c.at[i].queued = true;
    }
    c.leaves(queue_ttl, now);
}

// The next one there is not told: the queue_node tells whose turn it is.
void redlock_core::leave_queue(std::size_t node, claim_id id, time_point now)
{
    name_queue(claims_[id]);
    command_.clear();
    resp::append_command(command_, {"ZREM", queue_, place_of(id)});
    send(node, request_kind::leave, id, now);
}

void redlock_core::send_enqueue(claim_id id, bool by_text, time_point now)
{
    encode_enqueue(id, by_text, now);
    claim& c = claims_[id];
    send(c.queue_node, by_text ? request_kind::enqueue_by_text : request_kind::enqueue, id, now);
    c.at[c.queue_node].queued = c.at[c.queue_node].was_queue_node = true;
    c.answer_due = true;
    c.stays_out = false;
    c.leaves(std::max(c.terms.ttl, queue_ttl), now);
    claim_ends_.set(slot_index(id), now + patience(c.terms.ttl));
}

void redlock_core::encode_enqueue(claim_id id, bool by_text, time_point now)
{
    const claim& c = claims_[id];
    const bool again = c.at[c.queue_node].queued;
    const core::duration hand_over = std::min(hand_over_ttl, c.terms.ttl);
    if (fence_)
        return fence_->calls.enqueue(command_, wanted_by(c, by_text, now),
            sessions_[c.queue_node]->run_id(),
            {.name = place_of(id),
                .queue_ttl = queue_ttl,
                .hand_over_ttl = hand_over,
                .again = again});
    name_queue(c);
    command_.clear();
    name_window(c);
    begin_script(command_, enqueue_script, by_text, 3, again ? 6 : 5);
    resp::append_blob(command_, c.lock);
    resp::append_blob(command_, queue_);
    resp::append_blob(command_, window_);
    resp::append_blob(command_, c.token.view());
    resp::append_blob(command_, in_ms(hand_over));
    resp::append_blob(command_, place_of(id));
    resp::append_blob(command_, in_ms(c.terms.ttl));
    resp::append_blob(command_, in_ms(queue_ttl));
    if (again)
        resp::append_blob(command_, "1");
}

void redlock_core::on_enqueued(std::size_t node, const request& r, reply answer, time_point now)
{
    const claim_id id = r.reference;
    claim* const c = claims_.find(id);
    // Once the turn has come, or the claim is given up, what counts comes behind this.
    if (c == nullptr || c->phase != stage::queued || c->queue_node != node)
        return;
    const resp::value& v = answer.front();
    if (v.kind == resp::value_kind::integer && v.integer == 0) {
        begin_turn(id, r.sent, 0, now);
    } else if (v.kind == resp::value_kind::integer && v.integer < -1) {
        stay_out(id, -1 - std::max(v.integer, -1 - in_ms(longest_window)), now);
    } else if (v.kind == resp::value_kind::integer) {
        wait_in_queue(id, v.integer, now);
    } else if (is_no_script(answer) && r.kind == static_cast<std::uint8_t>(request_kind::enqueue)) {
        send_enqueue(id, true, now);
    } else if (v.kind == resp::value_kind::error) {
        note_queue_error(node, id, answer, now);
        change_queue_node(id, now);
    } else {
        fail_session(node, now);
    }
}

// What a node refuses for good need not be asked again. Trouble that passes is no reason to choose
// another queue_node than the other clients do.
void redlock_core::note_queue_error(std::size_t node, claim_id id, reply answer, time_point now)
{
    const resp::value& v = answer.front();
    if (v.kind == resp::value_kind::error && refuses_command(v.text))
        sessions_[node]->has_no_queue();
    else
        note_if_unusable(node, id, answer, now);
}

// An error of the queue of one resource says nothing of the others. True if the answer is one.
bool redlock_core::note_if_unusable(std::size_t node, claim_id id, reply answer, time_point now)
{
    const resp::value& v = answer.front();
    const claim* const c = claims_.find(id);
    if (v.kind != resp::value_kind::error || c == nullptr || !is_about_data(v.text))
        return false;
    unfit_.note_no_queue(c->hash, node, now);
    name_queue(*c);
    sessions_[node]->explain("the queue " + printable(queue_) + " cannot be used: ");
    return true;
}

void redlock_core::tell_of_wait(claim& c)
{
    if (!c.has_waited)
        emit({.kind = core::event_kind::queued, .tag = c.tag});
    c.has_waited = true;
}

// The key will be free so much later, or at a time that nobody knows (-1).
void redlock_core::wait_in_queue(claim_id id, std::int64_t held_for_ms, time_point now)
{
    claim& c = claims_[id];
    c.answer_due = false;
    tell_of_wait(c);
    windows_.note_contention(c.hash, now);
    if (!c.surveyed && (held_for_ms < 0 || !contention_.knows_turns(c.hash, now)))
        ask_for_owners(id, now);
    contention_.note(c.hash, now);
    c.queue_node_held_until = core::never;
    if (held_for_ms >= 0) {
        c.queue_node_held_until = core::later(now, std::chrono::milliseconds(held_for_ms));
        if (c.queue_node_held_until < c.asks_again_at)
            c.asks_again_at =
                c.queue_node_held_until + jitter_.between(shortest_spread, longest_spread);
    }
    time_point ask_at = c.asks_again_at;
    if (!c.tracked && (!c.surveyed || sessions_[c.queue_node]->tracks()))
        ask_at = std::min(ask_at, time_of_look(now));
    claim_ends_.set(slot_index(id), ask_at);
    judge_owners(id, now);
}

time_point redlock_core::time_of_look(time_point now) noexcept
{
    return now + jitter_.between(shortest_look, longest_look);
}

void redlock_core::on_queue_deadline(claim_id id, time_point now)
{
    claim& c = claims_[id];
    if (std::exchange(c.stays_out, false)) {
        send_enqueue(id, false, now);
    } else if (!c.answer_due && now < c.asks_again_at) {
        ask_who_is_first(id, now);
        claim_ends_.set(slot_index(id), c.asks_again_at);
    } else if (!c.answer_due) {
        const std::size_t queue_node = queue_node_of(c, now);
        if (queue_node == max_nodes)
            return begin_round(id, now);
        c.tracked = c.tracked && c.queue_node == queue_node;
        c.queue_node = queue_node;
        c.asks_again_at = now + jitter_.between(longest_silence * 3 / 4, longest_silence);
        send_enqueue(id, false, now);
        join_all(id, now);
        ask_for_owners(id, now);
    } else if (sessions_[c.queue_node]->answers_within(patience(c.terms.ttl), now)) {
        claim_ends_.set(slot_index(id), now + patience(c.terms.ttl)); // it has much to do
    } else {
        sessions_[c.queue_node]->count_timeout();
        change_queue_node(id, now);
    }
}

// The queue_node is of no use: the next one in the order of ranks is asked. We keep our place with
// the first: if it comes back, it may hand its key over to us. Where there is no other one, an
// attempt is an attempt.
void redlock_core::change_queue_node(claim_id id, time_point now)
{
    const std::size_t queue_node = queue_node_of(claims_[id], now, among::untried);
    if (queue_node == max_nodes)
        return begin_round(id, now);
    join_queue(id, queue_node, now);
}

// Whom we have handed the key over to, and what that means for an attempt that had begun before we
// knew: it would only take from him what he is about to ask for.
bool redlock_core::gives_way(std::size_t node, claim& c, time_point now) const noexcept
{
    if (node != queue_node_of(c, now) || c.handed_over || c.terms.queue == core::queueing::none)
        return false;
    c.others_first = true;
    return c.phase == stage::asking && !c.has_waited && contention_.knows(c.hash, now);
}

// Others may have another queue_node: so all nodes are asked. Where the queue_node's key is not
// ours, somebody else may have been granted it, who then waits for the other nodes, not in the
// queue.
void redlock_core::probe_waiters(claim_id id, time_point now)
{
    claim& c = claims_[id];
    const auto holds = [&c](std::size_t i) {
        return c.at[i].state == key::ours || c.at[i].state == key::repaired;
    };
    const std::size_t queue_node = queue_node_of(c, now);
    if (queue_node == max_nodes || c.looks != 0 || !holds(queue_node))
        return;
    c.looked_in_vain = false;
    name_queue(c);
    command_.clear();
    resp::append_command(command_, {"EXISTS", queue_});
    for (std::size_t i = 0; i < c.nodes(); ++i) {
        if (!holds(i) || !sessions_[i]->keeps_queue() || sessions_[i]->congested(now))
            continue;
        send(i, request_kind::look, id, now);
        ++c.looks;
    }
}

bool redlock_core::probing_waiters(claim_id id) const noexcept
{
    const claim* const c = claims_.find(id);
    return c != nullptr && c->looks != 0 && !c->looked_in_vain;
}

// `answer`: none, if the node is gone.
void redlock_core::on_looked(std::size_t node, claim_id id, reply answer)
{
    claim* const c = claims_.find(id);
    if (c == nullptr)
        return;
    --c->looks;
    const bool told = !answer.empty() && answer.front().kind == resp::value_kind::integer;
    c->at[node].others_wait = told && answer.front().integer != 0;
    c->looked_in_vain = c->looked_in_vain || !told || c->at[node].others_wait;
    if (c->looks == 0 && !c->looked_in_vain && c->phase == stage::held)
        emit({.kind = core::event_kind::no_remote_waiters, .tag = c->tag});
}

} // namespace holdfast::redis
