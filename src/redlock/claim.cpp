#include "redlock/claim.hpp"

#include "redlock/arbiter.hpp"

#include <algorithm>
#include <functional>

namespace holdfast::redis {

using key = claim_node::key;

void claim::begin(std::uint64_t new_tag, std::string_view name, const core::owner_token& owner,
    const core::claim_terms& new_terms, std::size_t count)
{
    resource.assign(name);
    hash = hash_of(name);
    arbiter = max_nodes;
    avoided.reset();
    answer_due = has_waited = handed_over = looking = tracked = others_free = false;
    asked_again_at = core::never;
    token = owner;
    terms = new_terms;
    tag = new_tag;
    phase = stage::asking;
    last_sent = core::long_ago;
    reported = core::long_ago;
    round = acquire_round(count);
    nodes_ = static_cast<std::uint8_t>(count);
    deleted_ = 0;
    std::fill_n(at.begin(), count, claim_node{});
}

void claim::sent(std::size_t node, core::time_point when) noexcept
{
    claim_node& n = at[node];
    n.state = key::asked;
    ++n.open;
    n.until = when + terms.ttl - terms.drift; // counts once it is `ours`
    last_sent = std::max(last_sent, when);
}

void claim::record(std::size_t node, vote v) noexcept
{
    round.record(node, v);
    at[node].again = false;
    if (v == vote::granted)
        at[node].state = key::ours;
    else if (v != vote::unknown)
        at[node].state = key::absent;
}

void claim::renewed(std::size_t node, core::time_point asked) noexcept
{
    claim_node& n = at[node];
    if (n.state == key::asked) // the grant's own answer was lost, but here is the proof
        n.state = key::ours;
    n.until = std::max(n.until, asked + terms.ttl - terms.drift);
}

void claim::missing(std::size_t node) noexcept
{
    if (at[node].open != 0) // asked again after the renewal that found nothing
        return;
    at[node].state = key::absent;
    at[node].until = core::long_ago;
}

void claim::healed(std::size_t node) noexcept
{
    at[node].state = key::healed;
}

void claim::deleted(std::size_t node, bool was_ours) noexcept
{
    at[node].state = key::absent;
    at[node].queued = false;
    deleted_ = static_cast<std::uint8_t>(deleted_ + (was_ours ? 1 : 0));
}

core::time_point claim::valid_until() const noexcept
{
    std::array<core::time_point, max_nodes> ours{};
    std::size_t count = 0;
    for (std::size_t i = 0; i < nodes_; ++i) {
        if (at[i].state == key::ours)
            ours[count++] = at[i].until;
    }
    const std::size_t needed = majority(nodes_);
    if (count < needed)
        return core::long_ago;
    const auto nth = ours.begin() + static_cast<std::ptrdiff_t>(needed - 1);
    std::nth_element(
        ours.begin(), nth, ours.begin() + static_cast<std::ptrdiff_t>(count), std::greater<>());
    return *nth;
}

bool claim::may_hold(std::size_t node) const noexcept
{
    const claim_node& n = at[node];
    return n.healing || n.queued || (n.state != key::absent && n.state != key::unsent);
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
