#pragma once

#include "redis/majority.hpp"
#include "redis/token_round.hpp"

#include <array>
#include <cstdint>

namespace holdfast::redis {

// Why a node gives no token that counts, though it could be asked.
enum class fence_trouble : std::uint8_t {
    none,
    quarantine,
    counter,
    settings,
    conflict,
    ahead,      // its counter, of its clock: for a while
    far_ahead,  // for longer than anything that we know of can make it
    fast_clock, // it has granted what a majority cannot store, or what its own clock denies
    slow_clock, // it cannot store what others have granted
};

// What a claim has in addition in fenced mode.
struct fenced_claim {
    token_round round;
    std::uint64_t block = 1;                         // so many tokens are reserved for it
    std::array<fence_trouble, max_nodes> troubles{}; // what each node has answered
    std::uint64_t passed = 0;                        // how often it has had another holder
};

} // namespace holdfast::redis
