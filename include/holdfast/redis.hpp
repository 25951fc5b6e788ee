#pragma once

#include <holdfast/backend.hpp>
#include <holdfast/detail/export.hpp>
#include <holdfast/endpoint.hpp>
#include <holdfast/redlock.hpp>
#include <holdfast/stream_layer.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace holdfast {

/// One primary, with or without replicas, at a fixed address: a single server, or the address of
/// the primary that a managed service gives. Weaker than `redlock()` over independent nodes.
/// Follows nothing: if the service moves its name to another server at a fail-over, the next
/// connection reaches that one.
///
/// # What a fail-over loses
///
/// Replication is asynchronous. A primary answers before its replicas have the key. When a replica
/// takes its place,
/// - a lease that was granted or renewed shortly before may be missing there: another client can
///   get the resource at once, while the first holder believes in its lease until its next renewal
///   is refused (`lease::lost()`), a third of the ttl later, or until the lease ends;
/// - the old primary may go on granting for a while, to clients that cannot reach the new one. Set
///   `min-replicas-to-write 1` and a short `min-replicas-max-lag` on the servers to bound that.
///
/// Apart from fail-overs the guarantees are those of `redlock()` over one node. Use this backend
/// where two holders at once waste work; where they do harm, use `redlock()` over three or five
/// independent nodes. There is no fencing: the order of tokens would not survive two primaries at
/// once.
///
/// # Replicas
///
/// A server that is a replica, or becomes one, is refused as `errc::misconfigured_node`, and is
/// tried again each second. Waiting calls of `acquire()` then fail at once.
///
/// Options and queue are those of `redlock()`.
///
/// Throws `std::invalid_argument`: `fencing::on`, `tls` for an address without `rediss` or the
/// reverse, or an option out of its range. Does no I/O.
HOLDFAST_EXPORT backend redis_primary(endpoint primary, redlock_options options = {});

/// Settings of the sentinel backend. Checked together by `redis_sentinel()`.
struct sentinel_options {
    /// The settings of the connection to the primary. Without `tls` it is used in plain text,
    /// whatever the sentinels use. With `tls`, its certificate must have the host that the
    /// sentinels name (`tls_options::server_name` overrides it). `credentials` is asked with the
    /// address that the sentinels name. Fencing is refused.
    redlock_options primary{};

    /// The login at the primary, unless `primary.credentials` is set.
    credentials login{};

    /// The database at the primary.
    unsigned database = 0;

    /// For sentinels with the scheme `rediss`: as `redlock_options::tls` for nodes.
    std::optional<stream_layer> sentinel_tls{};

    /// Asked for the credentials of a sentinel each time it is connected to, instead of those in
    /// its URL: as `redlock_options::credentials`.
    std::function<holdfast::credentials(const endpoint&)> sentinel_credentials{};
};

/// The primary of a service that 1 to 15 Redis sentinels watch. A fail-over is followed, and loses
/// what it loses for `redis_primary()`; the guarantees are the same.
///
/// Each time a connection is opened, all sentinels are asked at once for the address (`SENTINEL
/// GET-MASTER-ADDR-BY-NAME`). The address that more than half of them name is used, without those
/// that have failed; without such an address, once all have answered or failed, the one that most
/// of them name. After a quarter of `connect_timeout`, sentinels that have not even accepted a
/// connection are left out; those that have are waited for while they could outvote the others. So
/// sentinels that cannot be connected to delay the other answers by a short time at most, and a
/// sentinel that is cut off from the others decides only for clients to which not more of the
/// others answer in time. The search, and then the connection, may each take `connect_timeout`.
///
/// The node must confirm that it is a primary. If it does not, or refuses a write because it has
/// become a replica, or the connection breaks, the sentinels are asked again, after pauses as
/// between connections. Calls of `acquire()` wait meanwhile, within their `wait`. A lease whose key
/// the new primary has goes on; otherwise it is lost at its next renewal. A primary that is silent
/// is given up after `primary.silence_timeout`: set it to the order of the sentinels'
/// `down-after-milliseconds`.
///
/// `locker::stats()` has one node, the primary: its `address` is the name of the service, with the
/// address once that is known. If no sentinel names a primary, `reason` has the failure of each.
///
/// If every sentinel refuses the login, or knows no such service, or is no sentinel, this counts as
/// such a failure of the node (`condition::misconfigured`).
///
/// Throws `std::invalid_argument`: no sentinel, more than 15, one address twice, a sentinel with a
/// database, a service name that is empty, longer than 128 characters, or has others than letters,
/// digits and `.-_`, `fencing::on`, `sentinel_tls` without a sentinel that uses it or the reverse,
/// or an option out of its range. Does no I/O.
HOLDFAST_EXPORT backend redis_sentinel(
    std::vector<endpoint> sentinels, std::string service_name, sentinel_options options = {});

/// A Redis Cluster. Each resource is locked at the primary that has the hash slot of its key; the
/// primaries do not vote together. A fail-over of a primary is followed, and loses what it loses
/// for `redis_primary()`; the guarantees are the same. Other primaries are not affected by it.
///
/// # Members
///
/// `seeds`: 1 to 15 members, of which one must answer. The others are learned from it (`CLUSTER
/// SLOTS`), and are reached by the addresses that it tells. The table of slots is asked for again
/// when a member says that a slot has moved, or does not serve it, and when a primary fails or is
/// silent for a second: of one member after the other, with growing pauses up to `reconnect_max`.
/// Each member may take `connect_timeout`. At most 512 primaries.
///
/// All members have the same user and password, those of the seeds, unless `credentials` is set: it
/// is asked with the address of each member. With `tls`, the certificate of a member must have the
/// host that the cluster tells (`tls_options::server_name` overrides it).
///
/// # Keys
///
/// The key of a lock is `key_prefix` and the name of the resource, so other clients that lock with
/// `SET NX` exclude holdfast and are excluded by it. A hash tag in the name (`{user:7}:cart`) has
/// its usual meaning. The keys of the queue are in the slot of the lock. Their names differ from
/// those in `redlock()`: docs/protocol.md.
///
/// # While a slot moves
///
/// A lease follows its key: it is renewed at the primary that has taken the key over, also while
/// the slot is still on its way (`ASK`). It is lost at its next renewal if the key is not there. An
/// attempt is made again where the old primary says that the key must be. Processes that wait lose
/// their place in the queue, and poll until the slot has arrived. A release during that time may be
/// `unconfirmed`; then the key ends with its ttl.
///
/// A move that is called off halfway (`CLUSTER SETSLOT … STABLE`) leaves keys at both primaries. As
/// for every client of a cluster, exclusion then rests on the person who puts that right.
///
/// `locker::stats()` has one node for each primary, and one more, `redis cluster`, as long as no
/// member tells the slots: its `reason` has the failure of each. A server that is no member of a
/// cluster is refused (`errc::misconfigured_node`).
///
/// Locks in a cluster cannot be inspected or taken away, and lockers keep no client records.
///
/// Throws `std::invalid_argument`: no seed, more than 15, one address twice, a unix socket, a seed
/// with a database, seeds with different logins or schemes, `fencing::on`, `tls` for addresses
/// without `rediss` or the reverse, or an option out of its range. Does no I/O.
HOLDFAST_EXPORT backend redis_cluster(std::vector<endpoint> seeds, redlock_options options = {});

} // namespace holdfast
