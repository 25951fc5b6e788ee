#pragma once

#include <chrono>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::cli {

/// A length of time as written in options: a decimal number with the unit ms, s, m or h. Without a
/// unit it is in seconds, as with timeout(1).
struct duration {
    std::chrono::milliseconds value{};
};

/// Rounded to milliseconds. Empty if the text is no duration, negative, or above ten years.
std::optional<duration> parse_duration(std::string_view text);

/// For the parser of options. Sets the failbit if the text is no duration.
std::istream& operator>>(std::istream& in, duration& out);

/// What is wrong with the text, or an empty string.
std::string duration_error(const std::string& text);

/// "1.5 s", "300 ms".
std::string to_text(std::chrono::milliseconds length);

} // namespace holdfast::cli
