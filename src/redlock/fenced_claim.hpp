#pragma once

#include "redlock/fence_round.hpp"
#include "redlock/quorum.hpp"

#include <array>
#include <cstdint>

namespace holdfast::redis {

// Why a node gives no token, though it could be asked.
enum class fence_trouble : std::uint8_t { none, quarantine, counter, settings, conflict };

// What a claim has in addition in fenced mode.
struct fenced_claim {
    fence_round round;
    std::array<fence_trouble, max_nodes> troubles{}; // what each node has answered
    std::uint64_t passed = 0;                        // how often it has had another holder
};

} // namespace holdfast::redis
