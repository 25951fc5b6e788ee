#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// What Lua does in the scripts that a model of a Redis server executes.
namespace holdfast::test::lua {

using word = std::optional<std::string_view>; // nothing: nil
using lua_number = std::optional<double>;

// What a script ends with that does not return.
struct failure {
    std::string why;
};

[[noreturn]] void stop(std::string_view why);

// As an argument of a command.
std::string_view sent(word t);

// tonumber(): up to a null, as C reads it.
lua_number to_number(std::string_view digits);

// string.format('%.0f', n)
std::string in_digits(double n);

// What becomes of a number in a reply. The processor answers so where there is no such integer.
std::int64_t to_integer(double n);

// string.match() with ^(%d+ %d+ %d+) %S+ (%d+)$
struct record {
    std::string_view agreed, from;
};
std::optional<record> record_in(std::string_view stored);

} // namespace holdfast::test::lua
