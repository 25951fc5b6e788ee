#pragma once

#include "core/connection.hpp"
#include "redis/node/hash_slot.hpp"
#include "redis/node/reply.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::redis {

// Which primary of a cluster has which hash slots.
class slot_table {
public:
    // More primaries than that are not accepted. Redis recommends at most 1,000 nodes.
    static constexpr std::size_t most_primaries = 512;
    static constexpr std::uint16_t nobody = UINT16_MAX;

    slot_table() { owners_.fill(nobody); }

    // Reads an answer to CLUSTER SLOTS of the node at `asked`. False if it is none, names no
    // primary at all, or too many.
    bool read(reply answer, const std::string& asked);

    const std::vector<core::address>& primaries() const noexcept { return primaries_; }
    // The index of its primary, or `nobody`.
    std::uint16_t owner_of(std::uint32_t slot) const noexcept { return owners_[slot]; }

    // Also the order of the primaries.
    friend bool operator==(const slot_table& a, const slot_table& b) noexcept;

private:
    // Returns the index of the next value that is no part of this range; 0 if it is no range.
    std::size_t read_range(reply answer, std::size_t at, const std::string& asked);
    std::uint16_t index_of(const core::address& where);

    std::vector<core::address> primaries_;
    std::array<std::uint16_t, hash_slots> owners_;
};

bool operator==(const slot_table& a, const slot_table& b) noexcept;

bool same(const core::address& a, const core::address& b) noexcept;

// Whether a server may name this as the host of another.
bool is_host(std::string_view text) noexcept;

} // namespace holdfast::redis
