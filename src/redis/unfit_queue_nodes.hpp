#pragma once

#include "core/time.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>

namespace holdfast::redis {

// Nodes that are of no use as the queue_node of a resource: their key is of a claim that is dead,
// or their queue cannot be used. Another node takes their place for a while. A hint: clients find
// out each for themselves, and what is forgotten, or known wrongly, costs a round trip.
class unfit_queue_nodes {
public:
    // The node has a key of an owner without a majority. An attempt in its first round looks the
    // same: so this counts for a moment, and until the key ends once the owner has been seen there
    // for longer than any attempt lasts. `ends`: `never` if that is not known.
    void note_stale(std::uint64_t resource_hash, std::size_t node, std::uint64_t owner,
        core::time_point ends, core::time_point now);
    // The node has granted its key.
    void forget_stale(std::uint64_t resource_hash, std::size_t node) noexcept;
    // That owner was seen there.
    void note_owner(
        std::uint64_t resource_hash, std::size_t node, std::uint64_t owner, core::time_point now);
    // Whether that was for longer than the queue_node's key takes to change hands.
    bool is_settled(std::uint64_t resource_hash, std::size_t node, std::uint64_t owner,
        core::time_point now) const noexcept;

    // Its queue holds other data, say.
    void note_no_queue(std::uint64_t resource_hash, std::size_t node, core::time_point now);

    bool knows_stale(
        std::uint64_t resource_hash, std::size_t node, core::time_point now) const noexcept;
    bool knows_no_queue(
        std::uint64_t resource_hash, std::size_t node, core::time_point now) const noexcept;

private:
    struct memory {
        std::uint64_t owner = 0;
        core::time_point seen = core::long_ago; // that owner, for the first time
        core::time_point stale_until = core::long_ago, no_queue_until = core::long_ago;
    };
    memory& at(std::uint64_t resource_hash, std::size_t node);
    const memory* find(std::uint64_t resource_hash, std::size_t node) const noexcept;

    boost::unordered_flat_map<std::uint64_t, memory> known_;
};

} // namespace holdfast::redis
