#pragma once

#include <holdfast/detail/export.hpp>
#include <holdfast/error.hpp>
#include <holdfast/histogram.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast {

/// What the exclusion of a locker's backend rests on. What each of these is worth is stated where
/// the backend is chosen, for example at `redlock()`.
enum class guarantee : std::uint8_t {
    unspecified, ///< the backend does not say
    majority,    ///< a majority of independent nodes: a minority may fail, or forget its data
    one_node,    ///< one node: nothing is granted while it is down
    primary,   ///< a primary with replicas: a lease may be lost, and granted twice, at a fail-over
    process,   ///< the memory of this process: processes do not exclude each other
    consensus, ///< servers that agree on each change by majority: a minority may fail, and none may
               ///< forget its data
};

/// The state of one node, as a locker sees it.
struct node_stats {
    /// As given, without user and password. With sentinels: the service, and its last known
    /// address. In a cluster: the address that its members tell.
    std::string address;
    /// What stays the same for as long as the node is the same part of the configuration, whichever
    /// server plays it: as `address`; with sentinels, the service alone.
    std::string name;
    bool connected = false;     ///< connected, greeted and accepted as an independent primary
    error_code last_error;      ///< why the node last failed; empty once it works again
    std::string reason;         ///< the same in words, or the state of the connection; safe to log
    std::uint64_t commands = 0; ///< requests sent, without the greeting
    std::uint64_t timeouts = 0; ///< requests that were not answered in time
    std::uint64_t connects = 0; ///< connections that were accepted as usable
    std::uint64_t errors = 0;   ///< error replies to requests, without the greeting
    std::uint64_t restarts = 0; ///< connections to another server process than the one before, by
                                ///< its run_id; 0 if the node does not tell it (INFO forbidden)
    std::uint64_t clock_jumps = 0; ///< with fencing: its clock was set, by more than `ahead`
    histogram latency;             ///< from a request to its reply, however late
};

/// Counters of a locker since it was created, and its current state.
struct locker_stats {
    std::uint64_t acquired = 0;    ///< leases given to callers
    std::uint64_t handed_over = 0; ///< of these: transferred from one local holder to the next
    std::uint64_t resumed = 0;     ///< of these: taken again while they lingered
    std::uint64_t attempts = 0;    ///< attempts made at the backend
    std::uint64_t contended = 0;   ///< attempts refused because others held the resource
    std::uint64_t unreachable = 0; ///< attempts that failed otherwise, mostly for lack of answers
    std::uint64_t renewals = 0;    ///< renewals that a majority confirmed
    std::uint64_t released = 0;    ///< leases released by their holders
    std::uint64_t lost = 0;        ///< leases that ended while they were still held
    std::size_t held = 0;          ///< leases held now
    std::size_t lingering = 0;     ///< leases kept now for the next acquire: `lock_options::linger`
    std::size_t waiting = 0;       ///< acquire calls that wait now
    std::size_t asking = 0;        ///< attempts under way now
    std::size_t asking_limit = 0;  ///< the limit of `asking`; follows how quickly nodes answer
    histogram queue_wait;          ///< from the call of an acquire to its lease
    histogram quorum_time;   ///< from the requests of an attempt to their decision; an attempt
                             ///< in the queue between processes counts from its turn on
    histogram hold_time;     ///< from a lease to its release by the holder, or to its loss
    histogram validity_left; ///< what was left of a lease when its holder released it
    std::uint64_t suspensions = 0;    ///< times that the machine was found to have been suspended,
                                      ///< while the locker had something to wait for
    std::uint64_t events_dropped = 0; ///< events that were not delivered, because too many waited:
                                      ///< `on_event` or the tracer was too slow, or many
                                      ///< operations ended at once. See `on_event`
    std::vector<node_stats> nodes;    ///< empty for backends without nodes
    std::string store;                ///< the kind of backend, such as "redis sentinel mymaster"
    /// What the backend promises.
    holdfast::guarantee guarantee = holdfast::guarantee::unspecified;
};

/// The reasons of all nodes in one line, for a log: "127.0.0.1:7001: connection refused; …".
/// Nodes without trouble are left out; empty when there are no others. A server that is not needed
/// now counts as one with trouble: "not used now".
HOLDFAST_EXPORT std::string describe_nodes(const locker_stats& stats);

} // namespace holdfast
