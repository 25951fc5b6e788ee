#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::test {

// One holding of a resource, from the moment the holder knew of it to the first moment at which it
// could know that it was over: [from, until), in the time of one clock for all holders.
struct holding {
    std::string resource;
    std::uint64_t holder = 0;
    std::chrono::nanoseconds from{}, until{};
};

struct overlap {
    holding first, second; // `second` began when `first` was not over
};

// The history checker: every holding that began while another of the same resource was not over, in
// the order of their beginnings. Mutual exclusion means: none. Knows nothing of how locks work.
std::vector<overlap> overlaps(std::vector<holding> history);

} // namespace holdfast::test
