#pragma once

#include <string>
#include <utility>
#include <vector>

namespace benchmark {

/// What the figures depend on: pairs of a name and a value.
std::vector<std::pair<std::string, std::string>> describe_machine(const std::string& redis_info);

} // namespace benchmark
