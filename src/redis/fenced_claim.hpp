#pragma once

#include "redis/majority.hpp"
#include "redis/token_round.hpp"

#include <array>
#include <cstdint>

namespace holdfast::redis {

// Why a node gives no token that counts, although it is reachable.
enum class fence_trouble : std::uint8_t {
    none,
    quarantine,
    counter,
    settings,
    conflict,
    ahead,      // its counter is ahead of its clock: for a while
    far_ahead,  // for longer than any known cause can explain
    fast_clock, // it has granted a token that a majority cannot store, or that its own clock
                // contradicts
    slow_clock, // it cannot store what other nodes have granted
};

// The additional state of a claim in fenced mode.
struct fenced_claim {
    token_round round;
    std::uint64_t block = 1;                         // so many tokens are reserved for it
    std::array<fence_trouble, max_nodes> troubles{}; // by node, as it has answered
    std::uint64_t passed = 0;                        // how often it was transferred
};

} // namespace holdfast::redis
