#pragma once

#include "settings.hpp"
#include "support/redis_server.hpp"
#include "timeline.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace contention {

/// The result of several processes that contended for one resource.
struct contest_result {
    std::size_t processes = 0;
    timeline order;
    std::size_t overtakings = 0; // within a process
    std::size_t unfinished = 0;  // coroutines
    double cpu_seconds = 0;      // of all contending processes
    /// Requests that they have sent to all nodes, as `holdfast::node_stats::commands` counts them.
    std::uint64_t sent = 0;
    /// Calls by command name, from INFO commandstats of all nodes. Commands run by a script count
    /// in addition to the script. INFO is excluded, because the measurement itself calls it.
    std::map<std::string, std::uint64_t> executed;

    std::uint64_t all_executed() const;
};

/// Starts the processes, lets them contend from a common start time on, and combines their results.
/// Throws if one of them fails.
contest_result contend(std::vector<holdfast::test::redis_server>& servers,
    const contender_settings& given, std::size_t processes);

} // namespace contention
