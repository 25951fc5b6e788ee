#pragma once

#include "settings.hpp"

#include <string>
#include <vector>

namespace contention {

/// What `count` parked things take, each. Measured in a process of its own.
struct parked_bytes {
    double allocated = 0; // by the malloc of glibc (0 under a sanitizer), its overhead included
    double resident = 0;
};

/// The parent's side: starts that process.
parked_bytes measure_parked(
    const std::vector<std::string>& nodes, const std::string& what, std::size_t count);

/// That process. Returns the exit status.
int run_parking(const parking_settings& given);

} // namespace contention
