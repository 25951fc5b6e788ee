#include "redis/redlock_core.hpp"

#include "resp/command.hpp"

#include <algorithm>
#include <bitset>
#include <cassert>
#include <utility>

namespace holdfast::redis {

using core::backend_event;
using core::claim_id;
using core::event_kind;
using core::slot_index;
using core::time_point;
using key = claim_node::key;
using stage = claim::stage;

namespace {

// Ours alone, on all nodes. Who guesses it can wake us in vain.
std::string new_channel(core::jitter& random)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string channel = "holdfast:";
    for (int half = 0; half < 2; ++half) {
        const std::uint64_t bits = random.next();
        for (int shift = 60; shift >= 0; shift -= 4)
            channel += digits[bits >> shift & 15];
    }
    return channel;
}

} // namespace

redlock_core::redlock_core(std::vector<node_settings> nodes,
    std::optional<core::duration> node_timeout, std::uint64_t jitter_seed,
    const std::optional<fence_settings>& fence)
    : node_timeout_(node_timeout),
      jitter_(jitter_seed),
      channel_(new_channel(jitter_)),
      fence_(fence ? std::make_unique<fenced_mode>(*fence) : nullptr)
{
    for (node_settings& settings : nodes) {
        settings.channel = channel_;
        settings.unused_key = fence_ ? "hf:" + channel_ : channel_; // as random as that
        settings.fenced = fence_ != nullptr;
        sessions_.push_back(std::make_unique<node_session>(sessions_.size(), std::move(settings),
            static_cast<session_owner&>(*this), jitter_.next()));
        connections_.push_back(sessions_.back().get());
    }
}

core::duration redlock_core::patience(core::duration ttl) const noexcept
{
    using namespace std::chrono_literals;
    return node_timeout_.value_or(std::clamp<core::duration>(ttl / 20, 5ms, 500ms));
}

std::optional<backend_event> redlock_core::next_event()
{
    if (events_.empty())
        return std::nullopt;
    return events_.pop();
}

claim_id redlock_core::attempt(std::uint64_t tag, std::string_view resource,
    const core::owner_token& token, const core::claim_params& terms, time_point now)
{
    const claim_id id = claims_.take();
    claim& c = claims_[id];
    c.begin(tag, lock_of(resource), token, terms, sessions_.size());
    if (fence_)
        c.begin_fence(fence_->supply.block(c.hash, fence_->clock.floor(now), terms.others_follow));
    const bool in_turn =
        terms.queue == core::queueing::now ||
        (terms.queue == core::queueing::if_contended && contention_.knows(c.hash, now));
    if (in_turn)
        c.everywhere = contention_.take_fruitless(c.hash);
    const std::size_t queue_node = in_turn ? queue_node_of(c, now) : max_nodes;
    if (queue_node != max_nodes)
        join_queue(id, queue_node, now);
    else
        begin_round(id, now);
    return id;
}

// Asks all nodes at once: but the queue_node, if it has handed its key over.
void redlock_core::begin_round(claim_id id, time_point now)
{
    claim& c = claims_[id];
    c.phase = stage::asking;
    c.late = 0;
    c.round_began = now;
    end_survey(c);
    encode_ask(c, false, now);
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        if (c.handed_over && i == c.queue_node)
            continue;
        const node_session& node = *sessions_[i];
        const auto reach = node.now();
        if (reach == node_session::reachability::soon) {
            c.at[i].state = key::unsent;
        } else if (reach == node_session::reachability::down) {
            c.not_granted(i, vote::failed, why_down(i));
        } else if (node.congested(now)) {
            c.not_granted(i, vote::failed);
        } else {
            send_ask(i, id, false, now);
        }
    }
    limit_round(id, now);
    settle_attempt(id, now);
}

// The round ends a node timeout after the last request has left, once a majority has been asked.
// Until then it needs no limit: a node that is still connecting has an outcome of its own, within
// the connect timeout.
void redlock_core::limit_round(claim_id id, time_point now)
{
    const claim& c = claims_[id];
    if (c.nodes() - c.unsent() >= majority(c.nodes()))
        claim_ends_.set(slot_index(id), now + patience(c.terms.ttl));
}

void redlock_core::abandon(claim_id id, time_point now)
{
    claim& c = claims_[id];
    assert(c.phase == stage::asking || c.phase == stage::queued);
    c.phase = stage::cleaning;
    clean(id, now);
}

