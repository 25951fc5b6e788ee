#include "redis/cluster_claims.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

using core::backend_event;
using core::claim_id;
using core::event_kind;
using core::time_point;
using namespace std::chrono_literals;

namespace {

// An attempt that is refused because of its slot is made again so often. Then it fails, and the
// locker makes the next one.
constexpr std::uint8_t most_tries = 8;
constexpr core::duration first_pause = 5ms, longest_pause = 160ms;

} // namespace

claim_id cluster_claims::begin(std::uint64_t tag, std::string_view resource,
    const core::owner_token& token, const core::claim_params& params, time_point now)
{
    now_ = now;
    const claim_id which = claims_.all.take();
    cluster_claim& c = claims_[which];
    c.tries = 0;
    c.queued = false;
    c.slot = map_.slot_for(resource);
    c.at.tag = tag;
    c.resource.assign(resource);
    c.token = token;
    c.params = params;
    c.ask_at.reset();
    start(which, now);
    return which;
}

void cluster_claims::start(claim_id which, time_point now)
{
    cluster_claim& c = claims_[which];
    c.now = stage::waiting;
    c.at.inner = 0;
    c.at.shard = moves_.shard_ahead(c, now);
    c.ask_at.reset();
    if (c.at.shard == shard_pool::none && map_.is_known())
        c.at.shard = map_.shard_of(c.slot);
    if (c.at.shard != shard_pool::none) {
        // What an earlier try may have left at another primary must not be taken for this one's.
        c.now = stage::asking;
        moves_.note_request(c);
        c.at.inner = map_.shards()[c.at.shard].attempt(
            which, c.resource, c.token.of_try(c.tries), c.params, now);
        return;
    }
    if (map_.is_known())
        return pause(which, now); // no primary has the slot
    claims_.wake_at(which, now + map_.longest_search());
    map_.want(now);
}

// The slot is on its way to another primary, or has none: soon it has one.
void cluster_claims::pause(claim_id which, time_point now)
{
    cluster_claim& c = claims_[which];
    map_.want(now);
    if (c.tries == most_tries)
        return refuse(which, errc::unreachable);
    c.now = stage::waiting;
    c.at.inner = 0;
    const core::duration limit = std::min(longest_pause, first_pause * (1 << c.tries));
    ++c.tries;
    if (c.ask_at)
        return claims_.wake_at(which, now); // it says where to go
    claims_.wake_at(which, now + jitter_.between(limit / 2, limit));
}

void cluster_claims::refuse(claim_id which, errc reason)
{
    events_.push({.kind = event_kind::refused, .reason = reason, .tag = claims_[which].at.tag});
    claims_.give_back(which);
}

void cluster_claims::abandon(claim_id which, time_point now)
{
    now_ = now;
    const cluster_claim& c = claims_[which];
    if (c.now == stage::asking)
        map_.shards()[c.at.shard].abandon(c.at.inner, now);
    claims_.give_back(which);
}

errc cluster_claims::pending_error(claim_id which) const noexcept
{
    const cluster_claim& c = *claims_.find(which);
    if (c.now == stage::asking)
        return map_.shards()[c.at.shard].pending_error(c.at.inner);
    const errc why = map_.cut_off();
    return why != errc{} ? why : errc::unreachable;
}

void cluster_claims::renew(std::span<const claim_id> claims, bool again, time_point now)
{
    now_ = now;
    renewals_.resize(map_.shards().size());
    for (const claim_id each : claims) {
        const cluster_claim& c = claims_[each];
        renewals_[c.at.shard].push_back(c.at.inner);
    }
    for (std::uint32_t shard = 0; shard < renewals_.size(); ++shard) {
        if (!renewals_[shard].empty())
            map_.shards()[shard].renew(renewals_[shard], again, now);
        renewals_[shard].clear();
    }
}

void cluster_claims::release(claim_id which, time_point now)
{
    now_ = now;
    cluster_claim& c = claims_[which];
    c.now = stage::releasing;
    c.tries = 0;
    c.ask_at.reset();
    claims_.do_not_wake(which);
    moves_.note_request(c);
    map_.shards()[c.at.shard].release(c.at.inner, now);
}

std::optional<backend_event> cluster_claims::next_of_shards()
{
    for (std::uint32_t shard = 0; shard < map_.shards().size(); ++shard) {
        while (const auto event = map_.shards()[shard].next_event()) {
            moves_.note_redirections(now_);
            if (auto told = outside(*event))
                return told;
        }
    }
    moves_.note_redirections(now_);
    return std::nullopt;
}

