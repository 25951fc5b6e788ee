#include "sql/course.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace holdfast::sql {

using core::event_kind;
using core::time_point;
using stage = claim::stage;
using namespace std::chrono_literals;

namespace {

// Between two looks at a row that another transaction has locked.
constexpr core::duration shortest_pause = 1ms, longest_pause = 50ms;
// After the end of another holder's lease.
constexpr core::duration after_end = 2ms;

} // namespace

std::optional<core::backend_event> course::next_event()
{
    if (events_.empty())
        return std::nullopt;
    return events_.pop();
}

void course::found(core::claim_id id, const row& what, time_point sent, time_point now)
{
    claim* const c = claims_.find(id);
    if (c == nullptr)
        return;
    if (what.what == finding::locked)
        return put_off(id, errc::contended, now);
    c->locked = 0;
    switch (what.what) {
    case finding::granted:
        if (c->now == stage::asking || c->now == stage::waiting)
            return hold(id, what.tokens, sent, now);
        if (c->now == stage::held) // its turn was told before this answer
            report({.kind = event_kind::validity, .tag = c->tag, .valid = c->valid_since(sent)});
        return;
    case finding::queued:
        if (c->now == stage::asking || c->now == stage::waiting)
            return wait(id, what, sent, now);
        return;
    case finding::refused:
        return not_granted(id, what, sent, now);
    case finding::late:
        if (c->now == stage::asking || c->now == stage::waiting)
            desk_.list(id);
        return;
    case finding::released:
    case finding::left:
    case finding::gone:
        if (c->now == stage::leaving)
            return gave_back(id, what.what, sent);
        return;
    case finding::renewed:
        if (c->now == stage::held) {
            if (sent >= c->renewal_wanted)
                c->renewal_wanted = core::never;
            report({.kind = event_kind::validity, .tag = c->tag, .valid = c->valid_since(sent)});
            has_others(id, what.others_wait, now);
        }
        return;
    case finding::kept:
        if (c->now == stage::held)
            has_others(id, what.others_wait, now);
        return;
    case finding::lost:
        if (c->now == stage::held)
            report({.kind = event_kind::lost, .tag = c->tag});
        return;
    case finding::locked:
        return;
    }
}

// It has the resource since then, at the latest: its lease counts from before that statement.
void course::hold(core::claim_id id, token_block tokens, time_point asked, time_point now)
{
    claim& c = claims_[id];
    const core::validity valid = c.valid_since(asked);
    if (valid.until <= now || valid.until - now <= c.terms.guard)
        return refuse(id, errc::too_late, now);
    if (c.is_watching())
        claims_.note_name(id);
    else
        claims_.forget_name(c);
    claims_.set_timer(id, core::never);
    c.now = stage::held;
    c.tokens = tokens;
    report({.kind = event_kind::granted, .tag = c.tag, .valid = valid, .fence = tokens.first});
}

// A place in the queue is a lease already: a hand-over gives it the end that the place had.
void course::turn(core::claim_id id, token_block tokens, time_point now)
{
    const claim& c = claims_[id];
    const core::validity valid = c.valid_since(c.confirmed);
    const core::duration rest = valid.until - std::min(now, valid.until);
    if (c.now != stage::waiting)
        return;
    if (c.terms.whole_ttl || rest < (c.terms.ttl - c.terms.drift) / 2)
        return desk_.list(id); // first a longer one
    hold(id, tokens, c.confirmed, now);
}

void course::others_wait(core::claim_id id, bool they_do)
{
    claim& c = claims_[id];
    if (c.now != stage::held)
        return;
    c.others_wait = they_do;
    if (they_do && std::exchange(c.reports_others, false))
        report({.kind = event_kind::remote_waiters, .tag = c.tag});
}

// What a statement has found. Where nobody is told, it looks again.
void course::has_others(core::claim_id id, bool they_wait, time_point now)
{
    others_wait(id, they_wait);
    claim& c = claims_[id];
    if (!c.reports_others || !database_.address().empty())
        return;
    c.only_looks = true;
    claims_.set_timer(id, looks_.for_others(now));
}

// A renewal tells whether others wait already, and those that come later tell it themselves. A
// claim that is not to be renewed looks once. Where nobody is told, it looks again and again. A
// claim that is told but has no mark may not be renewed without need: its next renewal tells.
void course::report_others(core::claim_id id)
{
    claim& c = claims_[id];
    if (c.now != stage::held)
        return;
    c.reports_others = true;
    if (c.others_wait)
        others_wait(id, true);
    else if (c.is_watching() || database_.address().empty()) {
        c.only_looks = c.terms.whole_ttl || database_.address().empty();
        desk_.list(id);
    }
}

// Only people do that, so claims are not kept by their names for it.
void course::taken(std::string_view owner)
{
    claims_.for_each([&](core::claim_id, const claim& c) {
        if (c.now == stage::held && c.owner == owner)
            report({.kind = event_kind::lost, .tag = c.tag});
    });
}

void course::wait(core::claim_id id, const row& what, time_point sent, time_point now)
{
    claim& c = claims_[id];
    c.now = stage::waiting;
    c.confirmed = sent;
    c.refresh_at = sent + c.terms.ttl / 3;
    claims_.note_name(id);
    park(id);
    not_granted(id, what, sent, now);
}