errc redlock_core::pending_error(claim_id id) const noexcept
{
    const claim* const c = claims_.find(id);
    assert(c != nullptr);
    if (c->phase == stage::queued || c->votes().judge_now() == verdict::contended)
        return errc::contended;
    return why_unreachable(*c).reason;
}

void redlock_core::release(claim_id id, time_point now)
{
    claim& c = claims_[id];
    assert(c.phase == stage::held);
    c.phase = stage::releasing;
    c.late = 0;
    if (c.others_first)
        contention_.note_doubt(c.hash, now);
    clean(id, now);
    claim_ends_.set(slot_index(id), now + patience(c.terms.ttl));
    settle_release(id, false, now);
}

time_point redlock_core::wake_at() const noexcept
{
    time_point first = std::min(claim_ends_.earliest(), asked_again_.earliest());
    for (const auto& s : sessions_)
        first = std::min(first, s->wake_at());
    return first;
}

void redlock_core::wake(time_point now, time_point heard)
{
    for (const auto& s : sessions_) {
        if (s->wake_at() <= now)
            s->wake(now);
    }
    while (const auto index = asked_again_.pop_due(now))
        ask_those_again(claims_.id_at(*index), now);
    while (const auto index = claim_ends_.pop_due(std::min(now, heard))) {
        const claim_id id = claims_.id_at(*index);
        switch (claims_[id].phase) {
        case stage::queued:
            on_queue_deadline(id, now);
            break;
        case stage::asking:
            on_round_timeout(id, now);
            break;
        case stage::releasing:
            settle_release(id, true, now);
            break;
        case stage::cleaning:
            forget(id);
            break; // its ttl has passed everywhere
        case stage::held:
            break;
        }
    }
}

void redlock_core::on_round_timeout(claim_id id, time_point now)
{
    claim& c = claims_[id];
    for (std::size_t i = 0; i < c.nodes(); ++i) {
        if (c.votes().of(i) != vote::pending)
            continue;
        if (c.at[i].state == key::unsent) {
            c.not_granted(i, vote::failed);
            continue;
        }
        if (c.at[i].again) {
            c.not_granted(i, vote::refused);
            continue;
        }
        sessions_[i]->count_timeout();
        c.not_granted(i, vote::unknown);
    }
    settle_attempt(id, now);
}

// The attempt ends as soon as its votes allow.
void redlock_core::settle_attempt(claim_id id, time_point now)
{
    claim& c = claims_[id];
    switch (c.votes().judge()) {
    case verdict::undecided:
        return;
    case verdict::contended:
        return refuse(id, errc::contended, now);
    case verdict::unreachable: {
        const obstacle why = why_unreachable(c);
        return refuse(id, why.reason, now, why.transient);
    }
    case verdict::acquired:
        break;
    }
    const time_point valid_until = c.valid_until();
    if (valid_until <= now + c.terms.guard) {
        if (c.votes().count(vote::pending) == 0)
            refuse(id, errc::too_late, now);
        return; // who was asked later may make it longer: the queue_node is asked first
    }
    c.phase = stage::held;
    if (!c.handed_over)
        windows_.note_free(c.hash);
    c.reported = valid_until;
    claim_ends_.erase(slot_index(id));
    backend_event granted{.kind = event_kind::granted,
        .tag = c.tag,
        .valid_until = valid_until,
        .asked = valid_until - (c.terms.ttl - c.terms.drift)};
    if (c.fence) {
        granted.fence = c.fence->round.token();
        fence_->supply.published(c.hash, c.last_token());
    }
    emit(granted);
}

void redlock_core::refuse(claim_id id, errc reason, time_point now, bool transient)
{
    claim& c = claims_[id];
    if (reason == errc::contended && c.handed_over)
        contention_.note_fruitless(c.hash, now);
    c.phase = stage::cleaning;
    emit({.kind = event_kind::refused,
        .reason = reason,
        .tag = c.tag,
        .transient = transient,
        .asked = c.round_began});
    clean(id, now);
}

// What is still waiting for its connection shall not be asked any more.
void redlock_core::give_up_unsent(claim& c) noexcept
{
    for (std::size_t i = 0; i < c.nodes(); ++i) {
        c.at[i].again = false;
        if (c.at[i].state == key::unsent)
            c.not_granted(i, vote::failed);
    }
}

