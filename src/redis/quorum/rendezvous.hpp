#pragma once

#include <cstdint>
#include <string_view>

namespace holdfast::redis {

// Which node keeps the queue of a resource: its queue node. All clients that reach the same nodes
// choose the same one, and resources spread over the nodes.
//
// Source: D. Thaler, C. Ravishankar, "Using name-based mappings to increase hit rates", 1998
// (rendezvous hashing). Hash: FNV-1a, its bits mixed as in SplitMix64.
std::uint64_t hash_of(std::string_view name) noexcept;
// The node with the highest rank is the queue node.
std::uint64_t queue_node_rank(std::uint64_t resource_hash, std::uint64_t node_hash) noexcept;

} // namespace holdfast::redis
