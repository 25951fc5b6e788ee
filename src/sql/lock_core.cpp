#include "sql/lock_core.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace holdfast::sql {

using core::event_kind;
using core::time_point;
using stage = claim::stage;
using namespace std::chrono_literals;

lock_core::lock_core(
    const lock_settings& settings, std::unique_ptr<database> server, std::uint64_t jitter_seed)
    : info_(settings.about),
      database_(std::move(server)),
      desk_(claims_, *database_, settings.request_timeout),
      course_(claims_, desk_, *database_, jitter_seed),
      lookups_(*database_, settings.about.name, desk_.patience(4s), jitter_seed),
      answers_(claims_, desk_, course_, lookups_),
      queue_(claims_, course_),
      nodes_(*database_),
      cleanup_(claims_)
{
    database_->serve(answers_);
}

core::claim_id lock_core::attempt(std::uint64_t tag, std::string_view resource,
    const core::owner_token& token, const core::claim_params& terms, time_point now)
{
    if (!database_->is_up() && database_->cut_off() != errc{}) {
        course_.report({.kind = event_kind::refused,
            .reason = reason_or_unreachable(database_->cut_off()),
            .tag = tag});
        return 0;
    }
    const core::claim_id id = claims_.take();
    claim& c = claims_[id];
    c.resource = resource;
    c.owner = token.view();
    if (!database_->address().empty()) {
        c.owner += '@';
        c.owner += database_->address();
        if (terms.lingers)
            c.owner += watching;
    }
    c.terms = terms;
    c.tag = tag;
    c.began = now;
    desk_.list(id);
    return id;
}

void lock_core::abandon(core::claim_id id, time_point now)
{
    if (claims_.find(id) != nullptr)
        course_.leave(id, now);
}

errc lock_core::pending_error(core::claim_id id) const noexcept
{
    const claim* const c = claims_.find(id);
    if (c == nullptr || c->parked || c->now == stage::waiting)
        return errc::contended;
    return reason_or_unreachable(database_->cut_off());
}

bool lock_core::can_transfer(core::claim_id id) const noexcept
{
    const claim* const c = claims_.find(id);
    return c != nullptr && c->now == stage::held && c->tokens.first < c->tokens.last;
}

std::optional<std::uint64_t> lock_core::transfer(core::claim_id id, std::uint64_t tag)
{
    claim& c = claims_[id];
    c.tag = tag;
    return ++c.tokens.first;
}

// A renewal that has no answer yet ends with its statement, so it is never repeated before that.
void lock_core::renew(std::span<const core::claim_id> claims, bool, time_point now)
{
    for (const core::claim_id id : claims) {
        claim* const c = claims_.find(id);
        if (c == nullptr || c->now != stage::held)
            continue;
        c->renewal_wanted = now;
        if (c->only_looks)
            claims_.set_timer(id, core::never); // that tells whether others wait as well
        desk_.list(id);
    }
}

void lock_core::release(core::claim_id id, time_point now)
{
    claims_[id].unanswered = true;
    course_.leave(id, now);
}

time_point lock_core::wake_at() const noexcept
{
    return std::min({database_->wake_at(), course_.wake_at(), desk_.answer_due(),
        lookups_.answer_due(), lookups_.wake_at()});
}

void lock_core::wake(time_point now, time_point heard)
{
    if (lookups_.answer_due() <= heard)
        lookups_.overdue();
    if (std::min(desk_.answer_due(), lookups_.answer_due()) <= heard)
        database_->fail(errc::no_reply, "no answer in time", now);
    course_.wake(now);
    lookups_.wake(now);
    database_->wake(now);
}

} // namespace holdfast::sql
