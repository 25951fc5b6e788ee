#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The behaviour of Lua in the scripts that the model of a Redis server executes.
namespace holdfast::test::lua {

using word = std::optional<std::string_view>; // empty: nil
using lua_number = std::optional<double>;

// Thrown by a script that does not return.
struct failure {
    std::string why;
};

[[noreturn]] void stop(std::string_view why);

// The argument of a command.
std::string_view sent(word t);

// tonumber(): reads up to a null, like C.
lua_number to_number(std::string_view digits);

// string.format('%.0f', n)
std::string in_digits(double n);

// Converts a number for a reply, like the processor if there is no such integer.
std::int64_t to_integer(double n);

// string.match() with ^(%d+ %d+ %d+) %S+ (%d+)$
struct record {
    std::string_view agreed, from;
};
std::optional<record> record_in(std::string_view stored);

} // namespace holdfast::test::lua
