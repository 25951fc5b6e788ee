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
      nodes_(with_channel(std::move(nodes), channel_, fence.has_value()), node_timeout, *this,
          jitter_),
      dialect_(dialect_for(channel_, fence, nodes_)),
      life_(nodes_, *dialect_, jitter_, events_),
      renewals_(life_.claims(), nodes_, *dialect_),
      watch_(nodes_, *dialect_)
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
    return life_.can_transfer(id);
}

std::optional<std::uint64_t> redlock_core::transfer(claim_id id, std::uint64_t tag)
{
    return life_.claims()[id].transfer(tag);
}

void redlock_core::renew(std::span<const claim_id> claims, bool again, time_point now)
{
    renewals_.renew(claims, again, now);
}

void redlock_core::probe_waiters(claim_id id, time_point now)
{
    life_.probe_waiters(id, now);
}

bool redlock_core::probing_waiters(claim_id id) const noexcept
{
    return life_.probing_waiters(id);
}

void redlock_core::leave_open(claim_id id)
{
    life_.claims()[id].ends_turns = true;
}

void redlock_core::release(claim_id id, time_point now)
{
    life_.release(id, now);
}

void redlock_core::watch(std::uint64_t tag, std::string_view resource, time_point now)
{
    watch_.watch(tag, resource, now);
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

std::string redlock_core::admit(std::size_t node)
{
    const std::string other = nodes_.duplicate_of(node);
    return other.empty() ? std::string() : "the same server as " + other;
}

void redlock_core::on_ready(std::size_t node, time_point now)
{
    dialect_->on_ready(node, now);
    life_.on_ready(node, now);
}

void redlock_core::on_push(std::size_t node, reply push, time_point now)
{
    life_.on_push(node, push, now);
}

void redlock_core::on_reply(std::size_t node, const request& r, reply answer, time_point now)
{
    switch (r.kind) {
    case request_kind::renew:
        for (const claim_id each : renewals_.on_renewed(node, r, answer, now))
            life_.report(each, now);
        return;
    case request_kind::repair: {
        const vote v = vote_of(answer);
        if (renewals_.on_repaired(node, r.reference, v))
            life_.on_repaired(r.reference);
        if (v == vote::unknown)
            nodes_.fail(node, now);
        return;
    }
    case request_kind::type:
    case request_kind::time_left:
        if (const auto event = watch_.on_reply(node, r, answer, now))
            events_.push(*event);
        return;
    case request_kind::probe:
    case request_kind::record:
        return dialect_->on_reply(node, r, answer, now);
    case request_kind::acquire:
    case request_kind::confirm:
        return life_.on_ballot(node, r, answer, now);
    case request_kind::write_back:
        return life_.on_written_back(node, r, answer, now);
    case request_kind::remove:
    case request_kind::hand_off:
        return life_.on_deleted(node, r, answer, now);
    case request_kind::look:
        return life_.on_probed(node, r.reference, answer);
    default:
        return life_.on_queue_reply(node, r, answer, now);
    }
}

bool redlock_core::say_again(std::size_t node, const request& r, time_point now)
{
    if (r.kind == request_kind::renew)
        return renewals_.say_again(node, r, now);
    return life_.say_again(node, r, now);
}

void redlock_core::on_sent_late(std::size_t, const request& r, time_point now)
{
    switch (r.kind) {
    case request_kind::renew:
        for (const claim_id each : renewals_.claims_of(r))
            life_.on_renewal_sent_late(each, now);
        return;
    case request_kind::type:
    case request_kind::time_left:
    case request_kind::probe:
    case request_kind::record:
    case request_kind::owner:
        return; // stores nothing on the node
    default:
        return life_.on_sent_late(r.reference, r.by_text, now);
    }
}

void redlock_core::on_orphaned(std::size_t node, const request& r, time_point now)
{
    switch (r.kind) {
    case request_kind::renew:
        return renewals_.end(node, r.reference);
    case request_kind::repair:
        if (renewals_.on_repaired(node, r.reference, vote::unknown))
            life_.on_repaired(r.reference);
        return;
    case request_kind::type:
    case request_kind::time_left:
        return watch_.lose_answer(r.reference);
    default:
        return life_.on_orphaned(node, r, now);
    }
}

void redlock_core::on_down(std::size_t node, time_point now)
{
    dialect_->on_down(node);
    life_.on_down(node, now);
}

} // namespace holdfast::redis
