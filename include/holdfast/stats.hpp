#pragma once

#include <holdfast/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast {

/// The state of one node, as a locker sees it.
struct node_stats {
    std::string address;        ///< as given, without user and password
    bool connected = false;     ///< connected, greeted and accepted as an independent primary
    error_code last_error;      ///< why the node last failed; empty once it works again
    std::string reason;         ///< the same in words, or the state of the connection; safe to log
    std::uint64_t commands = 0; ///< requests sent, without the greeting
    std::uint64_t timeouts = 0; ///< requests that were not answered in time
    std::uint64_t connects = 0; ///< connections that were accepted as usable
};

/// Counters of a locker since it was created, and its current state.
struct locker_stats {
    std::uint64_t acquired = 0;    ///< leases given to callers
    std::uint64_t handed_over = 0; ///< of these: transferred from one local holder to the next
    std::uint64_t attempts = 0;    ///< attempts made at the backend
    std::uint64_t contended = 0;   ///< attempts refused because others held the resource
    std::uint64_t unreachable = 0; ///< attempts that failed otherwise, mostly for lack of answers
    std::uint64_t renewals = 0;    ///< renewals that a majority confirmed
    std::uint64_t released = 0;    ///< leases released by their holders
    std::uint64_t lost = 0;        ///< leases that ended while they were still held
    std::size_t held = 0;          ///< leases held now
    std::size_t waiting = 0;       ///< acquire calls that wait now
    std::size_t asking = 0;        ///< attempts under way now
    std::size_t asking_limit = 0;  ///< the limit of `asking`; follows how quickly nodes answer
    std::vector<node_stats> nodes; ///< empty for backends without nodes
};

/// The reasons of all nodes in one line, for a log: "127.0.0.1:7001: connection refused; …".
/// Nodes without trouble are left out; empty when there are no others.
std::string describe_nodes(const locker_stats& stats);

} // namespace holdfast
