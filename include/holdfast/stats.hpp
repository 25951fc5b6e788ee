#pragma once

#include <holdfast/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast {

/// One node, as a locker sees it.
struct node_stats {
    std::string address;        ///< as given, without user and password
    bool connected = false;     ///< connected, greeted and accepted as an independent primary
    error_code last_error;      ///< why it last failed us; empty once it works again
    std::string reason;         ///< the same in words, or how far the connection is; safe to log
    std::uint64_t commands = 0; ///< requests sent, the greeting not counted
    std::uint64_t timeouts = 0; ///< requests that were not answered in time
    std::uint64_t connects = 0; ///< connections that were accepted as usable
};

/// What a locker has done since it was made, and what it is doing now.
struct locker_stats {
    std::uint64_t acquired = 0;    ///< leases handed out
    std::uint64_t handed_over = 0; ///< of these: from one local holder to the next
    std::uint64_t attempts = 0;    ///< times the backend was asked
    std::uint64_t contended = 0;   ///< attempts that others' holding refused
    std::uint64_t unreachable = 0; ///< attempts that failed for want of answers
    std::uint64_t renewals = 0;    ///< renewals that a majority confirmed
    std::uint64_t released = 0;    ///< leases given back by their holders
    std::uint64_t lost = 0;        ///< leases that ended while somebody still held them
    std::size_t held = 0;          ///< leases now
    std::size_t waiting = 0;       ///< calls of acquire that wait now
    std::size_t asking = 0;        ///< attempts under way now
    std::size_t asking_limit = 0;  ///< as many may be; follows how quickly nodes answer
    std::vector<node_stats> nodes; ///< empty for backends without nodes
};

/// The reasons of all nodes in one line, for a log: "127.0.0.1:7001: connection refused; …".
/// Nodes that are well are left out; empty when all are.
std::string describe_nodes(const locker_stats& stats);

} // namespace holdfast