// Asks every node that may hold our key to delete it, and remembers the claim until all have, or
// until the key has expired.
void redlock_core::clean(claim_id id, time_point now)
{
    claim& c = claims_[id];
    give_up_unsent(c);
    end_survey(c);
    asked_again_.erase(slot_index(id));
    std::bitset<max_nodes> due;
    for (std::size_t i = 0; i < c.nodes(); ++i) {
        due[i] = c.may_hold(i) && !c.at[i].deleting &&
                 sessions_[i]->now() == node_session::reachability::ready;
    }
    if (due.any())
        ask_to_delete(id, due, now);
    if (c.phase == stage::cleaning) {
        claim_ends_.set(slot_index(id), std::max(now, c.gone_at));
        forget_if_clean(id);
    }
}

void redlock_core::ask_to_delete(claim_id id, const std::bitset<max_nodes>& due, time_point now)
{
    claim& c = claims_[id];
    const bool was_lease = c.phase == stage::releasing;
    const std::size_t queue_node = queue_node_of(c, now, was_lease ? among::holding : among::all);
    // Elsewhere, whoever comes first in a queue would get one node, and somebody else the next.
    const auto passes_on = [&](std::size_t i) {
        const bool only_queued = c.at[i].queued && c.at[i].state == key::absent;
        const bool only_there =
            c.at[i].others_wait && (queue_node == max_nodes || !c.at[queue_node].others_wait);
        return i == queue_node || i == c.queue_node || only_queued || only_there;
    };
    for (std::size_t i = 0; i < c.nodes(); ++i) {
        if (due[i] && c.at[i].queued && !passes_on(i))
            leave_queue(i, id, now);
    }
    encode_remove(c, false);
    for (std::size_t i = 0; i < c.nodes(); ++i) {
        if (due[i] && !passes_on(i))
            send_remove(i, id, request_kind::remove, now);
    }
    for (std::size_t i = 0; i < c.nodes(); ++i) {
        if (due[i] && passes_on(i)) {
            c.at[i].leaves_open = was_lease && i == queue_node && opens_window(c, now);
            encode_pass_on(id, i, false);
            send_remove(i, id, request_kind::pass_on, now);
        }
    }
}

void redlock_core::settle_release(claim_id id, bool out_of_time, time_point now)
{
    claim& c = claims_[id];
    const auto result = c.judge_release();
    if (!result.decided && !out_of_time && removing(c))
        return;
    emit({.kind = event_kind::released, .outcome = result.outcome, .tag = c.tag});
    c.phase = stage::cleaning;
    clean(id, now);
}

bool redlock_core::removing(const claim& c) const noexcept
{
    for (std::size_t i = 0; i < c.nodes(); ++i) {
        if (c.at[i].deleting)
            return true;
    }
    return false;
}

void redlock_core::forget_if_clean(claim_id id)
{
    if (!claims_[id].may_hold_any())
        forget(id);
}

void redlock_core::forget(claim_id id)
{
    claim_ends_.erase(slot_index(id));
    asked_again_.erase(slot_index(id));
    forget_tracking(id);
    claim& c = claims_[id];
    end_survey(c);
    for (std::size_t i = 0; i < c.nodes(); ++i)
        end_deletion(c.at[i]);
    claims_.give_back(id);
}

// Why a node that cannot be asked is down, if that is one of our own reasons.
errc redlock_core::why_down(std::size_t node) const noexcept
{
    const error_code code = sessions_[node]->last_failure().code;
    return code.category() == error_category() ? static_cast<errc>(code.value()) : errc{};
}

// If so many nodes have a fault that waiting cannot mend that they alone prevent a majority, then
// that fault is the reason. So is a quarantine, which is over some time, and what clocks do. What
// counts is what each has said to this attempt, whatever it has said to others.
redlock_core::obstacle redlock_core::why_unreachable(const claim& c) const noexcept
{
    std::size_t hopeless = 0, passing = 0;
    errc reason = errc::unreachable;
    for (std::size_t i = 0; i < c.nodes(); ++i) {
        const vote v = c.votes().of(i);
        if (v == vote::granted || v == vote::refused)
            continue;
        if (c.fence && transient(c.fence->troubles[i])) {
            ++passing;
            continue;
        }
        const errc why = c.trouble_of(i);
        if (why != errc{} && make_error_code(why) == condition::misconfigured && hopeless++ == 0)
            reason = why;
    }
    if (hopeless >= blocking(c.nodes()))
        return {reason};
    if (hopeless + passing >= blocking(c.nodes()))
        return {errc::fencing_unavailable, true};
    return {};
}

} // namespace holdfast::redis
