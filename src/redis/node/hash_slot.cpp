#include "redis/node/hash_slot.hpp"

#include <array>

namespace holdfast::redis {

namespace {

constexpr std::array<std::uint16_t, 256> make_table() noexcept
{
    std::array<std::uint16_t, 256> table{};
    for (unsigned byte = 0; byte < 256; ++byte) {
        unsigned crc = byte << 8;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc & 0x8000u) != 0 ? (crc << 1) ^ 0x1021u : crc << 1;
        table[byte] = static_cast<std::uint16_t>(crc);
    }
    return table;
}

constexpr std::array<std::uint16_t, 256> table = make_table();

std::uint32_t crc_of(std::string_view text) noexcept
{
    unsigned crc = 0;
    for (const char c : text)
        crc = ((crc << 8) ^ table[((crc >> 8) ^ static_cast<unsigned char>(c)) & 0xff]) & 0xffff;
    return crc;
}

// For each slot, the smallest number that hashes to it. Found once, in some milliseconds.
std::array<std::uint32_t, hash_slots> find_numbers()
{
    constexpr std::uint32_t none = UINT32_MAX;
    std::array<std::uint32_t, hash_slots> found{};
    found.fill(none);
    std::uint32_t missing = hash_slots;
    for (std::uint32_t number = 0; missing != 0; ++number) {
        std::uint32_t& place = found[crc_of(std::to_string(number)) % hash_slots];
        if (place == none) {
            place = number;
            --missing;
        }
    }
    return found;
}

} // namespace

std::string_view hashed_part(std::string_view key) noexcept
{
    const std::size_t open = key.find('{');
    if (open == key.npos)
        return key;
    const std::size_t close = key.find('}', open + 1);
    if (close == key.npos || close == open + 1)
        return key;
    return key.substr(open + 1, close - open - 1);
}

std::uint32_t slot_of(std::string_view key) noexcept
{
    return crc_of(hashed_part(key)) % hash_slots;
}

std::string tag_of_slot(std::uint32_t slot)
{
    static const std::array<std::uint32_t, hash_slots> numbers = find_numbers();
    return std::to_string(numbers[slot]);
}

} // namespace holdfast::redis
