#include "etcd/claim_course.hpp"

#include "etcd/failure.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::etcd_store {

using core::event_kind;
using core::time_point;
using stage = claim::stage;
using namespace std::chrono_literals;

core::duration claim_course::patience(core::duration ttl) const noexcept
{
    if (request_timeout_ != core::duration(0))
        return request_timeout_;
    return std::clamp<core::duration>(ttl / 4, 500ms, 2s);
}

std::optional<core::backend_event> claim_course::next_event()
{
    if (events_.empty())
        return std::nullopt;
    return events_.pop();
}

void claim_course::begin(core::claim_id id, claim& c, core::duration preparation, time_point now)
{
    deadlines_.set(id, now + patience(c.terms.ttl) + preparation);
    desk_.want(id);
}

void claim_course::confirmed(std::size_t i, time_point sent, time_point now)
{
    session& s = sessions_[i];
    for (const core::claim_id id : sessions_.take_fulfilled(i, sent)) {
        const claim* const c = claims_.find(id);
        if (c != nullptr && c->now == stage::held && c->lease == s.lease())
            report({.kind = event_kind::validity,
                .tag = c->tag,
                .valid = s.valid_for(c->terms.ttl, c->terms.drift, sent)});
    }
    std::vector<core::claim_id> turns;
    turns.swap(turns_);
    for (const core::claim_id id : turns) {
        claim* const c = claims_.find(id);
        if (c == nullptr || c->now != stage::first)
            continue;
        if (c->session == i && sent >= c->asked)
            take_turn(id, *c, true, now);
        else
            turns_.push_back(id);
    }
}

void claim_course::lose_session(std::size_t i, time_point now)
{
    const std::int64_t lease = sessions_[i].lease();
    if (lease == 0)
        return;
    sessions_.lost(i);
    claims_.for_each([&](core::claim_id id, claim& c) {
        if (c.session != i || c.lease != lease || c.call != 0) // the answer to the call tells
            return;
        c.lease = 0;
        c.dubious = false; // nothing can be created under a lease that is gone
        if (c.now == stage::held)
            report({.kind = event_kind::lost, .tag = c.tag});
        else if (c.now == stage::leaving)
            left(id, false, now);
        else
            ask_anew(id, c);
    });
    if (sessions_[i].users().any())
        sessions_.begin(i, now);
}

void claim_course::cut_off(errc why, time_point now)
{
    claims_.for_each([&](core::claim_id id, claim& c) {
        const bool waits =
            c.now == stage::asking || c.now == stage::waiting || c.now == stage::first;
        if (waits && !c.parked)
            refuse(id, why == errc::no_reply ? errc::unreachable : why, now);
    });
}

void claim_course::decide(core::claim_id id, claim& c, std::int64_t revision, time_point now)
{
    if (c.lease != sessions_[c.session].lease()) { // lost since: the key is gone as well
        c.lease = 0;
        c.dubious = false;
        return ask_anew(id, c);
    }
    switch (c.place.where()) {
    case queue_place::state::first:
        return take_turn(id, c, false, now);
    case queue_place::state::waits:
        if (c.terms.queue == core::queueing::none)
            return refuse(id, errc::contended, now);
        c.now = stage::waiting;
        watches_.watch(c.place.queue(), id, revision + 1, members_.current());
        break;
    case queue_place::state::unclear:
        c.now = stage::waiting;
        desk_.want(id);
        break;
    case queue_place::state::absent:
        return ask_anew(id, c);
    }
    if (c.terms.queue == core::queueing::none)
        return;
    if (!std::exchange(c.parked, true))
        report({.kind = event_kind::queued, .tag = c.tag});
    deadlines_.set(id, core::never);
}

