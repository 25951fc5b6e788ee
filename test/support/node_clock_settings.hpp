#pragma once

#include <cstdint>

namespace holdfast::test {

// Shared by a test and the clock that is loaded into a server: the contents of a file.
struct node_clock_settings {
    static constexpr char variable[] = "HOLDFAST_NODE_CLOCK"; // the environment names the file

    std::int64_t off_by_seconds = 0; // from the machine's clock
    std::int64_t stands_at_ms = 0;   // stopped at this time since 1970; 0: running
};

} // namespace holdfast::test
