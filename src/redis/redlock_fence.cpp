// What redlock_core does otherwise in fenced mode: it asks for locks by a script that gives tokens,
// and raises nodes whose tokens are behind. See token_round.hpp.
#include "redis/redlock_core.hpp"

#include "redis/fence_answer.hpp"
#include "redis/fence_scripts.hpp"
#include "redis/script_call.hpp"
#include "resp/command.hpp"

namespace holdfast::redis {

using core::claim_id;
using core::slot_index;
using core::time_point;
using stage = claim::stage;

namespace {

bool is_open(const claim& c)
{
    return c.phase == stage::asking || c.phase == stage::held;
}

} // namespace

bool redlock_core::can_transfer(claim_id id) const noexcept
{
    const claim* const c = claims_.find(id);
    return c == nullptr || !c->fence || c->has_next_token();
}

std::optional<std::uint64_t> redlock_core::transfer(claim_id id, std::uint64_t tag)
{
    claim& c = claims_[id];
    c.tag = tag;
    return c.fence ? std::optional(c.next_token()) : std::nullopt;
}

core::duration redlock_core::longest_ttl() const noexcept
{
    return fence_ ? fence_->settings.quarantine : core::duration::max();
}

std::string_view redlock_core::lock_of(std::string_view resource)
{
    if (!fence_)
        return resource;
    fenced_calls::name_lock(lock_, resource);
    return lock_;
}

fenced_calls::wanted redlock_core::wanted_by(
    const claim& c, bool by_text, time_point now) const noexcept
{
    return {.lock = c.lock,
        .token = c.token.view(),
        .ttl = c.terms.ttl,
        .floor = fence_->supply.floor(c.hash, fence_->clock.floor(now)),
        .block = c.fence->block,
        .by_text = by_text};
}

// The quarantine of a node that was restarted begins now, not when the first lock is wanted. And
// whoever disagrees knows about what before the first attempt fails of it.
void redlock_core::greet_fenced(std::size_t node, time_point now)
{
    const node_session& session = *sessions_[node];
    fence_->clock.note(node, session.clock_ms(), session.clock_asked(), now);
    fence_->quarantine_ends[node] = core::long_ago;
    fence_->calls.probe(command_, session.run_id());
    send(node, request_kind::probe, 0, now);
    ask_for_record(node, now);
}

void redlock_core::ask_for_record(std::size_t node, time_point now)
{
    command_.clear();
    resp::append_command(command_, {"GET", record_key});
    send(node, request_kind::record, 0, now);
}

// Whether a majority can store what a node has granted, and its own clock allows it. If not, that
// node alone would lead the others astray.
bool redlock_core::is_storable(
    const fence_answer& granted, std::uint64_t block, time_point now) const noexcept
{
    const auto last = static_cast<std::int64_t>((granted.start + block - 1) / tokens_in_ms);
    return last - in_ms(fence_->settings.furthest()) <= granted.clock &&
           last <= fence_->clock.storable(now);
}

// What an answer to the acquire script says of its node, whoever has asked.
fence_answer redlock_core::hear(std::size_t node, const request& r, reply answer, time_point now)
{
    fence_answer a = read_fence_answer(answer);
    if (a.clock >= 0)
        fence_->clock.note(node, a.clock, r.sent, now);
    if (a.trouble == fence_trouble::ahead && a.left > in_ms(fence_->settings.quarantine))
        a.trouble = fence_trouble::far_ahead;
    const claim* const c = claims_.find(r.reference);
    if (c != nullptr && a.said == vote::granted && !is_storable(a, c->fence->block, now))
        a.trouble = fence_trouble::fast_clock;
    node_session& session = *sessions_[node];
    if (a.said == vote::granted || a.said == vote::refused) {
        fence_->quarantine_ends[node] = core::long_ago;
        session.note_trouble({});
    }
    if (a.trouble == fence_trouble::quarantine)
        fence_->quarantine_ends[node] = core::later(now, std::chrono::milliseconds(a.left));
    if (a.trouble == fence_trouble::settings) {
        if (session.trouble().code != meaning_of(a.trouble)) {
            if (r.kind != static_cast<std::uint8_t>(request_kind::probe)) // which it follows anyway
                ask_for_record(node, now);
            session.note_trouble(disagreement(fence_->settings, {}));
        }
    } else if (a.trouble != fence_trouble::none) {
        const std::string_view lock = c != nullptr ? std::string_view(c->lock) : lock_of({});
        fenced_calls::name_counter(queue_, lock);
        session.note_trouble(failure_of(a, lock, queue_));
    }
    return a;
}

void redlock_core::on_record(std::size_t node, reply answer)
{
    node_session& session = *sessions_[node];
    if (session.trouble().code == errc::misconfigured_node)
        session.note_trouble(disagreement(fence_->settings, answer.front().text));
}

// The answer to a request for the lock, whether it was to be free or handed over to us.
void redlock_core::on_asked(std::size_t node, const request& r, reply answer, time_point now)
{
    const claim_id id = r.reference;
    const fence_answer a = hear(node, r, answer, now);
    claim* const c = claims_.find(id);
    if (c != nullptr) {
        const auto kind = static_cast<request_kind>(r.kind);
        if (is_no_script(answer) && is_open(*c) && kind == request_kind::confirm) {
            c->answered(node);
            return send_confirm(node, id, true, now);
        }
        if (is_no_script(answer) && is_open(*c) && kind == request_kind::ask) {
            c->answered(node);
            encode_ask(*c, true, now);
            return send_ask(node, id, true, now);
        }
        const bool confirms =
            kind == request_kind::confirm || kind == request_kind::confirm_by_text;
        if (confirms && a.said == vote::granted)
            c->at[node].queued = c->everywhere; // see on_confirmed()
        c->fence->troubles[node] = a.trouble;
        const bool troubled = a.trouble != fence_trouble::none;
        const errc why = troubled ? meaning_of(a.trouble) : trouble_in(answer);
        if (!confirms || a.said != vote::refused || !finds_missing(node, *c, id, now))
            on_vote(node, id, {a.said, why, a.start}, r.sent, now);
    }
    if (a.said == vote::unknown)
        fail_session(node, now);
}

// The answer to a request for a place in the queue.
void redlock_core::on_placed(std::size_t node, const request& r, reply answer, time_point now)
{
    const claim_id id = r.reference;
    const fence_answer a = hear(node, r, answer, now);
    if (a.said == vote::unknown)
        return fail_session(node, now); // which chooses another queue_node
    claim* const c = claims_.find(id);
    if (c == nullptr || c->phase != stage::queued || c->queue_node != node)
        return;
    c->fence->troubles[node] = a.trouble;
    if (a.said == vote::granted)
        return begin_turn(id, r.sent, a.start, now);
    if (a.said == vote::refused)
        return wait_in_queue(id, a.left, now);
    if (is_no_script(answer) && r.kind == static_cast<std::uint8_t>(request_kind::enqueue))
        return send_enqueue(id, true, now);
    note_queue_error(node, id, answer, now);
    change_queue_node(id, now);
}

// Some nodes have granted less than the token. An answer to that is waited for as for any other.
void redlock_core::write_back_to_those_behind(claim_id id, time_point now)
{
    claim& c = claims_[id];
    bool any = false;
    while (const auto r = c.fence->round.next_write_back()) {
        any = true;
        if (sessions_[r->node]->now() == node_session::reachability::ready)
            send_write_back(*r, id, false, now);
        else
            c.written_back(r->node, write_back_answer::unknown);
    }
    if (any && c.phase == stage::asking)
        claim_ends_.set(slot_index(id), now + patience(c.terms.ttl));
}

void redlock_core::send_write_back(
    const token_round::write_back& r, claim_id id, bool by_text, time_point now)
{
    fence_->calls.write_back(command_, claims_[id], r, by_text);
    send(r.node, by_text ? request_kind::write_back_by_text : request_kind::write_back, id, now);
}

void redlock_core::on_written_back(std::size_t node, const request& r, reply answer, time_point now)
{
    const resp::value& v = answer.front();
    const bool usable = v.kind == resp::value_kind::integer;
    claim* const c = claims_.find(r.reference);
    if (c != nullptr && is_open(*c)) {
        if (is_no_script(answer) && r.kind == static_cast<std::uint8_t>(request_kind::write_back))
            return send_write_back(c->fence->round.write_back_of(node), r.reference, true, now);
        auto said = write_back_answer::unknown;
        if (usable)
            said = v.integer == 1    ? write_back_answer::ok
                   : v.integer == -1 ? write_back_answer::denied
                                     : write_back_answer::lost;
        if (said == write_back_answer::denied) {
            c->fence->troubles[node] = fence_trouble::slow_clock;
            sessions_[node]->note_trouble(
                failure_of({.trouble = fence_trouble::slow_clock}, {}, {}));
        }
        settle_write_back(node, r.reference, said, now);
    }
    if (!usable && v.kind != resp::value_kind::error)
        fail_session(node, now);
}

void redlock_core::settle_write_back(
    std::size_t node, claim_id id, write_back_answer said, time_point now)
{
    claim* const c = claims_.find(id);
    if (c == nullptr || !is_open(*c))
        return; // it is being deleted
    c->written_back(node, said);
    if (c->phase == stage::asking)
        settle_attempt(id, now);
    else if (said == write_back_answer::ok) // one node to spare
        report(id, now);
}

void redlock_core::encode_fenced_renewal(std::span<const claim_id> claims, bool by_text)
{
    fenced_calls& calls = fence_->calls;
    calls.begin_renew(command_, claims.size(), by_text);
    for (const claim_id each : claims)
        calls.renew_keys(command_, claims_[each]);
    calls.renew_limits(command_);
    for (const claim_id each : claims)
        fenced_calls::renew_arguments(command_, claims_[each]);
}

} // namespace holdfast::redis
