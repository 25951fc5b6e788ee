#include "redis/claim/baton.hpp"

#include "redis/quorum/ballot_round.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

namespace holdfast::redis {

namespace {

constexpr std::int64_t longest_ms = std::int64_t{1} << 40;
constexpr std::int64_t smallest_fence = tokens_in_ballot,
                       largest_fence = (std::int64_t{1} << 53) - 1;

std::optional<std::int64_t> read_number(
    std::string_view text, std::int64_t least, std::int64_t most) noexcept
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < least || number > most)
        return std::nullopt;
    return number;
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
    const auto left = read_number(take_word(text), 0, longest_ms);
    const auto lag = read_number(take_word(text), 0, longest_ms);
    if (!left || !lag)
        return std::nullopt;
    b.left = std::chrono::milliseconds(*left);
    b.lag = std::chrono::milliseconds(*lag);
    if (!text.empty()) {
        const auto fence = read_number(text, smallest_fence, largest_fence);
        if (!fence)
            return std::nullopt;
        b.fence = static_cast<std::uint64_t>(*fence);
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
