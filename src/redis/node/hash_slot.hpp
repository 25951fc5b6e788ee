#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::redis {

inline constexpr std::uint32_t hash_slots = 16'384;

// The part of a key that decides its slot in a cluster: between the first `{` and the next `}`, if
// there is anything; otherwise the whole key.
std::string_view hashed_part(std::string_view key) noexcept;

// Source: the specification of Redis Cluster; CRC-16/XMODEM.
std::uint32_t slot_of(std::string_view key) noexcept;

// A short text of digits whose slot is this one. Precondition: slot < hash_slots.
std::string tag_of_slot(std::uint32_t slot);

} // namespace holdfast::redis
