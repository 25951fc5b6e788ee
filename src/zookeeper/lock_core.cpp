#include "zookeeper/lock_core.hpp"

#include "zookeeper/failure.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::zookeeper_store {

using core::event_kind;
using core::time_point;
using stage = claim::stage;

lock_core::lock_core(std::shared_ptr<const lock_settings> settings, std::uint64_t jitter_seed)
    : settings_(std::move(settings)),
      paths_(settings_->root),
      session_(settings_->ensemble.session_timeout),
      answers_(claims_, session_, keeper_, servers_, requester_, latecomers_, watched_, course_,
          lookups_, *settings_),
      servers_(settings_->ensemble, answers_, jitter_seed),
      requester_(servers_),
      keeper_(session_, requester_, paths_, *settings_),
      latecomers_(requester_),
      course_(claims_, session_, keeper_, requester_, latecomers_, watched_, servers_, *settings_),
      lookups_(servers_, requester_, course_, paths_, settings_->client_name,
          static_cast<std::uint32_t>(jitter_seed >> 32u | 1u)),
      parts_{store_queue(answers_, watched_), server_nodes(servers_),
          last_steps(claims_, session_, keeper_, requester_)}
{}

core::claim_id lock_core::attempt(std::uint64_t tag, std::string_view resource,
    const core::owner_token& token, const core::claim_params& terms, time_point now)
{
    if (servers_.cut_off() != errc{}) {
        course_.report({.kind = event_kind::refused,
            .reason = reason_or_unreachable(servers_.cut_off()),
            .tag = tag});
        return 0;
    }
    const core::claim_id id = claims_.take();
    claim& c = claims_[id];
    c.place.reset(paths_.queue_of(resource));
    c.terms = terms;
    c.token = token;
    c.tag = tag;
    course_.begin(id, c, now);
    return id;
}

void lock_core::abandon(core::claim_id id, time_point now)
{
    if (claim* const c = claims_.find(id))
        course_.leave(id, *c, now);
}

errc lock_core::pending_error(core::claim_id id) const noexcept
{
    const claim* const c = claims_.find(id);
    if (c == nullptr || c->parked || c->now == stage::waiting || c->now == stage::first)
        return errc::contended;
    return reason_or_unreachable(servers_.cut_off());
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
    return c.fence();
}

// One heartbeat keeps all claims. It is sent at its time, not when asked.
void lock_core::renew(std::span<const core::claim_id> claims, bool again, time_point now)
{
    for (const core::claim_id id : claims) {
        claim* const c = claims_.find(id);
        if (c != nullptr && c->now == stage::held && c->session == session_.id())
            renew(*c, id, again, now);
    }
    keeper_.hurry(course_.is_waiting_for_session());
    keeper_.serve(now);
}

void lock_core::renew(claim& c, core::claim_id id, bool again, time_point now)
{
    const core::validity valid = session_.valid_for(c.terms.ttl, c.terms.drift, now);
    const bool enough = again ? valid.asked >= now : valid.asked > c.renewed + valid.ttl / 16;
    if (!enough)
        return course_.held().wish(id, c, again ? now : c.renewed + core::duration(1));
    c.renewed = valid.asked;
    course_.report({.kind = event_kind::validity, .tag = c.tag, .valid = valid});
}

void lock_core::release(core::claim_id id, time_point now)
{
    claim& c = claims_[id];
    c.unanswered = true;
    course_.leave(id, c, now);
}

time_point lock_core::wake_at() const noexcept
{
    const time_point next = std::min({servers_.wake_at(), course_.wake_at(), lookups_.wake_at()});
    if (!servers_.is_up())
        return next;
    if (parts_.end.is_due())
        return core::long_ago;
    return std::min({next, keeper_.next_at(), latecomers_.wake_at(), answer_due()});
}

// When the present server has failed if it has not answered until then.
time_point lock_core::answer_due() const noexcept
{
    const time_point oldest = requester_.waits_since();
    return oldest == core::never ? oldest : oldest + course_.answer_time();
}

void lock_core::wake(time_point now, time_point heard)
{
    if (servers_.is_up() && answer_due() <= heard) {
        ++servers_.current().record().stats().timeouts;
        servers_.fail(errc::no_reply, "no answer in time", now);
    }
    course_.wake(now);
    lookups_.wake(now);
    keeper_.hurry(course_.is_waiting_for_session());
    keeper_.serve(now);
    latecomers_.wake(now);
    parts_.end.serve(now);
    servers_.wake(now, heard);
}

void lock_core::close(time_point)
{
    servers_.close();
    requester_.clear();
}

} // namespace holdfast::zookeeper_store
