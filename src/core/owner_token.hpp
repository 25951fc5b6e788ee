#pragma once

#include "core/hex.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace holdfast::core {

// The source of random bits. The I/O layer asks the operating system; a simulator uses its seed.
class entropy {
public:
    virtual ~entropy() = default;

    // False if there are none: a weak token is worse than no lock.
    [[nodiscard]] virtual bool fill(std::span<std::byte> out) noexcept = 0;
};

// Identifies the holder of a key: 128 random bits as 32 hexadecimal digits, fresh for every
// attempt. Any process that knows the token can release the lock, so it is never logged.
struct owner_token {
    std::array<char, 32> text{};

    std::string_view view() const noexcept { return {text.data(), text.size()}; }

    static std::optional<owner_token> make(entropy& source) noexcept
    {
        std::array<std::byte, 16> bits{};
        if (!source.fill(bits))
            return std::nullopt;
        owner_token token;
        for (std::size_t i = 0; i < bits.size(); ++i) {
            const auto byte = std::to_integer<unsigned>(bits[i]);
            token.text[2 * i] = hex_digit(byte >> 4);
            token.text[2 * i + 1] = hex_digit(byte);
        }
        return token;
    }
};

} // namespace holdfast::core
