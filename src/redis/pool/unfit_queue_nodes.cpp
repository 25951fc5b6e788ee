#include "redis/pool/unfit_queue_nodes.hpp"

#include "redis/quorum/rendezvous.hpp"

#include <algorithm>

namespace holdfast::redis {

using core::time_point;
using namespace std::chrono_literals;

namespace {

// No attempt continues for longer after the other nodes have decided against it.
constexpr core::duration longest_attempt = 500ms;

// An owner that may still be an attempt is considered dead for so long.
constexpr core::duration moment = 100ms;

// A client that is handed the queue node's key confirms it sooner.
constexpr core::duration longest_hand_over = 32ms;

// For trouble without a known end.
constexpr core::duration longest_stale = 10s, longest_without_queue = 3s;

// Turns without a lease count for so long, and the node is avoided after so many.
constexpr core::duration fruitless_for = 10s;
constexpr int several = 3;

// More entries are not worth their memory: the latest ones count.
constexpr std::size_t most_remembered = 4096;

std::uint64_t name_of(std::uint64_t resource_hash, std::size_t node) noexcept
{
    return queue_node_rank(resource_hash, node);
}

} // namespace

unfit_queue_nodes::memory& unfit_queue_nodes::at(std::uint64_t resource_hash, std::size_t node)
{
    const std::uint64_t name = name_of(resource_hash, node);
    if (known_.size() >= most_remembered && !known_.contains(name))
        known_.clear();
    return known_[name];
}

const unfit_queue_nodes::memory* unfit_queue_nodes::find(
    std::uint64_t resource_hash, std::size_t node) const noexcept
{
    if (known_.empty())
        return nullptr;
    const auto found = known_.find(name_of(resource_hash, node));
    return found != known_.end() ? &found->second : nullptr;
}

void unfit_queue_nodes::note_owner(
    std::uint64_t resource_hash, std::size_t node, std::uint64_t owner, time_point now)
{
    memory& m = at(resource_hash, node);
    if (m.owner != owner || m.seen == core::long_ago)
        m.seen = now;
    m.owner = owner;
}

bool unfit_queue_nodes::is_settled(std::uint64_t resource_hash, std::size_t node,
    std::uint64_t owner, time_point now) const noexcept
{
    const memory* const m = find(resource_hash, node);
    return m != nullptr && m->owner == owner && m->seen != core::long_ago &&
           now - m->seen >= longest_hand_over;
}

void unfit_queue_nodes::note_stale(std::uint64_t resource_hash, std::size_t node,
    std::uint64_t owner, time_point ends, time_point now)
{
    note_owner(resource_hash, node, owner, now);
    memory& m = at(resource_hash, node);
    const bool dead = now - m.seen >= longest_attempt;
    m.stale_until = std::min(ends, now + (dead ? longest_stale : moment));
}

void unfit_queue_nodes::forget_stale(std::uint64_t resource_hash, std::size_t node) noexcept
{
    if (!known_.empty()) {
        const auto found = known_.find(name_of(resource_hash, node));
        if (found != known_.end())
            found->second = {.no_queue_until = found->second.no_queue_until,
                .latest_in_vain = found->second.latest_in_vain,
                .in_vain = found->second.in_vain};
    }
}

void unfit_queue_nodes::note_no_queue(std::uint64_t resource_hash, std::size_t node, time_point now)
{
    at(resource_hash, node).no_queue_until = now + longest_without_queue;
}

time_point unfit_queue_nodes::stale_until(
    std::uint64_t resource_hash, std::size_t node) const noexcept
{
    const memory* const m = find(resource_hash, node);
    return m != nullptr ? m->stale_until : core::long_ago;
}

bool unfit_queue_nodes::knows_no_queue(
    std::uint64_t resource_hash, std::size_t node, time_point now) const noexcept
{
    const memory* const m = find(resource_hash, node);
    return m != nullptr && now < m->no_queue_until;
}

void unfit_queue_nodes::note_turn_in_vain(
    std::uint64_t resource_hash, std::size_t node, time_point now)
{
    memory& m = at(resource_hash, node);
    const bool recent = m.in_vain != 0 && now - m.latest_in_vain < fruitless_for;
    const int before = recent ? m.in_vain : 0;
    m.in_vain = static_cast<std::uint8_t>(std::min(before + 1, several));
    m.latest_in_vain = now;
}

void unfit_queue_nodes::note_lease(std::uint64_t resource_hash, std::size_t node) noexcept
{
    if (!known_.empty()) {
        const auto found = known_.find(name_of(resource_hash, node));
        if (found != known_.end())
            found->second.in_vain = 0;
    }
}

bool unfit_queue_nodes::is_fruitless(
    std::uint64_t resource_hash, std::size_t node, time_point now) const noexcept
{
    const memory* const m = find(resource_hash, node);
    return m != nullptr && m->in_vain == several && now - m->latest_in_vain < fruitless_for;
}

} // namespace holdfast::redis
