#pragma once

#include <string>
#include <utility>
#include <vector>

namespace benchmark {

/// Data of the machine on which the figures depend, as pairs of name and value.
std::vector<std::pair<std::string, std::string>> describe_machine(const std::string& redis_info);

} // namespace benchmark
