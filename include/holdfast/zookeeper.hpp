#pragma once

#include <holdfast/backend.hpp>
#include <holdfast/detail/export.hpp>
#include <holdfast/stream_layer.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace holdfast {

/// Settings of `zookeeper()`. Checked by it.
struct zookeeper_options {
    /// The login of the scheme `digest`. Empty: none. With a user name, each connection logs in
    /// before anything else.
    std::string user{};
    /// As above. Secret: never logged.
    std::string password{};

    /// Encrypts connections: `tls()` of `<holdfast/tls.hpp>`. Needed if and only if the URL begins
    /// with `zookeepers`.
    std::optional<stream_layer> tls{};

    /// Who may use the nodes that are created: `scheme:id:permissions`, as ZooKeeper's own shell
    /// has it. The permissions are some of the letters `cdrwa`. At most 16 entries. Examples:
    /// `world:anyone:cdrwa`, the default; `auth::cdrwa`, the user of this login alone. All lockers
    /// that share locks need the permissions `cdrw` on them. `auth` needs a user.
    std::vector<std::string> acl{};

    /// The first word of the nodes' data, for people who look for the holder; process, host,
    /// program, version and start of the locker follow. At most 64 printable characters without a
    /// space.
    std::string client_name = "holdfast";

    /// How long the servers keep the locks of a process that has died: 1 s to 10 min. The servers
    /// have bounds of their own, of 2 and 20 ticks: 4 s to 40 s by default. A lease is never valid
    /// for longer than this after the last request that the servers have confirmed, so a ttl that
    /// is larger has the effect of this one.
    std::chrono::milliseconds session_timeout{10'000};

    /// How long an answer may take before the next server is asked: 10 ms to 60 s. Default: a sixth
    /// of the session's timeout, from 500 ms to 2 s.
    std::optional<std::chrono::milliseconds> request_timeout{};
    /// How long a connection may take to be opened and to resume the session: 1 ms to 60 s.
    std::chrono::milliseconds connect_timeout{2000};
    /// Bounds of the random pauses before all servers are tried again. They grow from the first to
    /// the second: 1 ms to 1 h.
    std::chrono::milliseconds reconnect_min{50};
    /// As above.
    std::chrono::milliseconds reconnect_max{2000};
};

/// Locks in one ZooKeeper ensemble, version 3.5 or newer. Link `holdfast::zookeeper`.
///
/// `url` names 1 to 31 servers of the ensemble and the folder of the locks:
/// `zookeeper://host[:port][,host[:port]...][/root]`, or `zookeepers://...` with TLS. The port is
/// 2181 by default, the root is `/holdfast`; `/` alone is the root of the servers. An IPv6 address
/// must be in brackets. One server is used at a time; the next one is asked when it fails.
///
/// What is promised: while a lease is valid, no other client of the ensemble holds the lock, as
/// long as clocks run at about the same rate. This includes Curator's `InterProcessMutex` on the
/// path `<root>/<resource>`, and kazoo's `Lock` with `extra_lock_patterns=["-lock-"]`. A server
/// that has lost its leader still answers the pings of other clients; holdfast counts only
/// transactions, which a majority has agreed to. Leases have a fencing token, strictly increasing
/// for each resource, whatever clocks do, unless the ensemble is restored from a backup.
///
/// A locker has one session, so one request keeps all its locks. When a process dies, its locks are
/// free after the session's timeout; so are those that `lock_options::min_hold` keeps after their
/// locker was closed. A lease is good for about a third of the session's timeout at any time: its
/// guard time may be a quarter of it at most. Waiters are served in the order in which their
/// requests reach the leader.
///
/// `locker::inspect()` and `list()` read the nodes. The ensemble answers as one, so the reports
/// have no `nodes`, and servers do not tell how long a session still lasts. `list()` finds the
/// locks of which the holder is of this library. `force_release()` fails with `errc::unreachable`:
/// the holder would not be told.
///
/// Throws `std::invalid_argument` if the URL or an option cannot be used. The message never
/// contains the password.
HOLDFAST_EXPORT backend zookeeper(std::string url, zookeeper_options options = {});

} // namespace holdfast
