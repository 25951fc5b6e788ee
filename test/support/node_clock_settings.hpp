#pragma once

#include <cstdint>

namespace holdfast::test {

// What a test and the clock that is loaded into a server share: the contents of a file.
struct node_clock_settings {
    static constexpr char variable[] = "HOLDFAST_NODE_CLOCK"; // the environment names the file

    std::int64_t off_by_seconds = 0; // from the machine's clock
    std::int64_t stands_at_ms = 0;   // since 1970, until it is set again; 0: it goes
};

} // namespace holdfast::test
