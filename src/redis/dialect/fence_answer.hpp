#pragma once

#include "redis/claim/fenced_claim.hpp"
#include "redis/dialect/fence_settings.hpp"
#include "redis/node/reply.hpp"

#include <cstdint>
#include <string>

namespace holdfast::redis {

// The answer of a node to the acquire script of fenced mode.
struct fence_answer {
    vote said = vote::unknown; // `unknown`: not an answer of this script
    fence_trouble trouble = fence_trouble::none;
    std::uint64_t start = 0; // of the block that it has granted
    std::int64_t left = 0;   // ms: of the present lock, -1 without an end; or of the trouble
    std::int64_t clock = -1; // of the node, in ms since the epoch; -1: not given
};

// An error proves that nothing was granted: the script writes the lock last.
fence_answer read_fence_answer(reply answer) noexcept;

errc meaning_of(fence_trouble trouble) noexcept;

// The same in words. `lock`, `counter`, `record`: the keys concerned.
failure failure_of(const fence_answer& answer, std::string_view lock, std::string_view counter,
    std::string_view record);

// `ours`: our settings; `record`: what the node has recorded of the settings of other clients.
failure disagreement(const fence_settings& ours, std::string_view record);

} // namespace holdfast::redis
