#include "redis/redlock_core.hpp"

#include "core/hex.hpp"
#include "redis/dialect/fenced_dialect.hpp"
#include "redis/dialect/plain_dialect.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

using core::claim_id;
using core::time_point;

namespace {

// The channel of this locker, and of no other, on all nodes. A client that guesses it can only
// cause needless work.
std::string new_channel(core::jitter& random)
{
    std::string channel = "holdfast:";
    for (int half = 0; half < 2; ++half)
        core::append_hex(channel, random.next());
    return channel;
}

std::vector<node_settings> with_channel(
    std::vector<node_settings> nodes, const std::string& channel, bool fenced)
{
    for (node_settings& settings : nodes) {
        settings.channel = channel;
        settings.unused_key = fenced ? "hf:" + channel : channel; // as random as the channel
        settings.fenced = fenced;
    }
    return nodes;
}

std::unique_ptr<dialect> dialect_for(
    const std::string& channel, const std::optional<fence_settings>& fence, node_pool& nodes)
{
    if (fence)
        return std::make_unique<fenced_dialect>(channel, *fence, nodes);
    return std::make_unique<plain_dialect>(channel);
}

} // namespace

redlock_core::redlock_core(std::vector<node_settings> nodes,
    std::optional<core::duration> node_timeout, std::uint64_t jitter_seed,
    const std::optional<fence_settings>& fence)
    : jitter_(jitter_seed),
      channel_(new_channel(jitter_)),
      router_(parts_, life_, events_),
      nodes_(with_channel(std::move(nodes), channel_, fence.has_value()), node_timeout, router_,
          jitter_),
      dialect_(dialect_for(channel_, fence, nodes_)),
      parts_(nodes_, *dialect_, jitter_),
      life_(parts_, events_)
{}

claim_id redlock_core::attempt(std::uint64_t tag, std::string_view resource,
    const core::owner_token& token, const core::claim_params& params, time_point now)
{
    return life_.begin(tag, resource, token, params, now);
}

void redlock_core::abandon(claim_id id, time_point now)
{
    life_.abandon(id, now);
}

errc redlock_core::pending_error(claim_id id) const noexcept
{
    return life_.pending_error(id);
}

bool redlock_core::can_transfer(claim_id id) const noexcept
{
    const claim* const c = parts_.claims.find(id);
    return c == nullptr || c->round.can_transfer();
}

std::optional<std::uint64_t> redlock_core::transfer(claim_id id, std::uint64_t tag)
{
    return parts_.claims[id].transfer(tag);
}

void redlock_core::renew(std::span<const claim_id> claims, bool again, time_point now)
{
    parts_.kept.renew(claims, again, now);
}

void redlock_core::probe_waiters(claim_id id, time_point now)
{
    parts_.probe.ask(id, now);
}

bool redlock_core::probing_waiters(claim_id id) const noexcept
{
    return parts_.probe.is_open(id);
}

void redlock_core::leave_open(claim_id id)
{
    parts_.claims[id].ends_turns = true;
}

void redlock_core::release(claim_id id, time_point now)
{
    life_.release(id, now);
}

void redlock_core::watch(std::uint64_t tag, std::string_view resource, time_point now)
{
    parts_.watch.watch(tag, resource, now);
}

core::duration redlock_core::patience(core::duration ttl) const noexcept
{
    return nodes_.timeout(ttl);
}

std::optional<core::backend_event> redlock_core::next_event()
{
    if (events_.empty())
        return std::nullopt;
    return events_.pop();
}

time_point redlock_core::wake_at() const noexcept
{
    return std::min(life_.wake_at(), nodes_.wake_at());
}

void redlock_core::wake(time_point now, time_point heard)
{
    nodes_.wake(now);
    life_.wake(now, heard);
}

} // namespace holdfast::redis
