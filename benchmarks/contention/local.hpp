#pragma once

#include "settings.hpp"

#include <holdfast/endpoint.hpp>

#include <string>
#include <vector>

namespace contention {

/// Some thousand coroutines of one process that wait for one thing, once or several times.
struct local_result {
    double seconds = 0; // from the first hand-off, all of them waiting, to the end of the last turn
    double cpu_seconds = 0; // of this process in that time
    std::size_t turns = 0;
    std::size_t overtakings = 0, overlaps = 0, unfinished = 0;
    std::size_t attempts = 0; // times the nodes were asked for it
    std::string failure;      // why the first that did not finish did not
};

local_result run_holdfast(
    const std::vector<holdfast::endpoint>& nodes, const settings& wanted, budget allowed);

/// The same over an asynchronous mutex: a channel with one token. To lock is to receive the token,
/// to unlock is to send it back.
enum class unlock {
    try_send, // at once, without suspension: the quickest that can be had
    send,     // `co_await`, as for the release of a lease
};
local_result run_channel(const settings& wanted, unlock how);

} // namespace contention
