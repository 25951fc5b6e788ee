#include "etcd/lock_core.hpp"

#include "etcd/failure.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::etcd_store {

using core::event_kind;
using core::time_point;
using stage = claim::stage;

lock_core::lock_core(std::shared_ptr<const lock_settings> settings, std::uint64_t jitter_seed)
    : settings_(std::move(settings)),
      answers_(claims_, sessions_, members_, calls_, desk_, watches_, course_, lookups_, history_),
      members_(settings_->cluster, answers_, jitter_seed),
      sessions_(members_, calls_),
      desk_(claims_, sessions_, members_, calls_, history_,
          requests(settings_->key_prefix, settings_->client_name)),
      course_(claims_, sessions_, members_, desk_, watches_, settings_->request_timeout),
      lookups_(members_, desk_, settings_->key_prefix, settings_->client_name,
          static_cast<std::uint32_t>(jitter_seed >> 32u | 1u)),
      parts_{store_queue(claims_, watches_, members_), member_nodes(members_),
          last_steps(claims_, sessions_, desk_)}
{}

core::claim_id lock_core::attempt(std::uint64_t tag, std::string_view resource,
    const core::owner_token& token, const core::claim_params& terms, time_point now)
{
    desk_.now_is(now);
    if (!members_.is_up() && members_.cut_off() != errc{}) {
        course_.report({.kind = event_kind::refused,
            .reason = reason_or_unreachable(members_.cut_off()),
            .tag = tag});
        return 0;
    }
    const core::claim_id id = claims_.take();
    claim& c = claims_[id];
    const std::string queue = desk_.texts().queue_of(resource);
    c.place.reset(queue, queue + std::string(token.view()));
    c.terms = terms;
    c.tag = tag;
    c.uses_queue = terms.queue != core::queueing::none;
    c.session = sessions_.for_ttl(terms.ttl);
    sessions_[c.session].users().enter();
    watches_.join(queue, id);
    // A connection and a session may have to be begun first.
    const bool prepared = members_.is_up() && sessions_[c.session].is_alive();
    course_.begin(id, c, prepared ? core::duration(0) : settings_->cluster.connect_timeout, now);
    return id;
}

void lock_core::abandon(core::claim_id id, time_point now)
{
    desk_.now_is(now);
    if (claim* const c = claims_.find(id))
        course_.leave(id, *c, now);
}

errc lock_core::pending_error(core::claim_id id) const noexcept
{
    const claim* const c = claims_.find(id);
    if (c == nullptr || c->parked || c->now == stage::waiting || c->now == stage::first)
        return errc::contended;
    return reason_or_unreachable(members_.cut_off());
}

bool lock_core::can_transfer(core::claim_id id) const noexcept
{
    const claim* const c = claims_.find(id);
    return c != nullptr && c->now == stage::held && c->transfers + 1 < claim::block;
}

std::optional<std::uint64_t> lock_core::transfer(core::claim_id id, std::uint64_t tag)
{
    claim& c = claims_[id];
    c.tag = tag;
    ++c.transfers;
    return c.token();
}

// One request keeps all claims of a session alive. Those that have just heard of one need no other.
void lock_core::renew(std::span<const core::claim_id> claims, bool again, time_point now)
{
    desk_.now_is(now);
    for (const core::claim_id id : claims) {
        claim* const c = claims_.find(id);
        if (c == nullptr || c->now != stage::held)
            continue;
        session& s = sessions_[c->session];
        if (c->lease != s.lease())
            continue; // lost: an event tells it
        const time_point recent = again ? now : now - c->terms.ttl / 16;
        const time_point last = s.kept().last();
        if (last < recent || last == core::long_ago) {
            sessions_.wants(c->session, id, now);
            sessions_.keep_alive(c->session, now);
        } else if (s.confirmed() >= recent) {
            course_.report({.kind = event_kind::validity,
                .tag = c->tag,
                .valid = s.valid_for(c->terms.ttl, c->terms.drift, s.confirmed())});
        } else {
            sessions_.wants(c->session, id, last);
        }
    }
}

void lock_core::release(core::claim_id id, time_point now)
{
    desk_.now_is(now);
    claim& c = claims_[id];
    c.unanswered = true;
    course_.leave(id, c, now);
}

time_point lock_core::wake_at() const noexcept
{
    const time_point next = std::min({members_.wake_at(), course_.wake_at(), lookups_.wake_at()});
    if (!members_.is_up())
        return next;
    if (parts_.end.is_winding_up() && sessions_.has_unused())
        return core::long_ago;
    return std::min({next, sessions_.next_at(), watches_.wake_at(), desk_.wake_at(), answer_due()});
}

// When the present member has failed if it has not answered until then. Claims with the shortest
// ttl have the least time for another member.
time_point lock_core::answer_due() const noexcept
{
    const time_point oldest =
        std::min({calls_.oldest(), sessions_.waits_since(), lookups_.waits_since()});
    return oldest == core::never ? oldest : oldest + patience(sessions_.shortest_ttl());
}

void lock_core::wake(time_point now, time_point heard)
{
    desk_.now_is(now);
    if (members_.is_up() && answer_due() <= heard) {
        ++members_.current().record().stats().timeouts;
        members_.fail(errc::no_reply, "no answer in time", now);
    }
    course_.wake(now);
    lookups_.wake(now);
    sessions_.serve(parts_.end.is_winding_up(), now);
    watches_.wake(now, members_.is_up() ? &members_.current() : nullptr);
    desk_.clear_barriers(now);
    members_.wake(now, heard);
}

void lock_core::close(time_point)
{
    members_.close();
    calls_.clear();
    desk_.forget_requests();
}

} // namespace holdfast::etcd_store
