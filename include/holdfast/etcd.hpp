#pragma once

#include <holdfast/backend.hpp>
#include <holdfast/detail/export.hpp>
#include <holdfast/stream_layer.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace holdfast {

/// Settings of `etcd()`. Checked by it.
struct etcd_options {
    /// The login. Empty: none, or that of the client's certificate. With a user name, each
    /// connection logs in with the password before anything else. Where the server has no
    /// authentication, the login is left out.
    std::string user{};
    /// As above. Secret: never logged.
    std::string password{};

    /// Encrypts connections: `tls({.alpn = {"h2"}})` of `<holdfast/tls.hpp>`. Needed if and only
    /// if the URLs begin with `https`. Some servers refuse clients that do not offer `h2`.
    std::optional<stream_layer> tls{};

    /// Stands before the name of each resource, for example `locks/`, so that a user of etcd can
    /// be given rights on these keys alone. Locks with different prefixes are different locks. At
    /// most 64 printable characters without a space.
    ///
    /// With the default, resource `jobs` is the same lock as `etcdctl lock jobs`.
    std::string key_prefix{};

    /// The first word of the keys' values, for people who look for the holder; process, host,
    /// program, version and start of the locker follow. At most 64 printable characters without a
    /// space.
    std::string client_name = "holdfast";

    /// How long an answer may take before the next server is asked: 10 ms to 60 s. Default: a
    /// quarter of the shortest ttl in use, from 500 ms to 2 s.
    std::optional<std::chrono::milliseconds> request_timeout{};
    /// How long a connection may take to be opened and to log in: 1 ms to 60 s.
    std::chrono::milliseconds connect_timeout{2000};
    /// Bounds of the random pauses before all servers are tried again. They grow from the first to
    /// the second: 1 ms to 1 h.
    std::chrono::milliseconds reconnect_min{50};
    /// As above.
    std::chrono::milliseconds reconnect_max{2000};
};

/// Locks in one etcd cluster, version 3.4 or newer. Link `holdfast::etcd`.
///
/// `urls` are those of 1 to 31 members of the cluster: `http://host[:port]` or
/// `https://host[:port]`, port 2379 by default. An IPv6 address must be in brackets. One member is
/// used at a time; the next one is asked when it fails.
///
/// What is promised: while a lease is valid, no other client of the cluster holds the lock, as long
/// as clocks run at about the same rate. This includes `etcdctl lock`, and the mutexes of etcd's
/// own client libraries, of the same name. No member may forget data that it has stored. Leases
/// have a fencing token, strictly increasing for each resource, whatever clocks do, unless the
/// cluster is restored from a backup: see the document on etcd.
///
/// All locks of a locker whose ttl is the same in whole seconds, rounded up, share one lease in
/// etcd: one request renews them all. etcd grants no lease shorter than about 2 s. So when a
/// process dies, its locks are free after the ttl in whole seconds, but not earlier than that.
/// Waiters are served in the order in which their requests reach etcd.
///
/// `locker::inspect()` and `list()` read the keys. The cluster answers as one, so the reports have
/// no `nodes`. `list()` finds the locks of which a holder or waiter is of this library.
/// `force_release()` fails with `errc::unreachable`: the holder would not be told.
///
/// Throws `std::invalid_argument` if a URL or an option cannot be used. The message never contains
/// the password.
HOLDFAST_EXPORT backend etcd(std::vector<std::string> urls, etcd_options options = {});

} // namespace holdfast
