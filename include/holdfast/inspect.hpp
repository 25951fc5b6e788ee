#pragma once

#include <holdfast/error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast {

/// The process and the locker behind a lock, as its client record says. Each locker keeps such a
/// record at each node (`redlock_options::client_record`); in etcd it is the value of the key, in
/// ZooKeeper the data of the node; in PostgreSQL and MariaDB there is none. The texts come from the
/// node: escape them before they are shown on a terminal.
struct client_info {
    std::string host;        ///< the name of its machine
    std::uint32_t pid = 0;   ///< of its process, in that process's own namespace
    std::string program;     ///< the short name of its process
    std::string client_name; ///< `redlock_options::client_name`
    std::string version;     ///< of the library
    std::chrono::system_clock::time_point started{}; ///< when the locker was created, by its clock
};

/// Who holds a lock, or waits for it.
struct lock_owner {
    /// The value of the key is no owner token of holdfast: another client has the lock, or
    /// a version of holdfast without client records. Nothing else is known then. A token whose time
    /// is more than a day ahead of this machine's clock counts as foreign too.
    bool foreign = false;
    /// Identifies the locker among all that use the same nodes. 0 for a locker without one.
    std::uint32_t id = 0;
    /// When its attempt began, by its wall clock, in whole seconds. A lease that was transferred
    /// between holders in one locker keeps the time of the first.
    std::chrono::system_clock::time_point since{};
    /// The first characters of the owner token: enough to recognize it, of no use to release it.
    std::string mark;
    /// Empty if the locker keeps no record, or if its record has ended: it was closed, or its
    /// process has been gone for a minute.
    std::optional<client_info> client;
    /// A majority of all nodes tell the same of `client`. If not, a single node may have made it
    /// up: do not act on it alone. Also false if the node that keeps the queue does not show the
    /// key: then the owner may have given the lease on, and only that node would know. False
    /// without `client`.
    bool client_confirmed = false;
};

/// What one node has under the key of a lock.
enum class key_state {
    unknown,  ///< the node did not answer, or refused: see `node_report::error`
    absent,   ///< no key: free here
    owner,    ///< the key of `resource_report::owner`
    other,    ///< the key of another client: of an attempt under way, or left over
    conflict, ///< data of another type, or more than 512 bytes, which is no lock
};

/// One node's part of a report.
struct node_report {
    std::string address;                ///< as in `node_stats`
    key_state key = key_state::unknown; ///< what it has
    error_code error;                   ///< why `key` is unknown
    /// How long the key lasts unless it is renewed. Empty without a key, or if the key has no end:
    /// `without_ttl`.
    std::optional<std::chrono::milliseconds> ttl_left;
    bool without_ttl = false; ///< the key never ends by itself: holdfast writes none such
    /// With fencing: a bound. No token of the resource that this node has accepted is larger, and
    /// the next one that it accepts is. Resources share registers, so it may be larger than any
    /// token of this resource.
    std::optional<std::uint64_t> fence;
};

/// The queue between processes, as its node has it.
struct queue_report {
    std::string address;    ///< of the node
    std::size_t length = 0; ///< 0: no other process waits
    /// The first in the queue first; at most the first 1,000. A locker has one place in the queue
    /// of a resource, however many of its callers wait.
    std::vector<lock_owner> waiters;
};

/// What `locker::inspect()` has found out about a resource. The nodes are asked at nearly the same
/// time, not at one instant: a lock that changes hands meanwhile may be reported as not held.
struct resource_report {
    std::string resource;     ///< its name
    bool held = false;        ///< a majority of all nodes has the key of one owner
    std::size_t majority = 0; ///< how many nodes that takes
    std::size_t having = 0;   ///< how many nodes have the key of `owner`
    /// The owner of the lock. If it is not held, the owner of the key that most nodes have, if any.
    std::optional<lock_owner> owner;
    /// How long a majority keeps the key unless it is renewed. Empty if it is not held, or if it
    /// has no end (`without_ttl`).
    std::optional<std::chrono::milliseconds> ttl_left;
    bool without_ttl = false;           ///< it is held, and only `locker::force_release()` ends it
    std::optional<std::uint64_t> fence; ///< the largest of the nodes; empty without fencing
    std::optional<queue_report> queue;  ///< the longest that a node has; empty if there is none
    std::vector<node_report> nodes;     ///< in the order of the endpoints; of Redis only
};

/// A resource in a list.
struct listed_lock {
    std::string resource;            ///< its name
    bool held = false;               ///< a majority of all nodes has the key of one owner
    std::size_t having = 0;          ///< how many nodes have the key of `owner`
    std::optional<lock_owner> owner; ///< as in `resource_report`
    std::optional<std::chrono::milliseconds> ttl_left; ///< as in `resource_report`
    bool without_ttl = false;                          ///< as in `resource_report`
};

/// What `locker::list()` has found.
struct lock_list {
    std::vector<listed_lock> locks; ///< sorted by name
    /// A majority of the nodes was read to the end, and no limit was reached (20,000 locks, ten
    /// minutes): then every lock that was held the whole time is in the list.
    bool complete = false;
};

/// What `locker::force_release()` has done.
struct forced_release {
    /// Whose lock it was. Empty if there was no owner.
    std::optional<lock_owner> owner;
    /// At how many nodes this call has deleted the key, or handed it to the next. A holder that is
    /// told deletes its other keys itself. 0 with an owner: it had lost the lock meanwhile, to
    /// another holder in most cases, and nothing was taken.
    std::size_t deleted = 0;
    /// A connection of the holder has received the message. False if it is not certain that `owner`
    /// still was the holder: see `lock_owner::client_confirmed`; and if `deleted` is 0.
    bool told = false;
};

} // namespace holdfast
