#pragma once

#include "report.hpp"
#include "settings.hpp"
#include "support/redis_server.hpp"

#include <vector>

namespace contention {

using servers = std::vector<holdfast::test::redis_server>;

/// Hand-offs between the coroutines of one process, beside an in-process mutex.
void measure_local(servers& nodes, const settings& wanted, report& out);

/// What those who wait and those who do not take in memory.
void measure_memory(servers& nodes, const settings& wanted, report& out);

/// Processes with one contender each, beside one that has a resource for itself.
void measure_processes(servers& nodes, const settings& wanted, report& out);

/// Processes with many contenders each, who all want a number of turns.
void measure_crowd(servers& nodes, const settings& wanted, report& out);

} // namespace contention
