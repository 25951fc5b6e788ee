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

/// What fencing rests on. All clients of the nodes must agree on the first three: each node keeps
/// what it was told first (under the key "hf:n"), and refuses others as `errc::misconfigured_node`.
struct fencing_options {
    /// For how long a node grants nothing after it was restarted, or lost its data: by then every
    /// lease that it may have forgotten has ended. It begins beyond every token that it may have
    /// stored: no node stores one that is further ahead of its clock than half of this. So a node
    /// does not count while its clock is further than that from those of a majority. No lock may
    /// have a longer ttl. 1 s to 25 h.
    std::chrono::milliseconds quarantine{60'000};

    /// How far before a node's own clock it begins because a client wants it to. Tokens follow the
    /// clocks of the nodes; the clocks may be so much apart before that costs a second round trip.
    /// 10 ms to 1 h, and at most half of the quarantine.
    std::chrono::milliseconds ahead{1'000};

    /// How long a node remembers the last token of a resource that nobody uses. After that tokens
    /// follow the node's clock alone, which is beyond that token by then. At least 24 h, at most
    /// 3,650 days; 0: for ever, whatever memory that takes.
    std::chrono::milliseconds counter_lifetime{std::chrono::hours(7 * 24)};

    /// Whether a node that has no record of fencing is new, and grants at once. Without this such a
    /// node is in quarantine first, because it may have lost its data. Set it for the very first
    /// start, when no client has ever used these nodes with fencing, and never again.
    bool first_deployment = false;

    /// Whether a node that was restarted and has its record still has everything else: it syncs
    /// each write to its disk before it answers (`appendonly yes`, `appendfsync always`,
    /// `no-appendfsync-on-rewrite no`). Such a node grants at once after a restart. If it does not
    /// in truth, two may hold one lease. No effect together with `first_deployment`.
    bool trusted_persistence = false;
};

/// Settings of the redlock backend. Checked together by `redlock()`.
struct redlock_options {
    /// With `on`, each lease has a token, larger than those before it: see `lease::fence()`. All
    /// clients that share resources must choose alike: with and without fencing, the keys are
    /// others.
    holdfast::fencing fencing = holdfast::fencing::off;

    /// No effect without fencing.
    fencing_options fence{};

    /// How long a node's answer to one request is waited for. 1 ms to 60 s. A slow node delays
    /// nothing while a majority is quicker. Default: ttl / 20 of the lock in question, but at least
    /// 5 ms and at most 500 ms.
    std::optional<std::chrono::milliseconds> node_timeout{};

    /// How long name look-up, connection and greeting may take together. 1 ms to 60 s. Up to 16
    /// addresses of a host race for it: the one that answered last, then by families in turn, each
    /// up to 250 ms after the one before, or at once when that has failed.
    std::chrono::milliseconds connect_timeout{2'000};

    /// A connection on which a request has been unanswered for so long, and no other one was
    /// answered meanwhile, is closed and made anew. 100 ms to 1 h.
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
    /// lease is lost; without this they are refused as `errc::misconfigured_node`. Not with
    /// fencing: a token must not be forgotten.
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
/// of it: the first client in the queue asks it to (`CLIENT TRACKING`). A key that a crashed
/// client has left on a minority costs each acquire a round trip at most: where the arbiter's key
/// is not that of the holder, another node is the arbiter. Clients need not agree on the arbiter:
/// where a node answers in time for some of them only, who has waited for a second stands in the
/// queues of all nodes, and turns come in no order then, but they come. A node that is spoken to in
/// RESP2, or that forbids the queue, is not chosen, nor is one whose key of that name holds other
/// data (`node_stats` names it); without any, a refused client tries again after random pauses
/// (`locker_options`), in no order. The queue's key is gone three seconds after the last one in it
/// was heard of.
///
/// Clients that do not use the queue (other Redlock clients, a user without the rights for it) poll
/// and get the resource when they happen to find it free. Where it is handed over without a pause,
/// it is left to them for `lock_options::polling_window` about once in a period, as documented
/// there: by default for 200 ms in 5 s. A client that polls more often than the window is long has
/// its chance in each, beside the other clients that poll. For how long it then holds the resource
/// is its own affair: one that asks again at once after each release may keep it to itself. The
/// arbiter opens no window before the last one is a period ago, whichever process asks; until then
/// it keeps the key "<resource>:holdfast:open". What does not wait in the queue may use a window as
/// well: the first attempt of a process that knows of no contention. With fencing there are no
/// windows, since other clients do not share its keys.
///
/// With fencing, the keys of a resource are "hf:l:<resource>" for the lock, "hf:f:<resource>" for
/// the counter of its tokens, and "hf:q:<resource>" for its queue. Each lease's token is larger
/// than that of every lease on the resource that was granted before, whatever the clocks do and
/// however much they differ, as long as the nodes keep their counters. A node that was restarted
/// or emptied, or whose counter has expired, begins anew beyond all that it had stored, and order
/// holds as well, unless its own clock was set back in between by half of the quarantine or more
/// (for an expired counter: by `counter_lifetime` less half of the quarantine). Whether the clocks
/// of other nodes are right has no part in that. Beyond this, order is lost where somebody deletes
/// or sets back a counter by hand and the resource is granted again before half a quarantine is
/// over; where `first_deployment` or `trusted_persistence` is set for nodes that have lost data;
/// and where other clients, of versions that did not keep to the bound, have granted tokens.
/// For order, availability is given up where clocks are wrong: a node does not count while its
/// clock is further from those of a majority than half of the quarantine, nor, for one resource,
/// while its counter is further ahead of its clock than that; so if a majority's clocks were ahead
/// by a day and are set right, the resources that were used meanwhile are not granted for a day.
/// Tokens are milliseconds since the epoch, times 1,024, and a place in the millisecond; compare
/// them, and expect nothing else of them. One resource is granted a million times a second before
/// its tokens get ahead of the clocks; what goes beyond that is slowed down. A grant takes up
/// to 1,024 tokens, for those in the same process that follow, the fewer the further ahead they
/// are. They exist so that what a lock protects can refuse a holder that comes too late: let it
/// keep the largest token that it has seen, and refuse all smaller ones in the same step as the
/// write. A node in quarantine, or whose counter is spoilt or too far ahead, does not count. Where
/// that prevents a majority, `acquire()` fails with `errc::fencing_unavailable`, and
/// `locker::stats()` says why: at once for what a person must mend, or what takes longer than a
/// quarantine; at the end of `wait` for a quarantine, and for clocks that differ. Clients need
/// INFO, TIME, and the rights in the README; a connection by a proxy that survives a restart of the
/// node behind it defeats the quarantine.
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
