#pragma once

#include "core/inspection.hpp"
#include "core/owner_token.hpp"

#include <holdfast/inspect.hpp>
#include <holdfast/version.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

// What stands beside a lock in a store, to tell people whose it is. In a header, because the shared
// library of the core exports no functions for stores.
namespace holdfast::core {

namespace owner_text {

using seconds_since = std::chrono::system_clock::time_point;

inline constexpr std::size_t length_of_mark = 8, longest_word = 128;

// Of people who may have written the value themselves, or of an operating system.
inline std::string word(std::string_view text)
{
    std::string out(text.substr(0, longest_word));
    std::replace_if(
        out.begin(), out.end(),
        [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; }, '?');
    return out;
}

template <class Number>
std::optional<Number> number(std::string_view text, Number most)
{
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > most)
        return std::nullopt;
    return value;
}

inline std::optional<client_info> read_value(std::string_view value)
{
    constexpr std::int64_t most_seconds = 9'000'000'000; // fits a time point of the clock
    std::array<std::string_view, 5> words;
    for (std::string_view& each : words) {
        const auto space = value.find(' ');
        each = value.substr(0, space);
        value.remove_prefix(std::min(each.size() + 1, value.size()));
    }
    const auto at = words[1].find('@');
    const auto pid =
        number<std::int64_t>(words[1].substr(0, at), std::numeric_limits<std::uint32_t>::max());
    const auto started = number<std::int64_t>(words[4], most_seconds);
    if (at == words[1].npos || !pid || !started || !value.empty())
        return std::nullopt;
    client_info info;
    info.client_name = word(words[0]);
    info.pid = static_cast<std::uint32_t>(*pid);
    info.host = word(words[1].substr(at + 1));
    info.program = word(words[2]);
    info.version = word(words[3]);
    info.started = seconds_since(std::chrono::seconds(*started));
    return info;
}

} // namespace owner_text

// `<client name> <process id>@<host> <program> <version> <start of the locker>`.
inline std::string value_of(std::string_view client_name, const client_identity& self)
{
    return std::string(client_name) + ' ' + std::to_string(self.pid) + '@' +
           owner_text::word(self.host) + ' ' + owner_text::word(self.program) + ' ' +
           HOLDFAST_VERSION_STRING + ' ' + std::to_string(self.started);
}

// Whose a lock is. `token`: of its attempt, if the text is one.
inline lock_owner owner_of(std::string_view token, std::string_view value)
{
    lock_owner owner;
    owner.mark = owner_text::word(token.substr(0, owner_text::length_of_mark));
    const auto stamp = owner_token::stamp_of(token);
    if (!stamp) {
        owner.foreign = true;
        return owner;
    }
    owner.id = stamp->client;
    owner.since = owner_text::seconds_since(std::chrono::seconds(stamp->seconds));
    owner.client = owner_text::read_value(value);
    owner.client_confirmed = owner.client.has_value(); // the servers agree on each value
    return owner;
}

} // namespace holdfast::core
