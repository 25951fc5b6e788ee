#pragma once

#include <holdfast/backend.hpp>
#include <holdfast/endpoint.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace holdfast {

/// Whether leases carry a fencing token.
enum class fencing { off, on };

/// Settings of the redlock backend. Checked together by `redlock()`.
struct redlock_options {
    /// Only `off` is available in this version; `on` is refused by `redlock()`.
    holdfast::fencing fencing = holdfast::fencing::off;

    /// How long a node's answer to one request is waited for. 1 ms to 60 s. A slow node delays
    /// nothing while a majority is quicker. Default: ttl / 20 of the lock in question, but at least
    /// 5 ms and at most 500 ms.
    std::optional<std::chrono::milliseconds> node_timeout{};

    /// How long name look-up, connection and greeting may take together. 1 ms to 60 s.
    std::chrono::milliseconds connect_timeout{2'000};

    /// A connection on which a request has been unanswered for so long, without one byte from the
    /// node, is closed and made anew. 100 ms to 1 h.
    std::chrono::milliseconds silence_timeout{10'000};

    /// The pause before a new connection is random, up to this long after the first failure, then
    /// twice, four times … as long, up to `reconnect_max`. 1 ms to 1 h.
    std::chrono::milliseconds reconnect_min{50};
    std::chrono::milliseconds reconnect_max{2'000};

    /// How many requests, and how many bytes of them, may be under way to one node. Beyond that the
    /// node counts as silent for new attempts. At least 16, and at least 64 KiB.
    std::size_t max_requests = 65'536;
    std::size_t max_bytes = 16 * 1024 * 1024;

    /// The name under which nodes list our connections (`CLIENT LIST`). No spaces or line breaks,
    /// at most 64 bytes; empty for none.
    std::string client_name = "holdfast";

    /// Whether nodes may be used that evict keys when their memory is full (`maxmemory` with a
    /// `maxmemory-policy` other than `noeviction`). Locks may be among what they evict, and such a
    /// lease is lost; without this they are refused as `errc::misconfigured_node`.
    bool allow_eviction = false;
};

/// The Redlock algorithm over independent Redis (or compatible) nodes, 1 to 15 of them.
///
/// A lock is the key named as the resource, holding a random owner token of the attempt, set with
/// `SET key token NX PX ttl` on every node at once; it is ours once a majority (n / 2 + 1) has
/// granted it in time. Other Redlock clients on the same nodes and keys are excluded by us and
/// exclude us. What that is worth is in the README, "What a lease is worth".
///
/// Between processes, who is refused waits in a queue: a sorted set under the key "<resource>"
/// ":holdfast:queue" at one node, the arbiter of the resource, which all clients that reach the
/// same nodes choose alike. A release hands the key to the first in it and tells that client by a
/// message on a channel "holdfast:<random>", to which each connection subscribes; so Redis lists
/// our connections as of type pubsub, and a user of restricted rights needs the commands of the
/// README's list and the channels "holdfast:*". Safety never depends on the queue: a lease is what
/// a majority has granted. What is lost of it costs time only. The turn of a client that is gone is
/// skipped at once, that of one that is frozen after half a second; a lost message or a lost queue
/// is noticed within a second or two, since who waits asks again once a second; so is a release by
/// a client without the queue, or by one that could not reach the arbiter, unless the arbiter tells
/// of it: whoever is the first in the queue asks it to (`CLIENT TRACKING`). Where clients do not
/// agree on the arbiter, because a node answers in time for some of them only, they compete: how
/// long one of them may have to wait is not bounded then. A node that is spoken to in RESP2, or
/// that forbids the queue, is not chosen; without any, a refused client tries again after random
/// pauses (`locker_options`), in no order. The queue's key is gone three seconds after the last one
/// in it was heard of.
///
/// The nodes must be independent primaries (no replicas of each other) and every client must be
/// given the same nodes. One node is the same algorithm with a majority of one. With an even
/// number, one node fewer tolerates as many failures.
///
/// Source: https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/ with validity
/// counted for each node from before its request was queued.
///
/// Throws `std::invalid_argument`: no node, more than 15, one address twice, TLS (not available
/// in this version), or an option out of its range. Does no I/O.
backend redlock(std::vector<endpoint> nodes, redlock_options options = {});

} // namespace holdfast
