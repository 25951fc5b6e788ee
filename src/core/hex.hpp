#pragma once

#include <cstdint>
#include <string>

namespace holdfast::core {

// The hexadecimal digit of the lowest four bits, in lower case.
constexpr char hex_digit(std::uint64_t bits) noexcept
{
    return "0123456789abcdef"[bits & 15];
}

// Appends 16 digits.
inline void append_hex(std::string& to, std::uint64_t bits)
{
    for (int shift = 60; shift >= 0; shift -= 4)
        to += hex_digit(bits >> shift);
}

// Appends `\x` and the two digits of a byte.
inline void append_escaped(std::string& to, unsigned char byte)
{
    to += {'\\', 'x', hex_digit(byte >> 4u), hex_digit(byte)};
}

} // namespace holdfast::core
