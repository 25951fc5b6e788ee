#pragma once

#include "core/connection.hpp"
#include "fuzz/checks.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace holdfast::fuzz {

// Gives bytes to a connection, at most `piece` at a time, for as long as it wants to be open.
inline void give(
    core::connection& to, std::string_view bytes, std::size_t piece, core::time_point now)
{
    while (!bytes.empty() && to.wants_open()) {
        const auto space = to.read_space();
        check(!space.empty(), "there is always space for bytes");
        const std::size_t n = std::min({bytes.size(), piece, space.size()});
        std::memcpy(space.data(), bytes.data(), n);
        bytes.remove_prefix(n);
        to.received(n, now);
    }
}

inline void send_all(core::connection& from, core::time_point now)
{
    from.prepare_output();
    from.written(from.output().size(), now);
}

// What a log can have in one line.
inline bool is_loggable(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

} // namespace holdfast::fuzz
