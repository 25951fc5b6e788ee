#include "redis/queue/baton.hpp"

#include "redis/quorum/ballot_round.hpp"
#include "resp/number.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace holdfast::redis {

namespace {

constexpr std::int64_t longest_ms = std::int64_t{1} << 40;
constexpr std::int64_t smallest_fence = tokens_in_ballot, largest_fence = std::int64_t{1} << 53;

std::optional<std::chrono::milliseconds> read_ms(std::string_view text)
{
    std::int64_t ms = 0;
    if (!resp::parse_integer(text, ms) || ms < 0 || ms > longest_ms)
        return std::nullopt;
    return std::chrono::milliseconds(ms);
}

// What precedes the next space, which is removed, too; all if there is none.
std::string_view take_word(std::string_view& text)
{
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

} // namespace

std::optional<baton> read_baton(std::string_view text)
{
    baton b;
    if (text.size() <= b.token.text.size())
        return std::nullopt;
    std::copy_n(text.begin(), b.token.text.size(), b.token.text.begin());
    text.remove_prefix(b.token.text.size());
    const auto left = read_ms(take_word(text));
    const auto lag = read_ms(take_word(text));
    if (!left || !lag)
        return std::nullopt;
    b.left = *left;
    b.lag = *lag;
    if (!text.empty()) {
        std::int64_t fence = 0;
        if (!resp::parse_integer(text, fence) || fence < smallest_fence || fence >= largest_fence)
            return std::nullopt;
        b.fence = static_cast<std::uint64_t>(fence);
    }
    return b;
}

std::string terms_of(std::chrono::milliseconds lag, std::optional<std::uint64_t> fence)
{
    std::string terms = ' ' + std::to_string(lag.count());
    if (fence)
        terms += ' ' + std::to_string(*fence);
    return terms;
}

custody custody_of(const baton& given, const core::owner_token& place, std::size_t node)
{
    std::string value(given.token.view());
    value += place.view();
    value += terms_of(given.lag, given.fence);
    return {.place = place, .node = node, .value = std::move(value), .lag = given.lag};
}

} // namespace holdfast::redis
