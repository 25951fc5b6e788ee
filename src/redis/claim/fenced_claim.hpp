#pragma once

#include "redis/quorum/majority.hpp"
#include "redis/quorum/token_round.hpp"

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

// Whether the trouble may soon be over without an intervention.
constexpr bool transient(fence_trouble trouble) noexcept
{
    return trouble == fence_trouble::quarantine || trouble == fence_trouble::ahead ||
           trouble == fence_trouble::fast_clock || trouble == fence_trouble::slow_clock;
}

// The additional state of a claim in fenced mode.
struct fenced_claim {
    token_round round;
    std::uint64_t block = 1;                         // so many tokens are reserved for it
    std::array<fence_trouble, max_nodes> troubles{}; // by node, as it has answered
    std::uint64_t passed = 0;                        // how often it was transferred
};

} // namespace holdfast::redis
