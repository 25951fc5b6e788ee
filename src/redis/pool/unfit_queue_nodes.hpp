#pragma once

#include "core/time.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>

namespace holdfast::redis {

// Nodes that cannot serve as the queue node of a resource: their key belongs to a dead claim, or
// their queue cannot be used. Another node takes their place for a while. These are hints: each
// client finds out for itself, and a forgotten or wrong one costs a round trip.
class unfit_queue_nodes {
public:
    // The node has a key of an owner without a majority. An attempt in its first round looks the
    // same. So this counts only for a moment at first; once the owner has been seen there for
    // longer than any attempt lasts, it counts until the key ends. `ends`: `never` if that is not
    // known.
    void note_stale(std::uint64_t resource_hash, std::size_t node, std::uint64_t owner,
        core::time_point ends, core::time_point now);
    // The node has granted its key.
    void forget_stale(std::uint64_t resource_hash, std::size_t node) noexcept;
    // That owner was seen there.
    void note_owner(
        std::uint64_t resource_hash, std::size_t node, std::uint64_t owner, core::time_point now);
    // Whether it has been seen for longer than the queue node's key takes to change hands.
    bool is_settled(std::uint64_t resource_hash, std::size_t node, std::uint64_t owner,
        core::time_point now) const noexcept;

    // Its queue cannot be used, for example because it holds other data.
    void note_no_queue(std::uint64_t resource_hash, std::size_t node, core::time_point now);

    // A time in the past, if it has no stale key.
    core::time_point stale_until(std::uint64_t resource_hash, std::size_t node) const noexcept;
    bool knows_stale(
        std::uint64_t resource_hash, std::size_t node, core::time_point now) const noexcept
    {
        return now < stale_until(resource_hash, node);
    }
    bool knows_no_queue(
        std::uint64_t resource_hash, std::size_t node, core::time_point now) const noexcept;

    // A turn there led to no lease, or to one. After several of the former in a row, this client
    // is probably the only one that uses this queue node: its turn always comes too early there,
    // and a claim that has had its turn gives up its places in the queues of the others.
    void note_turn_in_vain(std::uint64_t resource_hash, std::size_t node, core::time_point now);
    void note_lease(std::uint64_t resource_hash, std::size_t node) noexcept;
    bool is_fruitless(
        std::uint64_t resource_hash, std::size_t node, core::time_point now) const noexcept;

private:
    struct memory {
        std::uint64_t owner = 0;
        core::time_point seen = core::long_ago; // that owner, for the first time
        core::time_point stale_until = core::long_ago, no_queue_until = core::long_ago;
        core::time_point latest_in_vain = core::long_ago; // of the turns
        std::uint8_t in_vain = 0;
    };
    memory& at(std::uint64_t resource_hash, std::size_t node);
    const memory* find(std::uint64_t resource_hash, std::size_t node) const noexcept;

    boost::unordered_flat_map<std::uint64_t, memory> known_;
};

} // namespace holdfast::redis
