#include "redis/claim/claim.hpp"

#include "redis/quorum/rendezvous.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace holdfast::redis {

using key = claim_node::key;

void claim::begin(std::uint64_t new_tag, std::string_view name, const core::owner_token& owner,
    const core::claim_params& new_params, std::size_t count)
{
    lock.assign(name);
    hash = hash_of(name);
    queue_node = max_nodes;
    answer_due = has_waited = handed_over = tracked = surveyed = false;
    everywhere = others_first = looked_in_vain = ends_turns = stays_out = false;
    looks = late = 0;
    asked_again_at = core::never;
    token = owner;
    params = new_params;
    tag = new_tag;
    stage = claim_stage::asking;
    gone_at = core::long_ago;
    reported = core::long_ago;
    round_ = vote_round(count);
    deleted_ = 0;
    if (!at || nodes_ != count)
        at = std::make_unique<claim_node[]>(count);
    else
        std::fill_n(at.get(), count, claim_node{});
    nodes_ = static_cast<std::uint8_t>(count);
    if (ticket)
        *ticket = {};
}

void claim::sent(std::size_t node, core::time_point when) noexcept
{
    claim_node& n = at[node];
    if (n.state != key::ours)
        n.state = key::asked;
    n.trouble = 0;
    ++n.open;
    leaves(params.ttl, when);
}

void claim::granted(std::size_t node, core::time_point asked, std::uint64_t start)
{
    if (fence)
        return granted_tokens(node, asked, start);
    claim_node& n = at[node];
    round_.record(node, vote::granted);
    n.again = false;
    if (n.lost) {
        n.state = key::repaired;
        return;
    }
    n.state = key::ours;
    n.until = std::max(n.until, end_of(asked));
}

void claim::not_granted(std::size_t node, vote v, errc why) noexcept
{
    at[node].again = false;
    at[node].trouble = static_cast<std::uint8_t>(why);
    if (fence)
        granted_no_tokens(node, v);
    else
        round_.record(node, v);
    if (v != vote::unknown)
        at[node].state = key::absent;
}

void claim::renewed(std::size_t node, core::time_point asked) noexcept
{
    claim_node& n = at[node];
    // The answer to the grant was lost, but this proves the grant. It does not prove a token.
    if (n.state == key::asked && !fence && !n.lost)
        n.state = key::ours;
    n.until = std::max(n.until, end_of(asked));
}

void claim::missing(std::size_t node) noexcept
{
    claim_node& n = at[node];
    n.lost = n.lost || n.state == key::ours;
    // It may have been asked again after the request that found nothing.
    n.state = n.open != 0 ? key::asked : key::absent;
    n.until = core::long_ago;
}

void claim::repaired(std::size_t node) noexcept
{
    at[node].state = key::repaired;
}

void claim::deleted(std::size_t node, bool was_ours) noexcept
{
    at[node].state = key::absent;
    at[node].queued = false;
    deleted_ = static_cast<std::uint8_t>(deleted_ + (was_ours ? 1 : 0));
}

core::time_point claim::end_of(core::time_point asked) const noexcept
{
    return asked + params.ttl - params.drift;
}

core::time_point claim::valid_until() const noexcept
{
    std::array<core::time_point, max_nodes> ours{};
    std::size_t count = 0;
    for (std::size_t i = 0; i < nodes_; ++i) {
        if (at[i].state == key::ours)
            ours[count++] = at[i].until;
    }
    if (count < majority(nodes_))
        return core::long_ago;
    return majority_value(std::span(ours.data(), count), nodes_);
}

bool claim::may_hold_any() const noexcept
{
    for (std::size_t i = 0; i < nodes_; ++i) {
        if (may_hold(i))
            return true;
    }
    return false;
}

std::size_t claim::unsent() const noexcept
{
    std::size_t count = 0;
    for (std::size_t i = 0; i < nodes_; ++i)
        count += at[i].state == key::unsent ? 1u : 0u;
    return count;
}

claim::release_verdict claim::judge_release() const noexcept
{
    if (deleted_ >= majority(nodes_))
        return {true, release_outcome::released};
    std::size_t open = 0;
    for (std::size_t i = 0; i < nodes_; ++i)
        open += may_hold(i) ? 1u : 0u;
    if (deleted_ + open < majority(nodes_))
        return {true, release_outcome::expired};
    return {};
}

} // namespace holdfast::redis
