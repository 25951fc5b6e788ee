#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::test {

// One holding of a resource: from the moment at which the holder knew of it, to the first moment at
// which it could know that it was over: [from, until). All holders use the same clock.
struct holding {
    std::string resource;
    std::uint64_t holder = 0;
    std::chrono::nanoseconds from{}, until{};
};

struct overlap {
    holding first, second; // `second` began before `first` had ended
};

// The history checker. Returns every holding that began before another one of the same resource had
// ended, ordered by their beginnings. Mutual exclusion means that there are none. Does not depend
// on how locks work.
std::vector<overlap> overlaps(std::vector<holding> history);

} // namespace holdfast::test
