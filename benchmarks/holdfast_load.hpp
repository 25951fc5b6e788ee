#pragma once

#include "load.hpp"

#include <holdfast/endpoint.hpp>

#include <vector>

namespace benchmark {

// Runs the load on the library: a coroutine for each lock in flight, default settings.
result run_holdfast(const std::vector<holdfast::endpoint>& nodes, const load& wanted);

} // namespace benchmark
