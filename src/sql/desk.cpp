#include "sql/desk.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace holdfast::sql {

using namespace std::chrono_literals;

core::duration desk::patience(core::duration ttl) const noexcept
{
    if (request_timeout_ != core::duration(0))
        return request_timeout_;
    return std::clamp<core::duration>(ttl / 4, 500ms, 2s);
}

void desk::list(core::claim_id id)
{
    claim& c = claims_[id];
    const action next = c.next();
    if (c.listed == next)
        return;
    c.listed = next; // if it stands in the list of an earlier stage, it is skipped there
    lists_[static_cast<std::size_t>(next)].push_back(id);
}

void desk::send_statement(core::time_point now)
{
    if (renewals_wait_)
        fill(action::renew, now);
    const std::size_t first = next_kind_;
    for (std::size_t i = 0; i < actions && !under_way_; ++i) {
        const std::size_t kind = (first + i) % actions;
        if (!lists_[kind].empty())
            fill(static_cast<action>(kind), now);
    }
}

// Sends a statement of this kind, if any claim still needs it.
void desk::fill(action what, core::time_point now)
{
    auto& list = lists_[static_cast<std::size_t>(what)];
    statement_under_way next{
        .what = what, .waits = !passes_over_, .claims = std::move(spare_), .sent = now};
    next.claims.clear();
    entries_.clear();
    resources_.clear();
    later_.clear();
    core::duration timeout = core::duration::max();
    for (const core::claim_id id : list) {
        claim* const c = claims_.find(id);
        if (c == nullptr || c->listed != what)
            continue;
        if (c->next() != what) {
            c->listed.reset();
            continue;
        }
        if (entries_.size() >= most_now_ || !resources_.insert(c->resource).second) {
            later_.push_back(id);
            continue;
        }
        c->listed.reset();
        next.claims.push_back(id);
        // A place that is still good is not written again, only to look for the turn.
        const bool queues = c->terms.queue != core::queueing::none &&
                            (c->now == claim::stage::asking || now >= c->refresh_at);
        entries_.push_back({.resource = c->resource,
            .owner = c->owner,
            .ttl = c->terms.ttl,
            .queues = queues,
            .waits = c->now == claim::stage::waiting});
        timeout = std::min(timeout, patience(c->terms.ttl));
    }
    std::swap(list, later_);
    if (entries_.empty()) {
        spare_ = std::move(next.claims);
        return;
    }
    passes_over_ = false;
    const bool renews = what == action::renew;
    if (!renews || !renewals_wait_)
        next_kind_ = static_cast<std::size_t>(what) + 1;
    renewals_wait_ = !renews && !lists_[static_cast<std::size_t>(action::renew)].empty();
    next.due = now + timeout;
    next.late_until = next.due + clock_.uncertainty(now);
    for (const core::claim_id id : next.claims) {
        claim& c = claims_[id];
        if (what == action::give_back) {
            ++c.removals;
        } else if (what != action::watch) {
            if (c.sent == core::never)
                c.began = now;
            c.sent = now;
        }
    }
    const bool waits = next.waits;
    under_way_ = std::move(next);
    const std::int64_t not_after = clock_.at(now + timeout);
    database_.send({.what = what,
                       .waits = waits,
                       .not_after = what == action::want ? not_after : INT64_MAX,
                       .entries = entries_},
        now);
}

std::optional<desk::statement_under_way> desk::end_statement() noexcept
{
    auto over = std::move(under_way_);
    under_way_.reset();
    return over;
}

} // namespace holdfast::sql
