#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace holdfast::resp {

constexpr bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Accepts only the format that servers use: an optional minus, digits, no leading zero, no minus
// zero.
inline bool parse_integer(std::string_view text, std::int64_t& number)
{
    const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
    if (digits.empty() || !is_digit(digits[0]) || (digits[0] == '0' && text.size() > 1))
        return false;
    const char* const end = text.data() + text.size();
    const auto [stopped_at, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && stopped_at == end;
}

// Removes digits from the front. Returns whether there were any.
inline bool skip_digits(std::string_view& text)
{
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(digits);
    return digits > 0;
}

inline bool is_big_number(std::string_view text)
{
    text.remove_prefix(text.starts_with('-') ? 1 : 0);
    return skip_digits(text) && text.empty();
}

inline bool is_real(std::string_view text)
{
    text.remove_prefix(text.starts_with('-') ? 1 : 0);
    if (text == "inf" || text == "nan")
        return true;
    bool right = skip_digits(text);
    if (right && text.starts_with('.')) {
        text.remove_prefix(1);
        right = skip_digits(text);
    }
    if (right && (text.starts_with('e') || text.starts_with('E'))) {
        text.remove_prefix(text.substr(1, 1) == "+" || text.substr(1, 1) == "-" ? 2 : 1);
        right = skip_digits(text);
    }
    return right && text.empty();
}

} // namespace holdfast::resp
