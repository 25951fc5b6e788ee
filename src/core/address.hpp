#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::core {

// The target of a connection. Exactly one of `host` and `path` is set.
struct address {
    std::string host;
    std::uint16_t port = 0;
    std::string path; // of a unix socket
};

// `host:port`. An IPv6 address is put in brackets.
inline std::string host_and_port(std::string_view host, std::uint16_t port)
{
    std::string text(host);
    if (host.find(':') != host.npos)
        text = "[" + text + "]";
    return text + ":" + std::to_string(port);
}

inline std::string in_words(const address& where)
{
    return host_and_port(where.host, where.port);
}

// The parts of `host[:port]`, as they are written. With an error, they are not set.
struct authority {
    const char* error = nullptr; // does not quote the text
    std::string_view host{};     // without brackets
    std::optional<std::string_view> port{};
};

inline authority split_authority(std::string_view text)
{
    if (!text.starts_with('[')) {
        const std::size_t colon = text.find(':');
        if (colon == text.npos)
            return {.host = text};
        if (text.find(':', colon + 1) != text.npos)
            return {.error = "an IPv6 address must be in brackets"};
        return {.host = text.substr(0, colon), .port = text.substr(colon + 1)};
    }
    const std::size_t close = text.find(']');
    if (close == text.npos)
        return {.error = "the bracket before the IPv6 address is not closed"};
    const std::string_view inside = text.substr(1, close - 1);
    if (!inside.empty() && (inside.find(':') == inside.npos || inside.find('[') != inside.npos))
        return {.error = "only an IPv6 address may be in brackets"};
    const std::string_view rest = text.substr(close + 1);
    if (rest.empty())
        return {.host = inside};
    if (!rest.starts_with(':'))
        return {.error = "after the bracketed address there must be a port or nothing"};
    return {.host = inside, .port = rest.substr(1)};
}

// A number of decimal digits and nothing else, or none.
template <class Number>
std::optional<Number> whole_number(std::string_view digits)
{
    Number n{};
    const char* const end = digits.data() + digits.size();
    const auto [stopped, error] = std::from_chars(digits.data(), end, n);
    if (error != std::errc() || stopped != end || digits.empty())
        return std::nullopt;
    return n;
}

// 1 to 65535, or none.
inline std::optional<std::uint16_t> port_number(std::string_view digits)
{
    const auto port = whole_number<std::uint16_t>(digits);
    return port == 0 ? std::nullopt : port;
}

} // namespace holdfast::core