void claim_course::deleted(
    core::claim_id id, claim& c, std::span<const wire::deletion> keys, time_point now)
{
    bool gone = false;
    for (const wire::deletion& each : keys)
        gone = c.place.deleted(each) || gone;
    if (gone && c.now == stage::held) {
        report({.kind = event_kind::lost, .tag = c.tag});
    } else if (gone && (c.now == stage::waiting || c.now == stage::first)) {
        ask_anew(id, c);
    } else if (c.now == stage::waiting && c.place.where() == queue_place::state::unclear) {
        desk_.want(id);
    } else if (c.now == stage::waiting && c.place.where() == queue_place::state::first) {
        c.asked = now;
        take_turn(id, c, false, now);
    }
}

// The key is the first one, and stays it as long as the session lives. `is_confirmed`: the session
// was confirmed since.
void claim_course::take_turn(core::claim_id id, claim& c, bool is_confirmed, time_point now)
{
    session& s = sessions_[c.session];
    const core::validity valid = s.valid_for(c.terms.ttl, c.terms.drift, c.asked);
    const core::duration rest = valid.until - std::min(now, valid.until);
    const bool too_short = rest < (c.terms.ttl - c.terms.drift) / 2;
    const bool not_whole = valid.until < c.asked + c.terms.ttl - c.terms.drift;
    if (!is_confirmed && (too_short || (c.terms.whole_ttl && not_whole))) {
        c.now = stage::first;
        c.asked = now;
        turns_.push_back(id);
        return sessions_.keep_alive(c.session, now);
    }
    if (rest <= c.terms.guard)
        return refuse(id, errc::too_late, now);
    c.now = stage::held;
    deadlines_.set(id, core::never);
    report({.kind = event_kind::granted, .tag = c.tag, .valid = valid, .fence = c.token()});
}

void claim_course::ask_anew(core::claim_id id, claim& c)
{
    c.place.reset(c.place.queue(), c.place.key());
    c.now = stage::asking;
    desk_.want(id);
}

void claim_course::refuse(core::claim_id id, errc why, time_point now)
{
    claim& c = claims_[id];
    report({.kind = event_kind::refused, .reason = why, .tag = c.tag, .asked = c.asked});
    leave(id, c, now);
}

void claim_course::refuse_without_key(core::claim_id id, errc why, time_point now)
{
    claim& c = claims_[id];
    if (!c.dubious)
        c.lease = 0;
    refuse(id, why, now);
}

void claim_course::leave(core::claim_id id, claim& c, time_point now)
{
    const bool knows_key = c.now == stage::held || c.now == stage::waiting || c.now == stage::first;
    c.now = stage::leaving;
    const bool has_key = c.lease != 0 && c.lease == sessions_[c.session].lease();
    if (!has_key && c.call == 0)
        return left(id, false, now);
    leave_later(id, c, now);
    if (knows_key && !c.dubious)
        desk_.leaves(id, c);
    if (c.call == 0) // else the answer is awaited: a deletion might overtake the request
        desk_.want(id);
}

void claim_course::left(core::claim_id id, bool deleted, time_point now)
{
    claim& c = claims_[id];
    const bool repeated = c.removals > 1 && c.lease == sessions_[c.session].lease();
    if (std::exchange(c.unanswered, false))
        report({.kind = event_kind::released,
            .outcome = deleted || repeated ? release_outcome::released : release_outcome::expired,
            .tag = c.tag});
    deadlines_.set(id, core::never);
    sessions_[c.session].users().leave(now);
    watches_.leave(c.place.queue(), id, now);
    watches_.end_report(id, members_.is_up() ? &members_.current() : nullptr);
    desk_.ended(id, c);
    claims_.give_back(id);
}

void claim_course::wake(time_point now)
{
    while (const auto due = deadlines_.pop_due(now))
        expire(*due, now);
}

// The deadline of a claim has come.
void claim_course::expire(core::claim_id id, time_point now)
{
    claim& c = claims_[id];
    if (c.now != stage::leaving)
        return refuse(id, reason_or_unreachable(members_.cut_off()), now);
    if (std::exchange(c.unanswered, false))
        report(
            {.kind = event_kind::released, .outcome = release_outcome::unconfirmed, .tag = c.tag});
    if (c.call == 0)
        desk_.want(id);
}

} // namespace holdfast::etcd_store
