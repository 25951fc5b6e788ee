#pragma once

#include <string>
#include <string_view>

namespace holdfast::test {

/// A text as a server writes it.
inline std::string blob(std::string_view text)
{
    return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

} // namespace holdfast::test
