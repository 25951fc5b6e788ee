#pragma once

#include "core/time.hpp"
#include "redis/quorum/ballot_round.hpp"
#include "redis/quorum/majority.hpp"

#include <array>
#include <cstdint>

namespace holdfast::redis {

// Why a node does not count for a token, although it is reachable.
enum class fence_trouble : std::uint8_t {
    none,
    quarantine,
    settings,
    conflict,
    ahead,     // its register is ahead of the clocks: for a while
    far_ahead, // for longer than any known cause can explain
};

// Whether the trouble may soon be over without an intervention.
constexpr bool transient(fence_trouble trouble) noexcept
{
    return trouble == fence_trouble::quarantine || trouble == fence_trouble::ahead;
}

// The additional state of a claim in fenced mode.
struct fenced_claim {
    ballot_round round;
    std::array<fence_trouble, max_nodes> troubles{}; // by node, as it has answered
    std::uint64_t passed = 0;                        // how often it was transferred
    std::uint64_t largest = 0;                       // of the ballots that registers have told of
    std::uint8_t registers_asked = 0;                // requests for them that are under way
    core::time_point larger_at = core::long_ago;     // no larger ballot for spare nodes before
};

} // namespace holdfast::redis
