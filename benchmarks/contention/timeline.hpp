#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace contention {

/// A stay in the critical section. Times are CLOCK_MONOTONIC in nanoseconds, which all processes of
/// one machine share. They are taken inside, so two stays that overlap were there at once.
struct hold {
    std::int64_t begin = 0, end = 0;
    std::size_t process = 0;
};

/// The figures of the holds of all processes, in order of time.
struct timeline {
    std::size_t holds = 0;       // that began before the end of the measured time
    std::size_t changes = 0;     // consecutive holds of different processes among these
    std::size_t all_changes = 0; // the same, including holds that began later
    std::size_t overlaps = 0;    // holds that began before an earlier one had ended
    double seconds = 0;          // measured time
    double smallest_share = 0;   // of the process with the fewest holds; 1 is an equal share
    double largest_share = 0;    // of the process with the most holds
    double median_gap_ms = 0, p99_gap_ms = 0, max_gap_ms = 0; // from an end to the next begin
};

/// `until` 0: up to the end of the last hold.
timeline put_in_order(
    std::vector<hold> all, std::size_t processes, std::int64_t from, std::int64_t until);

} // namespace contention
