#pragma once

#include "redis/claim/fenced_claim.hpp"
#include "redis/dialect/fence_settings.hpp"
#include "redis/node/reply.hpp"

#include <cstdint>
#include <string_view>

namespace holdfast::redis {

errc meaning_of(fence_trouble trouble) noexcept;

// The same in words. `left`: for how many more ms; `key`: the record or the registers.
failure failure_of(fence_trouble trouble, std::int64_t left, std::string_view key);

// `ours`: our settings; `record`: what the node has recorded of the settings of other clients.
failure disagreement(const fence_settings& ours, std::string_view record);

} // namespace holdfast::redis
