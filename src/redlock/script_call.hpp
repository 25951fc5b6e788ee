#pragma once

#include "core/time.hpp"
#include "redlock/scripts.hpp"
#include "resp/command.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace holdfast::redis {

inline std::int64_t in_ms(core::duration d)
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
}

// Begins the call of a script; so many keys and arguments follow.
inline void begin_script(
    std::string& out, const script& s, bool by_text, std::size_t keys, std::size_t arguments)
{
    resp::append_array_header(out, 3 + keys + arguments);
    resp::append_blob(out, by_text ? "EVAL" : "EVALSHA");
    resp::append_blob(out, by_text ? s.text : s.digest);
    resp::append_blob(out, static_cast<std::int64_t>(keys));
}

} // namespace holdfast::redis
