#include "redis/claim/node_keys.hpp"

#include <array>
#include <span>

namespace holdfast::redis {

using key = claim_node::key;

void node_keys::begin(std::size_t nodes)
{
    if (!at_ || size_ != nodes)
        at_ = std::make_unique<claim_node[]>(nodes);
    else
        std::fill_n(at_.get(), nodes, claim_node{});
    gone_at_ = core::long_ago;
    size_ = static_cast<std::uint8_t>(nodes);
    deleted_ = 0;
}

void node_keys::forget_tried() noexcept
{
    for (std::size_t i = 0; i < size_; ++i)
        at_[i].tried = false;
}

void node_keys::sent(std::size_t node, core::time_point until) noexcept
{
    claim_node& n = at_[node];
    if (n.state != key::ours)
        n.state = key::asked;
    n.trouble = 0;
    ++n.open;
    stays(until);
}

void node_keys::renewed(std::size_t node, core::time_point until, bool proves_grant) noexcept
{
    claim_node& n = at_[node];
    if (n.state == key::asked && proves_grant && !n.lost)
        n.state = key::ours;
    if (!n.lost)
        n.until = std::max(n.until, until);
}

// A node that has forgotten the key keeps its `until`: before that, the key proves nothing there.
void node_keys::missing(std::size_t node, core::time_point asked) noexcept
{
    claim_node& n = at_[node];
    n.lost = n.lost || asked < n.until;
    // It may have been asked again after the request that found nothing.
    n.state = n.open != 0 ? key::asked : key::absent;
    if (!n.lost)
        n.until = core::long_ago;
}

void node_keys::deleted(std::size_t node, bool was_ours) noexcept
{
    at_[node].state = key::absent;
    at_[node].queued = false;
    deleted_ = static_cast<std::uint8_t>(deleted_ + (was_ours ? 1 : 0));
}

core::time_point node_keys::valid_until() const noexcept
{
    std::array<core::time_point, max_nodes> ours{};
    std::size_t count = 0;
    for (std::size_t i = 0; i < size_; ++i) {
        if (at_[i].state == key::ours)
            ours[count++] = at_[i].until;
    }
    if (count < majority(size_))
        return core::long_ago;
    return majority_value(std::span(ours.data(), count), size_);
}

bool node_keys::may_have_any_key() const noexcept
{
    for (std::size_t i = 0; i < size_; ++i) {
        if (may_have_key(i))
            return true;
    }
    return false;
}

bool node_keys::is_queued() const noexcept
{
    for (std::size_t i = 0; i < size_; ++i) {
        if (at_[i].queued)
            return true;
    }
    return false;
}

bool node_keys::may_hold_any() const noexcept
{
    for (std::size_t i = 0; i < size_; ++i) {
        if (may_hold(i))
            return true;
    }
    return false;
}

std::size_t node_keys::unsent() const noexcept
{
    std::size_t count = 0;
    for (std::size_t i = 0; i < size_; ++i)
        count += at_[i].state == key::unsent ? 1u : 0u;
    return count;
}

node_keys::release_verdict node_keys::judge_release() const noexcept
{
    if (deleted_ >= majority(size_))
        return {true, release_outcome::released};
    std::size_t open = 0;
    for (std::size_t i = 0; i < size_; ++i)
        open += may_hold(i) ? 1u : 0u;
    if (deleted_ + open < majority(size_))
        return {true, release_outcome::expired};
    return {};
}

} // namespace holdfast::redis
