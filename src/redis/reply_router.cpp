#include "redis/reply_router.hpp"

namespace holdfast::redis {

using core::claim_id;
using core::time_point;

namespace {

// Whether such a request may set the key of a claim, or leave a place to which the key is handed
// off.
constexpr bool may_set_key(request_kind kind) noexcept
{
    switch (kind) {
    case request_kind::acquire:
    case request_kind::confirm:
    case request_kind::repair:
    case request_kind::enqueue:
    case request_kind::join:
        return true;
    default:
        return false;
    }
}

} // namespace

std::string reply_router::admit(std::size_t node)
{
    const std::string other = parts_.nodes.duplicate_of(node);
    return other.empty() ? std::string() : "the same server as " + other;
}

void reply_router::on_ready(std::size_t node, time_point now)
{
    parts_.observer.look(node, now);
    parts_.mode.on_ready(node, now);
    life_.on_ready(node, now);
    parts_.people.on_ready(node, now);
}

void reply_router::on_down(std::size_t node, time_point now)
{
    parts_.observer.look(node, now);
    parts_.mode.on_down(node);
    life_.on_down(node, now);
    parts_.people.on_down(node, now);
}

void reply_router::on_push(std::size_t node, reply push, time_point now)
{
    const auto taken = token_taken_away(push);
    if (!taken.empty())
        return life_.on_taken_away(taken, node, now);
    parts_.probe.notices().on_push(node, push);
    parts_.queue.on_tracking(node, push, now);
    if (const auto gift = parts_.messages.gift_in_push(node, push))
        life_.on_baton(gift->claim, node, gift->given, now);
    else if (const auto id = parts_.messages.turn_in_push(node, push))
        life_.on_turn(*id, node, now);
}

void reply_router::on_reply(std::size_t node, const request& r, reply answer, time_point now)
{
    switch (r.kind) {
    case request_kind::acquire:
    case request_kind::confirm:
        return on_key_answer(node, r, answer, now);
    case request_kind::ballot:
    case request_kind::largest:
        if (parts_.rounds.on_ballot(node, r, answer, now))
            life_.on_ballot(r.reference, now);
        return parts_.observer.look(node, now);
    case request_kind::remove:
    case request_kind::hand_off:
        take_gift(node, r, answer, now);
        parts_.deletions.on_reply(node, r, answer, now);
        return life_.settle(r.reference, now);
    case request_kind::give:
        return ends_.on_given(node, r, answer, now);
    case request_kind::leave:
        return life_.act(parts_.queue.on_reply(node, r, answer, now), now);
    case request_kind::enqueue:
    case request_kind::join:
        if (take_gift(node, r, answer, now))
            return;
        if (const auto id = parts_.messages.turn_in_answer(node, r, answer))
            life_.on_turn(*id, node, now);
        else
            life_.act(parts_.queue.on_reply(node, r, answer, now), now);
        return parts_.observer.look(node, now);
    case request_kind::renew:
        for (const claim_id each : parts_.kept.on_renewed(node, r, answer, now))
            life_.on_renewed(each, now);
        return;
    case request_kind::repair: {
        const vote v = vote_of(answer);
        if (v == vote::unknown)
            stray(r.reference);
        on_repaired(node, r, v, now);
        if (v == vote::unknown)
            parts_.nodes.fail(node, now);
        return;
    }
    case request_kind::type:
    case request_kind::time_left:
        if (const auto event = parts_.watch.on_reply(node, r, answer, now))
            events_.push(*event);
        return;
    case request_kind::open:
    case request_kind::record:
    case request_kind::time:
        parts_.mode.on_reply(node, r, answer, now);
        return parts_.observer.look(node, now);
    case request_kind::look:
        return on_probed(node, r.reference, answer);
    case request_kind::notice:
        return parts_.probe.notices().on_reply(node, r.reference, answer, now);
    case request_kind::track:
        parts_.probe.notices().on_tracked(node, r.reference, answer);
        [[fallthrough]];
    default:
        if (is_for_people(r.kind))
            return parts_.people.on_reply(node, r, answer, now);
        life_.act(parts_.queue.on_reply(node, r, answer, now), now);
        return parts_.observer.look(node, now);
    }
}

void reply_router::on_key_answer(std::size_t node, const request& r, reply answer, time_point now)
{
    const key_answer a = read_key_answer(r, answer);
    if (a.said == vote::unknown)
        stray(r.reference);
    if (claim* const c = parts_.claims.find(r.reference))
        life_.on_key_answer(*c, node, r, a, now);
    if (a.said == vote::unknown)
        parts_.nodes.fail(node, now);
}

bool reply_router::take_gift(std::size_t node, const request& r, reply answer, time_point now)
{
    const auto gift = parts_.messages.gift_in_answer(node, r, answer);
    if (gift)
        life_.on_baton(gift->claim, node, gift->given, now);
    return gift.has_value();
}

void reply_router::on_repaired(std::size_t node, const request& r, vote v, time_point now)
{
    if (!parts_.kept.on_repaired(node, r, v, now))
        return;
    if (parts_.claims[r.reference].keys.has_majority(now))
        life_.on_renewed(r.reference, now); // the lease may be longer
    else
        life_.settle(r.reference, now); // what a repair says does not end a lease
}

void reply_router::on_probed(std::size_t node, claim_id id, reply answer)
{
    if (parts_.probe.on_reply(node, id, answer))
        events_.push({.kind = core::event_kind::no_remote_waiters, .tag = parts_.claims[id].tag});
}

void reply_router::on_redirected(std::size_t, const request& r, const redirection& where)
{
    switch (r.kind) {
    case request_kind::renew:
        for (const claim_id each : parts_.kept.claims_of(r))
            parts_.redirected.note(each, where);
        return;
    case request_kind::acquire:
    case request_kind::remove:
    case request_kind::hand_off:
        return parts_.redirected.note(r.reference, where);
    default:
        return; // decides nothing about the key
    }
}

bool reply_router::say_again(std::size_t node, const request& r, time_point now)
{
    switch (r.kind) {
    case request_kind::acquire:
    case request_kind::confirm:
        return parts_.rounds.say_again(node, r, now);
    case request_kind::renew:
        return parts_.kept.say_again(node, r, now);
    case request_kind::enqueue:
        return parts_.queue.say_again(node, r, now);
    case request_kind::give:
        return parts_.given.say_again(node, r, now);
    case request_kind::remove:
    case request_kind::hand_off:
        return parts_.deletions.say_again(node, r, now);
    default:
        return false;
    }
}

void reply_router::on_sent_late(std::size_t node, const request& r, time_point now)
{
    switch (r.kind) {
    case request_kind::renew:
        for (const claim_id each : parts_.kept.claims_of(r)) {
            if (const claim* const c = parts_.claims.find(each))
                parts_.claims.leave_longer(each, c->params.ttl, now);
        }
        return;
    case request_kind::type:
    case request_kind::time_left:
    case request_kind::open:
    case request_kind::record:
    case request_kind::time:
    case request_kind::largest:
    case request_kind::owner:
    case request_kind::notice:
    case request_kind::untrack:
        return; // stores nothing on the node
    default:
        if (is_for_people(r.kind))
            return;
        return life_.on_sent_late(node, r, now);
    }
}

void reply_router::stray(claim_id id) noexcept
{
    if (claim* const c = parts_.claims.find(id))
        c->stray();
}

void reply_router::on_orphaned(std::size_t node, const request& r, time_point now)
{
    const claim_id id = r.reference;
    if (may_set_key(r.kind))
        stray(id);
    switch (r.kind) {
    case request_kind::give:
        return ends_.on_gift_lost(id, now);
    case request_kind::renew:
        for (const claim_id each : parts_.kept.claims_of(r))
            stray(each);
        return parts_.kept.end(node, id);
    case request_kind::repair:
        return on_repaired(node, r, vote::unknown, now);
    case request_kind::type:
    case request_kind::time_left:
        return parts_.watch.lose_answer(id);
    case request_kind::acquire:
    case request_kind::confirm:
        if (claim* const c = parts_.claims.find(id))
            life_.on_key_answer(
                *c, node, r, {.said = vote::unknown, .why = parts_.nodes.why_down(node)}, now);
        return;
    case request_kind::ballot:
    case request_kind::largest:
        if (parts_.rounds.lose_ballot(node, r, now))
            life_.on_ballot(id, now);
        return;
    case request_kind::remove:
    case request_kind::hand_off:
        parts_.deletions.lose_answer(node, id);
        if (const claim* const c = parts_.claims.find(id);
            c != nullptr && c->stage == claim_stage::releasing)
            life_.settle(id, now);
        return;
    case request_kind::look:
        return on_probed(node, id, {});
    default:
        if (is_for_people(r.kind))
            parts_.people.lose_answer(node, r, now);
        return; // the node is down: another one is asked
    }
}

} // namespace holdfast::redis
