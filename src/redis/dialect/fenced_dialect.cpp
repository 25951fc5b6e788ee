#include "redis/dialect/fenced_dialect.hpp"

#include "redis/node/fence_scripts.hpp"
#include "redis/node/script_call.hpp"
#include "redis/node/scripts.hpp"
#include "resp/command.hpp"

#include <algorithm>

namespace holdfast::redis {

using core::time_point;

fenced_dialect::fenced_dialect(std::string channel, const fence_settings& settings,
    node_pool& nodes, std::string_view key_prefix)
    : dialect(fenced_calls::names(key_prefix), std::move(channel)),
      settings_(settings),
      nodes_(nodes),
      calls_(settings, key_prefix),
      clock_(settings.ahead, settings.furthest())
{}

void fenced_dialect::begin(claim& c, time_point now)
{
    c.round.begin_fence(
        c.keys.size(), supply_.block(c.hash, clock_.floor(now), c.params.others_follow));
}

std::optional<std::uint64_t> fenced_dialect::token_of(const claim& c)
{
    supply_.published(c.hash, c.round.last_token());
    return c.round.tokens().token();
}

// The quarantine of a restarted node begins now, not when the first lock is wanted. And a client
// whose settings differ learns which they are before its first attempt fails because of that.
void fenced_dialect::on_ready(std::size_t node, time_point now)
{
    const server_info& server = nodes_[node].server();
    clock_.note(node, server.clock_ms, server.clock_asked, now);
    nodes_.set_quarantine(node, core::long_ago);
    calls_.probe(command_, server.run_id);
    nodes_.send(node, command_, {.kind = request_kind::probe, .sent = now});
    ask_for_record(node, now);
}

void fenced_dialect::ask_for_record(std::size_t node, time_point now)
{
    command_.clear();
    resp::append_command(command_, {"GET", calls_.record()});
    nodes_.send(node, command_, {.kind = request_kind::record, .sent = now});
}

void fenced_dialect::on_reply(std::size_t node, const request& r, reply answer, time_point now)
{
    if (r.kind == request_kind::probe) {
        hear(node, r, answer, nullptr, now);
        return;
    }
    node_health& health = nodes_[node].health();
    if (health.trouble().code == errc::misconfigured_node)
        health.note_trouble(disagreement(settings_, answer.front().text));
}

fenced_calls::wanted fenced_dialect::wanted_by(
    const claim& c, bool by_text, time_point now) const noexcept
{
    return {.lock = c.lock,
        .token = c.token.view(),
        .ttl = c.params.ttl,
        .floor = supply_.floor(c.hash, clock_.floor(now)),
        .block = c.round.block(),
        .by_text = by_text};
}

// Each request for a token tells the node the run_id that it had when it greeted us.
void fenced_dialect::begin_acquire(const claim& c, bool by_text, time_point now)
{
    calls_.begin_ask(command_, wanted_by(c, by_text, now));
}

std::string_view fenced_dialect::acquire_at(std::size_t node)
{
    calls_.end_ask(command_, nodes_[node].server().run_id);
    return command_;
}

std::string_view fenced_dialect::confirm(
    const claim& c, std::size_t node, bool by_text, time_point now)
{
    calls_.confirm(command_, wanted_by(c, by_text, now), nodes_[node].server().run_id);
    return command_;
}

std::string_view fenced_dialect::enqueue(
    const claim& c, std::string_view place, bool by_text, time_point now)
{
    calls_.enqueue(command_, wanted_by(c, by_text, now), nodes_[c.queue.node].server().run_id,
        {.name = place,
            .queue_ttl = queue_ttl,
            .hand_over_ttl = std::min(hand_over_ttl, c.params.ttl),
            .again = c.keys[c.queue.node].queued});
    return command_;
}

std::string_view fenced_dialect::renew(std::span<const claim* const> claims, bool by_text)
{
    command_.clear();
    calls_.begin_renew(command_, claims.size(), by_text);
    for (const claim* const each : claims)
        calls_.renew_keys(command_, *each);
    calls_.renew_limits(command_);
    for (const claim* const each : claims)
        fenced_calls::renew_arguments(command_, *each);
    return command_;
}

std::string_view fenced_dialect::write_back(
    const claim& c, const token_round::write_back& w, bool by_text)
{
    calls_.write_back(command_, c, w, by_text);
    return command_;
}

// Whether a majority can store what a node has granted, and the node's own clock permits it. If
// not, that node alone would lead the other nodes astray.
bool fenced_dialect::is_storable(
    const fence_answer& granted, std::uint64_t block, time_point now) const noexcept
{
    const auto last = static_cast<std::int64_t>((granted.start + block - 1) / tokens_in_ms);
    return last - in_ms(settings_.furthest()) <= granted.clock && last <= clock_.storable(now);
}

// How far a node's own clock is ahead of the others is no measure of how many tokens were taken.
void fenced_dialect::note_stored(const claim& c, const fence_answer& granted, time_point now)
{
    const std::int64_t clock = std::max<std::int64_t>(granted.clock, 0);
    const std::int64_t ahead = std::max<std::int64_t>(clock - clock_.floor(now), 0);
    const std::uint64_t last = granted.start + c.round.block() - 1;
    const std::uint64_t its_own = static_cast<std::uint64_t>(ahead) * tokens_in_ms;
    supply_.stored(c.hash, last - std::min(last, its_own));
}

// Records what an answer to the acquire script says about its node, for every kind of request.
fence_answer fenced_dialect::hear(
    std::size_t node, const request& r, reply answer, claim* c, time_point now)
{
    fence_answer a = read_fence_answer(answer);
    if (a.clock >= 0 && clock_.note(node, a.clock, r.sent, now))
        nodes_[node].health().on_clock_jump();
    if (a.trouble == fence_trouble::ahead && a.left > in_ms(settings_.quarantine))
        a.trouble = fence_trouble::far_ahead;
    if (c != nullptr && a.said == vote::granted && !is_storable(a, c->round.block(), now))
        a.trouble = fence_trouble::fast_clock;
    else if (c != nullptr && a.said == vote::granted)
        note_stored(*c, a, now);
    node_health& health = nodes_[node].health();
    if (a.said == vote::granted || a.said == vote::refused) {
        nodes_.set_quarantine(node, core::long_ago);
        health.note_trouble({});
    }
    if (a.trouble == fence_trouble::quarantine)
        nodes_.set_quarantine(node, core::later(now, std::chrono::milliseconds(a.left)));
    if (a.trouble == fence_trouble::settings) {
        on_disagreement(node, r, now);
    } else if (a.trouble != fence_trouble::none) {
        const std::string_view lock =
            c != nullptr ? std::string_view(c->lock) : names().lock_of({});
        calls_.name_counter(counter_, lock);
        health.note_trouble(failure_of(a, lock, counter_, calls_.record()));
    }
    return a;
}

void fenced_dialect::on_disagreement(std::size_t node, const request& r, time_point now)
{
    node_health& health = nodes_[node].health();
    if (health.trouble().code == meaning_of(fence_trouble::settings))
        return;
    if (r.kind != request_kind::probe) // a probe is followed by it anyway
        ask_for_record(node, now);
    health.note_trouble(disagreement(settings_, {}));
}

ballot fenced_dialect::read_ballot(
    std::size_t node, const request& r, reply answer, claim* c, time_point now)
{
    const fence_answer a = hear(node, r, answer, c, now);
    if (c != nullptr)
        c->round.note_trouble(node, a.trouble);
    const bool troubled = a.trouble != fence_trouble::none;
    return {.said = a.said,
        .why = troubled ? meaning_of(a.trouble) : trouble_in(answer),
        .start = a.start};
}

place_answer fenced_dialect::read_place(
    std::size_t node, const request& r, reply answer, claim* c, time_point now)
{
    using meaning = place_answer::meaning;
    const fence_answer a = hear(node, r, answer, c, now);
    if (a.said == vote::unknown)
        return {.said = meaning::broken};
    if (c != nullptr && c->stage == claim_stage::queued && c->queue.node == node)
        c->round.note_trouble(node, a.trouble);
    if (a.said == vote::granted)
        return {.said = meaning::granted, .start = a.start};
    if (a.said == vote::refused)
        return {.said = meaning::waits, .left = a.left};
    return {.said = meaning::refused};
}

write_back_answer fenced_dialect::read_write_back(std::size_t node, reply answer, claim& c)
{
    const resp::value& v = answer.front();
    if (v.kind != resp::value_kind::integer)
        return write_back_answer::unknown;
    if (v.integer == 1)
        return write_back_answer::ok;
    if (v.integer != -1)
        return write_back_answer::lost;
    c.round.note_trouble(node, fence_trouble::slow_clock);
    nodes_[node].health().note_trouble(
        failure_of({.trouble = fence_trouble::slow_clock}, {}, {}, {}));
    return write_back_answer::denied;
}

} // namespace holdfast::redis
