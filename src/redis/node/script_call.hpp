#pragma once

#include "core/time.hpp"
#include "redis/node/scripts.hpp"
#include "resp/command.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::redis {

inline std::int64_t in_ms(core::duration d)
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
}

// The first two words of a script call.
inline std::string_view script_command(bool by_text) noexcept
{
    return by_text ? "EVAL" : "EVALSHA";
}
inline std::string_view script_name(const script& s, bool by_text) noexcept
{
    return by_text ? s.text : s.digest;
}

// Begins a script call; so many keys and arguments follow.
inline void begin_script(
    std::string& out, const script& s, bool by_text, std::size_t keys, std::size_t arguments)
{
    resp::append_array_header(out, 3 + keys + arguments);
    resp::append_blob(out, script_command(by_text));
    resp::append_blob(out, script_name(s, by_text));
    resp::append_blob(out, static_cast<std::int64_t>(keys));
}

} // namespace holdfast::redis
