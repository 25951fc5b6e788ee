#pragma once

#include "report.hpp"
#include "settings.hpp"
#include "support/redis_server.hpp"

#include <vector>

namespace contention {

using servers = std::vector<holdfast::test::redis_server>;

/// Transfers between the coroutines of one process, compared with an in-process mutex.
void measure_local(servers& nodes, const settings& wanted, report& out);

/// The memory of waiting coroutines and of idle locks.
void measure_memory(servers& nodes, const settings& wanted, report& out);

/// Processes with one contender each, compared with one process that has a resource for itself.
void measure_processes(servers& nodes, const settings& wanted, report& out);

/// Processes with many contenders each, which all want a number of turns.
void measure_crowd(servers& nodes, const settings& wanted, report& out);

} // namespace contention
