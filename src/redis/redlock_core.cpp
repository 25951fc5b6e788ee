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
std::string new_channel(core::jitter& random, bool knows_batons)
{
    std::string channel = "holdfast:";
    for (int half = 0; half < 2; ++half)
        core::append_hex(channel, random.next());
    if (knows_batons)
        channel += baton_mark;
    return channel;
}

std::vector<node_settings> with_channel(
    std::vector<node_settings> nodes, const client_settings& self)
{
    for (node_settings& settings : nodes) {
        settings.channel = self.channel;
        // As random as the channel.
        settings.unused_key = self.key_prefix + (self.fenced ? "hf:" : "") + self.channel;
        settings.fenced = self.fenced;
    }
    return nodes;
}

std::unique_ptr<dialect> dialect_for(const client_settings& self,
    const std::optional<fence_settings>& fence, node_pool& nodes, bool in_cluster)
{
    if (fence)
        return std::make_unique<fenced_dialect>(self.channel, *fence, nodes, self.key_prefix);
    return std::make_unique<plain_dialect>(self.channel, self.key_prefix, in_cluster);
}

} // namespace

redlock_core::redlock_core(std::vector<node_settings> nodes,
    std::optional<core::duration> node_timeout, std::uint64_t jitter_seed,
    const std::optional<fence_settings>& fence, const deployment& used)
    : jitter_(jitter_seed),
      self_{.channel = new_channel(jitter_, !used.in_cluster),
          .client_name = nodes.front().client_name,
          .key_prefix = used.key_prefix,
          .fenced = fence.has_value(),
          .keeps_record = used.client_record},
      about_(used.about),
      router_(parts_, life_, ends_, events_),
      nodes_(with_channel(std::move(nodes), self_), node_timeout, router_, jitter_),
      dialect_(dialect_for(self_, fence, nodes_, used.in_cluster)),
      parts_(nodes_, *dialect_, jitter_, self_, used.in_cluster ? 1 : renewals::default_batch),
      ends_(parts_, events_),
      life_(parts_, ends_, events_)
{
    about_.longest_ttl = dialect_->longest_ttl();
}

claim_id redlock_core::attempt(std::uint64_t tag, std::string_view resource,
    const core::owner_token& token, const core::claim_params& params, time_point now)
{
    return life_.begin(tag, resource, token, params, now);
}

void redlock_core::abandon(claim_id id, time_point now)
{
    ends_.abandon(id, now);
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
    for (const claim_id each : claims)
        parts_.rounds.ask_spares(each, now);
}

void redlock_core::release(claim_id id, time_point now)
{
    ends_.release(id, now);
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
    if (!events_.empty())
        return events_.pop();
    if (const auto id = parts_.probe.notices().next_found())
        return core::backend_event{
            .kind = core::event_kind::remote_waiters, .tag = parts_.claims[*id].tag};
    return std::nullopt;
}

time_point redlock_core::wake_at() const noexcept
{
    return std::min(
        {life_.wake_at(), nodes_.wake_at(), dialect_->wake_at(), parts_.people.wake_at()});
}

void redlock_core::wake(time_point now, time_point heard)
{
    nodes_.wake(now);
    dialect_->wake(now);
    life_.wake(now, heard);
    parts_.people.wake(now);
}

} // namespace holdfast::redis
