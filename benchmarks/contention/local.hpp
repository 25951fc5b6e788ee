#pragma once

#include "settings.hpp"

#include <holdfast/endpoint.hpp>

#include <string>
#include <vector>

namespace contention {

/// The result of many coroutines in one process that wait for one resource, once or several times.
struct local_result {
    double seconds = 0;     // from the first transfer, when all wait, to the end of the last turn
    double cpu_seconds = 0; // of this process in that time
    std::size_t turns = 0;
    std::size_t overtakings = 0, overlaps = 0, unfinished = 0;
    std::size_t attempts = 0; // made to the nodes
    std::string failure;      // of the first coroutine that did not finish
};

local_result run_holdfast(
    const std::vector<holdfast::endpoint>& nodes, const settings& wanted, budget allowed);

/// The same with an asynchronous mutex: a channel with one token. A lock receives the token, an
/// unlock sends it back.
enum class unlock {
    try_send, // without suspension: the fastest way
    send,     // with `co_await`, like the release of a lease
};
local_result run_channel(const settings& wanted, unlock how);

} // namespace contention
