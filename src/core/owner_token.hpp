#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

// What a token says about its attempt, for people: no decision depends on it.
struct token_stamp {
    std::uint32_t seconds = 0; // since the epoch, when the attempt began
    std::uint32_t client = 0;  // the id of the locker

    friend bool operator==(const token_stamp&, const token_stamp&) = default;
};

// Identifies the holder of a key: 24 bytes in base64url, fresh for every attempt. The first 16 are
// random and make it unique; the others are the stamp. Any process that knows the token can release
// the lock, so it is never logged.
struct owner_token {
    std::array<char, 32> text{};

    std::string_view view() const noexcept { return {text.data(), text.size()}; }

    static std::optional<owner_token> make(entropy& source, token_stamp stamp = {}) noexcept
    {
        std::array<std::byte, 24> bytes{};
        if (!source.fill(std::span(bytes).first<16>()))
            return std::nullopt;
        put(std::span(bytes).subspan<16, 4>(), stamp.seconds);
        put(std::span(bytes).subspan<20, 4>(), stamp.client);
        owner_token token;
        for (std::size_t i = 0; i < bytes.size() / 3; ++i) {
            const auto three = std::to_integer<std::uint32_t>(bytes[3 * i]) << 16u |
                               std::to_integer<std::uint32_t>(bytes[3 * i + 1]) << 8u |
                               std::to_integer<std::uint32_t>(bytes[3 * i + 2]);
            for (std::size_t j = 0; j < 4; ++j)
                token.text[4 * i + j] = digits[three >> (18 - 6 * j) & 63u];
        }
        return token;
    }

    // The token of a further try of an attempt: another one, that no other attempt has.
    // Precondition: tries < 64.
    owner_token of_try(std::size_t tries) const noexcept
    {
        owner_token made = *this;
        const std::size_t value = digits.find(text[0]);
        if (value != digits.npos)
            made.text[0] = digits[(value + tries) % digits.size()];
        return made;
    }

    // The stamp of a token; none if the text cannot be a token.
    static std::optional<token_stamp> stamp_of(std::string_view text) noexcept
    {
        if (text.size() != std::tuple_size_v<decltype(owner_token::text)> ||
            text.find_first_not_of(digits) != text.npos)
            return std::nullopt;
        std::uint64_t last = 0; // the last 66 bits, of which two drop out
        for (const char c : text.substr(21))
            last = last << 6u | digits.find(c);
        return token_stamp{
            static_cast<std::uint32_t>(last >> 32u), static_cast<std::uint32_t>(last)};
    }

private:
    static constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    static void put(std::span<std::byte, 4> to, std::uint32_t number) noexcept
    {
        for (std::size_t i = 0; i < to.size(); ++i)
            to[i] = static_cast<std::byte>(number >> (24 - 8 * i));
    }
};

} // namespace holdfast::core
