#include "redis/queue/baton.hpp"

#include "resp/number.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace holdfast::redis {

namespace {

constexpr std::int64_t longest_ms = std::int64_t{1} << 40;

std::optional<std::chrono::milliseconds> read_ms(std::string_view text)
{
    std::int64_t ms = 0;
    if (!resp::parse_integer(text, ms) || ms < 0 || ms > longest_ms)
        return std::nullopt;
    return std::chrono::milliseconds(ms);
}

} // namespace

std::optional<baton> read_baton(std::string_view text)
{
    baton b;
    if (text.size() <= b.token.text.size())
        return std::nullopt;
    std::copy_n(text.begin(), b.token.text.size(), b.token.text.begin());
    text.remove_prefix(b.token.text.size());
    const std::size_t middle = text.find(' ');
    if (middle == text.npos)
        return std::nullopt;
    const auto left = read_ms(text.substr(0, middle));
    const auto lag = read_ms(text.substr(middle + 1));
    if (!left || !lag)
        return std::nullopt;
    b.left = *left;
    b.lag = *lag;
    return b;
}

std::string text_of_lag(std::chrono::milliseconds lag)
{
    return ' ' + std::to_string(lag.count());
}

custody custody_of(const baton& given, const core::owner_token& place, std::size_t node)
{
    std::string value(given.token.view());
    value += place.view();
    value += text_of_lag(given.lag);
    return {.place = place, .node = node, .value = std::move(value), .lag = given.lag};
}

} // namespace holdfast::redis
