#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace benchmark {

// What a run came to.
struct result {
    double seconds = 0;     // of wall time
    double cpu_seconds = 0; // of this process, user and system
    std::uint64_t locks = 0;
};

double cpu_seconds_now();

// The limit that the wire sets: the commands that an acquire and a release need, encoded
// beforehand, sent to all nodes in pipelines of `depth` locks; replies are counted and not looked
// at. Every lock is two rounds: all its SETs are answered before its deletions leave.
result run_wire_limit(
    const std::vector<std::uint16_t>& ports, std::size_t depth, std::chrono::milliseconds length);

} // namespace benchmark