// It waits, or is refused. `what` tells its place, if it has one.
void course::not_granted(core::claim_id id, const row& what, time_point sent, time_point now)
{
    claim& c = claims_[id];
    if (c.now == stage::asking && c.terms.queue == core::queueing::none) {
        report({.kind = event_kind::refused,
            .reason = errc::contended,
            .tag = c.tag,
            .asked = c.sent});
        // The row has nothing of it, unless an earlier statement is executed only now.
        return c.late_until <= sent ? ended(id, false) : leave(id, now);
    }
    if (c.now != stage::waiting)
        return;
    if (what.ahead == row::no_place) {
        c.refresh_at = now; // it has lost its place
        return desk_.list(id);
    }
    c.in_queue.found(what.ahead, now);
    const bool first = what.ahead == 0;
    time_point next = c.refresh_at;
    if (first && what.free_in < next - now)
        next = now + std::max(what.free_in, core::duration(0)) + jitter_.between(1ms, after_end);
    if (database_.address().empty())
        next = looks_.for_turn(c.in_queue, now, next);
    claims_.set_timer(id, next);
}

void course::again_later(core::claim_id id, time_point now)
{
    claim* const c = claims_.find(id);
    if (c == nullptr || c->listed)
        return;
    const unsigned tries = std::min(c->locked++, 10u);
    const core::duration most = std::min(longest_pause, shortest_pause * (1 << tries));
    claims_.set_timer(id, now + jitter_.between(shortest_pause, most));
}

void course::put_off(core::claim_id id, errc why, time_point now)
{
    const claim* const c = claims_.find(id);
    if (c == nullptr)
        return;
    if (c->now == stage::asking && now - c->began >= desk_.patience(c->terms.ttl)) {
        if (c->terms.queue == core::queueing::none)
            return refuse(id, reason_or_unreachable(why), now);
        park(id); // the row, or the table, may stay locked for long
    }
    again_later(id, now);
}

void course::failed(core::claim_id id, errc why, time_point now)
{
    claim* const c = claims_.find(id);
    if (c == nullptr)
        return;
    if (c->now == stage::asking || c->now == stage::waiting)
        return refuse(id, why, now);
    again_later(id, now);
}

void course::unanswered(core::claim_id id, action what, time_point late_until, time_point now)
{
    claim* const c = claims_.find(id);
    if (c == nullptr)
        return;
    if (what == action::want)
        c->late_until = std::max(c->late_until, late_until);
    const bool in_vain = now - c->began >= desk_.patience(c->terms.ttl);
    if (c->now == stage::asking && !c->parked && in_vain)
        return refuse(id, errc::unreachable, now);
    if (c->now != stage::held || what == action::renew)
        desk_.list(id);
}

void course::park(core::claim_id id)
{
    claim& c = claims_[id];
    if (!std::exchange(c.parked, true))
        report({.kind = event_kind::queued, .tag = c.tag});
}

void course::refuse(core::claim_id id, errc why, time_point now)
{
    const claim& c = claims_[id];
    report({.kind = event_kind::refused, .reason = why, .tag = c.tag, .asked = c.sent});
    leave(id, now);
}

void course::leave(core::claim_id id, time_point now)
{
    claim& c = claims_[id];
    claims_.forget_name(c);
    c.now = stage::leaving;
    c.began = now;
    if (c.sent == core::never)
        return ended(id, false);
    c.locked = 0;
    desk_.list(id);
    claims_.set_timer(id, now + desk_.patience(c.terms.ttl));
}

// By then its row has ended, whatever was executed.
time_point course::gone_at(const claim& c) const noexcept
{
    return std::max(c.sent, c.late_until) + c.terms.ttl + c.terms.ttl / 50 +
           2 * desk_.patience(c.terms.ttl);
}

void course::gave_back(core::claim_id id, finding what, time_point sent)
{
    claim& c = claims_[id];
    const bool was_there = what == finding::released || c.removals > 1;
    if (c.late_until <= sent)
        return ended(id, was_there);
    if (std::exchange(c.unanswered, false))
        report({.kind = event_kind::released,
            .outcome = was_there ? release_outcome::released : release_outcome::expired,
            .tag = c.tag});
    claims_.set_timer(id, c.late_until); // once more, when no statement can be so late
}

void course::ended(core::claim_id id, bool was_there)
{
    claim& c = claims_[id];
    if (std::exchange(c.unanswered, false))
        report({.kind = event_kind::released,
            .outcome = was_there ? release_outcome::released : release_outcome::expired,
            .tag = c.tag});
    claims_.set_timer(id, core::never);
    claims_.give_back(id);
}

void course::resume()
{
    claims_.for_each([this](core::claim_id id, const claim& c) {
        if (c.now == stage::waiting || (c.now == stage::held && c.reports_others &&
                                           (c.is_watching() || database_.address().empty())))
            desk_.list(id);
    });
}

void course::cut_off(errc why, time_point now)
{
    claims_.for_each([&](core::claim_id id, const claim& c) {
        if ((c.now == stage::asking || c.now == stage::waiting) && !c.parked)
            refuse(id, reason_or_unreachable(why), now);
    });
}

void course::wake(time_point now)
{
    while (const core::claim_id id = claims_.pop_due(now)) {
        claim& c = claims_[id];
        if (c.now == stage::leaving) {
            if (now - c.began >= desk_.patience(c.terms.ttl) && std::exchange(c.unanswered, false))
                report({.kind = event_kind::released,
                    .outcome = release_outcome::unconfirmed,
                    .tag = c.tag});
            if (now >= gone_at(c)) {
                ended(id, false);
                continue;
            }
            claims_.set_timer(id, std::min(gone_at(c), now + desk_.patience(c.terms.ttl)));
        }
        desk_.list(id);
    }
}

} // namespace holdfast::sql
