#include "support/redis_model_lua.hpp"

#include "support/redis_model_call.hpp"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace holdfast::test::lua {

namespace {

bool digit(char c)
{
    return c >= '0' && c <= '9';
}

} // namespace

void stop(std::string_view why)
{
    throw failure{std::string(why)};
}

std::string_view sent(word t)
{
    if (!t)
        stop(resp_text::null_argument);
    return *t;
}

lua_number to_number(std::string_view digits)
{
    const std::string copy(digits);
    char* end = nullptr;
    const double n = std::strtod(copy.c_str(), &end);
    if (end == copy.c_str())
        return std::nullopt;
    while (std::isspace(static_cast<unsigned char>(*end)) != 0)
        ++end;
    return *end == '\0' ? lua_number(n) : std::nullopt;
}

std::string in_digits(double n)
{
    char digits[400];
    return {digits, static_cast<std::size_t>(std::snprintf(digits, sizeof digits, "%.0f", n))};
}

std::int64_t to_integer(double n)
{
    constexpr double end = 9223372036854775808.0;
    return n >= -end && n < end ? static_cast<std::int64_t>(n)
                                : std::numeric_limits<std::int64_t>::min();
}

std::optional<record> record_in(std::string_view stored)
{
    std::size_t at = 0;
    const auto digits = [&] {
        const std::size_t start = at;
        while (at < stored.size() && digit(stored[at]))
            ++at;
        return at > start;
    };
    const auto space = [&] {
        return at < stored.size() && stored[at++] == ' ';
    };
    if (!digits() || !space() || !digits() || !space() || !digits())
        return std::nullopt;
    const std::size_t agreed = at;
    if (!space())
        return std::nullopt;
    const std::size_t run_id = at;
    while (at < stored.size() && std::isspace(static_cast<unsigned char>(stored[at])) == 0)
        ++at;
    if (at == run_id || !space())
        return std::nullopt;
    const std::size_t from = at;
    if (!digits() || at != stored.size())
        return std::nullopt;
    return record{stored.substr(0, agreed), stored.substr(from)};
}

} // namespace holdfast::test::lua
