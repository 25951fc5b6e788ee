#pragma once

#include "settings.hpp"

#include <string>
#include <vector>

namespace contention {

/// The memory of each of `count` parked objects, measured in a separate process.
struct parked_bytes {
    double allocated = 0; // by the malloc of glibc (0 under a sanitizer), its overhead included
    double resident = 0;
};

/// The parent's side: starts the process.
parked_bytes measure_parked(
    const std::vector<std::string>& nodes, const std::string& what, std::size_t count);

/// Runs in the process. Returns the exit status.
int run_parking(const parking_settings& given);

} // namespace contention
