#pragma once

#include "load.hpp"

#include <string>
#include <vector>

namespace benchmark {

// Runs the load on the library: a coroutine for each lock in flight, default settings. The store is
// `store_at(urls)`.
result run_holdfast(const std::vector<std::string>& urls, const load& wanted);

} // namespace benchmark
