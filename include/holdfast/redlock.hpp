#pragma once

#include <holdfast/backend.hpp>
#include <holdfast/detail/export.hpp>
#include <holdfast/endpoint.hpp>
#include <holdfast/stream_layer.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace holdfast {

/// Whether leases have a fencing token.
enum class fencing { off, on };

/// Parameters of fencing. All clients of the same nodes must use the same first two values: each
/// node stores the first values that it receives (under the key "hf:n") and refuses clients with
/// other values as `errc::misconfigured_node`. The nodes must be Redis 6.2 or later.
struct fencing_options {
    /// A node that was restarted or lost its data does not count for this long and twice `ahead`.
    /// By then every lease that it may have forgotten has ended, and every token that it may have
    /// forgotten is smaller than the next one. No lock may have a longer ttl. 1 s to 25 h.
    std::chrono::milliseconds quarantine{60'000};

    /// How far ahead of the clocks of the nodes a token may be. Tokens follow these clocks, as a
    /// majority of the nodes shows them. A node whose register for a resource is further ahead does
    /// not count for that resource: clocks were set back, or had been wrong. A client's estimate of
    /// these clocks must differ from the clock of a node by less than this, also when it takes the
    /// node half of a round trip to answer. 10 ms to 1 h, and at most half of the quarantine.
    std::chrono::milliseconds ahead{1'000};

    /// Whether a node without a record of fencing is new and grants at once. Without this option
    /// such a node is in quarantine first, because it may have lost its data. Set it for the very
    /// first start, when no client has ever used these nodes with fencing, and never again.
    bool first_deployment = false;

    /// Whether a restarted node that has its record also has all its other data, because it syncs
    /// each write to its disk before it answers (`appendonly yes`, `appendfsync always`,
    /// `no-appendfsync-on-rewrite no`). Such a node grants at once after a restart. If the node
    /// does not do so in fact, two clients may hold one lease. No effect together with
    /// `first_deployment`.
    bool trusted_persistence = false;
};

/// Settings of the redlock backend. Checked together by `redlock()`.
struct redlock_options {
    /// With `on`, each lease has a token, larger than those before it: see `lease::fence()`. All
    /// clients that share resources must use the same setting: the keys differ with and without
    /// fencing.
    holdfast::fencing fencing = holdfast::fencing::off;

    /// No effect without fencing.
    fencing_options fence{};

    /// For nodes with the scheme `rediss`: `tls()` of <holdfast/tls.hpp>. Such nodes are refused
    /// without it, and it is refused if no node has that scheme.
    std::optional<stream_layer> tls{};

    /// Asked for the credentials of a node each time a connection to it is opened, instead of those
    /// in its URL: passwords that change, or that must not be in a URL. Called on a thread of the
    /// locker's executor while the locker waits: it must return at once, and must not use the
    /// locker. If it throws, the connection fails as `errc::authentication_failed`; the text of the
    /// exception is not shown.
    std::function<holdfast::credentials(const endpoint&)> credentials{};

    /// How long to wait for a node's answer to one request. 1 ms to 60 s. A slow node delays
    /// nothing while a majority is quicker. Default: ttl / 20 of the lock in question, but at least
    /// 5 ms and at most 500 ms.
    std::optional<std::chrono::milliseconds> node_timeout{};

    /// How long name look-up, connection and greeting may take together. 1 ms to 60 s. Up to 16
    /// addresses of a host are tried in a race: first the one that answered last, then the address
    /// families in turn. Each attempt begins up to 250 ms after the one before, or at once when
    /// that one has failed.
    std::chrono::milliseconds connect_timeout{2'000};

    /// A connection is closed and opened anew when one of its requests has been unanswered for this
    /// long and no other request was answered meanwhile. 100 ms to 1 h.
    std::chrono::milliseconds silence_timeout{10'000};

    /// The pause before a new connection is random: up to `reconnect_min` after the first failure,
    /// then up to twice, four times … as long, up to `reconnect_max`. 1 ms to 1 h.
    std::chrono::milliseconds reconnect_min{50};
    /// As above.
    std::chrono::milliseconds reconnect_max{2'000};

    /// How many requests, and how many bytes of them, may be under way to one node. Beyond that the
    /// node counts as silent for new attempts. At least 16, and at least 64 KiB.
    std::size_t max_requests = 65'536;
    /// As above.
    std::size_t max_bytes = 16 * 1024 * 1024;

    /// The name under which nodes list the connections (`CLIENT LIST`). No spaces or line breaks,
    /// at most 64 bytes; empty for none.
    std::string client_name = "holdfast";

    /// The beginning of every key of this library, for servers that are shared with other programs:
    /// the key of a lock is the prefix and the name of the resource. All clients that share
    /// resources must use the same prefix; other Redlock clients must add it to the resource's
    /// name. At most 64 printable ASCII characters, no space and no braces, and not beginning with
    /// "hf:". Channels have no prefix.
    std::string key_prefix{};

    /// Whether each locker keeps a record of itself at each node, so that `locker::inspect()` can
    /// say who holds a lock: host, process id and name, `client_name`. The key is
    /// "holdfast:client:<id>", with fencing "hf:c:<id>", behind `key_prefix`. It lasts a minute, is
    /// renewed every 20 s, and `close()` deletes it. A user without the right to write this key has
    /// no record; nothing else changes.
    bool client_record = true;

    /// Whether to use nodes that evict keys when their memory is full (`maxmemory` with a
    /// `maxmemory-policy` other than `noeviction`). They may evict locks, and such a lease is lost.
    /// Without this option they are refused as `errc::misconfigured_node`. Not allowed with
    /// fencing: a token must not be forgotten.
    bool allow_eviction = false;
};

/// The Redlock algorithm over 1 to 15 independent Redis (or compatible) nodes.
///
/// A lock is the key named as the resource. Its value is a random owner token of the attempt, set
/// with `SET key token NX PX ttl` on all nodes at once. The lock is acquired when a majority
/// (n / 2 + 1) has granted it in time. Other Redlock clients on the same nodes and keys are
/// excluded by this library and exclude it. For the limits of that guarantee see the README, "A
/// lease is not a mutex".
///
/// # The queue between processes
///
/// A refused client waits in a queue. The queue is a sorted set under the key
/// "<resource>:holdfast:queue" at one node, the queue node of the resource. All clients that reach
/// the same nodes choose the same queue node. A release hands the key to the first client in the
/// queue and notifies it by a message on a channel "holdfast:<random>", to which each connection
/// subscribes. Therefore Redis lists the connections as type pubsub, and a user with restricted
/// rights needs the commands listed in docs/operation.md and the channels "holdfast:*".
///
/// Safety never depends on the queue: a lease is always granted by a majority. Failures of the
/// queue cost time only:
/// - The turn of a client that is gone is skipped at once (not if another client subscribes to all
///   channels: docs/operation.md), the turn of a frozen client after half a second. A client that
///   freezes within a second after it has joined the queue may be given the lease of another one,
///   and then keeps the resource until that ends, like any holder.
/// - A lost message or a lost queue is noticed within a second or two, because each waiting client
///   asks again once a second.
/// - A release by a client without the queue, or by one that could not reach the queue node, is
///   noticed in the same time, unless the queue node reports it: the first client in the queue
///   requests such reports (`CLIENT TRACKING`).
/// - A key that a crashed client has left on a minority costs each acquire at most one round trip,
///   or 64 ms once if it was set just before, or is about to end, and may be changing hands:
///   if the key at the queue node is not the holder's, another node is the queue node.
/// - Clients need not agree on the queue node. Where a node answers in time for some of them only,
///   a client that has waited for a second joins the queues of all nodes. Turns then come in no
///   particular order, but they come.
///
/// A node is not chosen as queue node if it is used in RESP2, if it forbids the queue, or if its
/// key of that name holds other data (`node_stats` names it). Without any queue node, a refused
/// client tries again after random pauses (`locker_options`), in no order. The queue's key is gone
/// three seconds after the last request of a client in it.
///
/// # Windows for polling clients
///
/// Clients that do not use the queue (other Redlock clients, a user without the rights for it) poll
/// and get the resource when they happen to find it free. Where it changes hands without a pause,
/// it is left to them for `lock_options::polling_window` about once in a period, as documented
/// there: by default for 200 ms in 5 s. A client that polls more often than the window is long has
/// its chance in each window, beside the other polling clients. How long it then holds the resource
/// is not limited: a client that asks again at once after each release may keep it to itself. The
/// queue node opens no window before a period has passed since the last one, whichever process
/// asks; until then it keeps the key "<resource>:holdfast:open". The first attempt of a process
/// that knows of no contention does not use the queue, so it may use a window as well. With fencing
/// there are no windows, since other clients do not share its keys.
///
/// # Fencing
///
/// With fencing, the keys of a resource are "hf:l:<resource>" for the lock and "hf:q:<resource>"
/// for its queue. Each node has 16,384 registers under the key "hf:f", which resources share. Each
/// lease's token is larger than that of every lease on the resource that was granted before the
/// nodes were asked for it (see `lease::fence()` for leases that are given to other holders),
/// whatever the clocks do and however much they differ, as long as the nodes keep their registers.
/// A node that was restarted or emptied begins again beyond all tokens that it may have accepted,
/// and the order holds as well, unless its clock *and* those of a majority of the nodes were set
/// back in between by the quarantine or more.
///
/// Beyond this, the order is lost
/// - where the registers of a node are changed by hand (to delete them is safe);
/// - where `first_deployment` or `trusted_persistence` is set for nodes that have lost data.
///
/// Where clocks are wrong, availability is given up for the order. No client wants a token that is
/// further than `ahead` beyond the clocks of the nodes, as a majority shows them. So if the clocks
/// of a majority were ahead by a day and are set right, the resources whose registers were used
/// meanwhile are not granted for a day. A single wrong clock does not matter, except that a node
/// whose clock is ahead when it first opens its registers does not count until that time.
///
/// Tokens are eighths of a millisecond since the epoch, times 128, plus a position. Compare them,
/// and rely on nothing else. Nodes can grant one resource 8,000 times a second before its tokens
/// get ahead of the clocks. At a higher rate they are `ahead` beyond the clocks after a while; from
/// then on attempts fail as while a node is in quarantine, until the clocks have caught up. Each
/// lease has 128 tokens, for so many holders in one process. Tokens exist so that the protected
/// store can refuse a late holder: it keeps the largest token that it has seen, and refuses all
/// smaller ones in the same step as the write.
///
/// A node in quarantine, or whose register is too far ahead, does not count. If that prevents a
/// majority, `acquire()` fails with `errc::fencing_unavailable`, and `locker::stats()` says why: at
/// once if a person must repair it, or if it takes longer than a quarantine and longer than a
/// minute; at the end of `wait` for a quarantine and for clocks that differ. Clients need INFO,
/// TIME, and the rights listed in docs/operation.md. Do not connect through a proxy whose
/// connections survive a restart of the node behind it: that defeats the quarantine.
///
/// # Nodes
///
/// The nodes must be independent primaries (no replicas of each other), and every client must be
/// given the same nodes. One node is the same algorithm with a majority of one. With an even
/// number, one node fewer tolerates as many failures.
///
/// Source: https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/ with validity
/// counted for each node from before its request was queued.
///
/// Throws `std::invalid_argument`: no node, more than 15, one address twice, `tls`
/// without a node that uses it or the reverse, or an option out of its range. Does no I/O.
HOLDFAST_EXPORT backend redlock(std::vector<endpoint> nodes, redlock_options options = {});

} // namespace holdfast