std::optional<backend_event> cluster_claims::next()
{
    if (events_.empty())
        return std::nullopt;
    return events_.pop();
}

std::optional<cluster_claim::place> cluster_claims::find(claim_id which) const noexcept
{
    const cluster_claim* const c = claims_.find(which);
    return c != nullptr ? std::optional(c->at) : std::nullopt;
}

// What an event of a shard means for the locker; nothing if it is of no interest there.
std::optional<backend_event> cluster_claims::outside(backend_event event)
{
    if (event.kind == event_kind::free_hint)
        return event; // has a tag of the locker
    const claim_id which = event.tag;
    cluster_claim* const c = claims_.find(which);
    if (c == nullptr)
        return std::nullopt;
    event.tag = c->at.tag;
    switch (event.kind) {
    case event_kind::queued:
        if (std::exchange(c->queued, true))
            return std::nullopt;
        break;
    case event_kind::granted:
        c->now = stage::held;
        c->valid = event.valid;
        c->token = c->token.of_try(c->tries);
        break;
    case event_kind::validity:
        c->valid = event.valid;
        c->ask_at.reset(); // the key is here
        break;
    case event_kind::refused:
        if (event.reason != errc::contended && moves_.was_redirected(*c)) {
            pause(which, now_);
            return std::nullopt;
        }
        claims_.give_back(which);
        break;
    case event_kind::released:
        if (event.outcome == release_outcome::unconfirmed && c->tries == 0 &&
            moves_.was_redirected(*c)) {
            c->now = stage::looking;
            map_.want(now_);
            c->looks_until = now_ + map_.shards().first().patience(c->params.ttl);
            claims_.wake_at(which, c->ask_at ? now_ : c->looks_until);
            return std::nullopt;
        }
        claims_.give_back(which);
        break;
    default:
        break;
    }
    return event;
}

void cluster_claims::on_map(time_point now)
{
    now_ = now;
    for (std::uint32_t index = 0; index < claims_.all.capacity(); ++index) {
        if (const claim_id which = claims_.all.id_at(index); which != 0)
            follow_slot(which, now);
    }
    moves_.leave_unused();
}

void cluster_claims::on_no_map(time_point now)
{
    now_ = now;
    for (std::uint32_t index = 0; index < claims_.all.capacity(); ++index) {
        if (const claim_id which = claims_.all.id_at(index); which != 0) // all of them wait
            refuse(which, map_.cut_off());
    }
}

void cluster_claims::follow_slot(claim_id which, time_point now)
{
    cluster_claim& c = claims_[which];
    const std::uint32_t shard = map_.shard_of(c.slot);
    if (shard == c.at.shard || shard == shard_pool::none)
        return;
    if ((c.now == stage::asking || c.now == stage::held) && moves_.stays_ahead(c, shard))
        return; // the slot has not arrived yet
    switch (c.now) {
    case stage::waiting:
        return start(which, now);
    case stage::asking:
        map_.shards()[c.at.shard].abandon(c.at.inner, now);
        return pause(which, now);
    case stage::held:
        return moves_.move_lease(which, shard, now);
    case stage::looking:
        return release_at(which, shard, now);
    case stage::releasing:
        return; // its answer is still to come
    }
}

void cluster_claims::wake(time_point now)
{
    now_ = now;
    while (const auto index = claims_.due.pop_due(now))
        on_due(claims_.all.id_at(*index), now);
}

void cluster_claims::on_due(claim_id which, time_point now)
{
    cluster_claim& c = claims_[which];
    if (c.now == stage::held)
        return moves_.follow_key(which, now);
    if (c.now == stage::looking) {
        const std::uint32_t ahead = moves_.shard_ahead(c, now);
        if (ahead != shard_pool::none && now < c.looks_until && moves_.waits_for(ahead, which, now))
            return;
        if (ahead != shard_pool::none)
            return release_at(which, ahead, now);
        events_.push({.kind = event_kind::released,
            .outcome = release_outcome::unconfirmed,
            .tag = c.at.tag});
        return claims_.give_back(which);
    }
    if (c.now != stage::waiting)
        return;
    if (map_.is_known())
        return start(which, now);
    refuse(which, map_.cut_off() != errc{} ? map_.cut_off() : errc::unreachable);
}

void cluster_claims::release_at(claim_id which, std::uint32_t shard, time_point now)
{
    cluster_claim& c = claims_[which];
    claims_.do_not_wake(which);
    c.ask_at.reset();
    moves_.adopt(which, shard);
    c.now = stage::releasing;
    c.tries = 1;
    map_.shards()[shard].release(c.at.inner, now);
}

} // namespace holdfast::redis
