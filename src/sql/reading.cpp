#include "sql/reading.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <utility>

namespace holdfast::sql {

namespace {

constexpr std::string_view digits = "0123456789abcdef";
constexpr std::array<char, 512> digits_of_bytes = [] {
    std::array<char, 512> all{};
    for (std::size_t i = 0; i < 256; ++i) {
        all[2 * i] = digits[i >> 4u];
        all[2 * i + 1] = digits[i & 15u];
    }
    return all;
}();

std::vector<std::string> words_in(std::string_view text)
{
    std::vector<std::string> all;
    while (!text.empty()) {
        const auto end = std::min(text.find(' '), text.size());
        all.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return all;
}

std::optional<finding> finding_in(action what, std::string_view letter)
{
    struct meaning {
        action what;
        char letter;
        finding found;
    };
    static constexpr meaning all[] = {
        {action::want, 'g', finding::granted},
        {action::want, 'q', finding::queued},
        {action::want, 'r', finding::refused},
        {action::want, 't', finding::late},
        {action::want, 'l', finding::locked},
        {action::give_back, 'f', finding::released},
        {action::give_back, 'w', finding::left},
        {action::give_back, 'n', finding::gone},
        {action::give_back, 'l', finding::locked},
        {action::renew, 'k', finding::renewed},
        {action::renew, 'o', finding::renewed}, // and others wait
        {action::renew, 'x', finding::lost},
        {action::renew, 'l', finding::locked},
        {action::watch, 'k', finding::kept},
        {action::watch, 'o', finding::kept}, // and others wait
        {action::watch, 'x', finding::lost},
    };
    for (const meaning& each : all) {
        if (each.what == what && letter.size() == 1 && letter.front() == each.letter)
            return each.found;
    }
    return std::nullopt;
}

std::optional<std::string> bytes_in(std::string_view hex)
{
    std::string bytes;
    bytes.reserve(hex.size() / 2);
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
        const auto high = digits.find(hex[i]), low = digits.find(hex[i + 1]);
        if (high == digits.npos || low == digits.npos)
            return std::nullopt;
        bytes += static_cast<char>(high << 4u | low);
    }
    if (hex.size() % 2 != 0)
        return std::nullopt;
    return bytes;
}

// Leases are not longer than a century, wherever a row comes from.
core::duration time_in(std::string_view microseconds)
{
    constexpr std::int64_t century = 100LL * 366 * 86'400 * 1'000'000;
    return std::chrono::microseconds(
        std::clamp(number_in(microseconds).value_or(0), -century, century));
}

// The columns that only `want` has.
bool read_want(row& to, std::int64_t& clock, std::size_t i, const result& table)
{
    const auto shown = number_in(table.text(i, 2));
    if (!shown)
        return false;
    clock = *shown;
    if (to.what == finding::granted) {
        const auto tokens = tokens_in(table.text(i, 3), table.text(i, 4));
        if (!tokens)
            return false;
        to.tokens = *tokens;
        return true;
    }
    if (to.what != finding::queued && to.what != finding::refused)
        return true;
    to.ahead = number_in(table.text(i, 5)).value_or(row::no_place);
    to.free_in = time_in(table.text(i, 6));
    return true;
}

} // namespace

void add_hex(std::string& to, std::string_view bytes)
{
    const std::size_t size = to.size();
    to.resize(size + 2 * bytes.size());
    char* next = to.data() + size;
    for (const char c : bytes) {
        std::memcpy(next, &digits_of_bytes[2 * static_cast<unsigned char>(c)], 2);
        next += 2;
    }
}

std::optional<std::int64_t> number_in(std::string_view text)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

std::optional<token_block> tokens_in(std::string_view first, std::string_view last)
{
    const auto low = number_in(first), high = number_in(last);
    if (!low || !high || *low <= 0 || *high < *low)
        return std::nullopt;
    return token_block{static_cast<std::uint64_t>(*low), static_cast<std::uint64_t>(*high)};
}

std::optional<answer> answer_in(action what, std::size_t entries, const result& table)
{
    const std::size_t columns = what == action::want ? 8 : what == action::give_back ? 3 : 2;
    if (table.columns() != columns || table.rows() != entries)
        return std::nullopt;
    answer all;
    all.rows.reserve(entries);
    for (std::size_t i = 0; i < entries; ++i) {
        const auto ordinal = number_in(table.text(i, 0));
        const auto found = finding_in(what, table.text(i, 1));
        if (!ordinal || *ordinal < 1 || static_cast<std::size_t>(*ordinal) > entries || !found)
            return std::nullopt;
        row next{.entry = static_cast<std::size_t>(*ordinal) - 1, .what = *found};
        next.others_wait = table.text(i, 1) == "o";
        if (what == action::want && !read_want(next, all.clock, i, table))
            return std::nullopt;
        all.rows.push_back(next);
    }
    return all;
}

std::optional<reply> reply_in(question::kind what, const result& table)
{
    using kind = question::kind;
    reply found;
    if (what == kind::tell)
        return found;
    if (what == kind::take) {
        if (table.columns() != 4 || table.rows() != 1)
            return std::nullopt;
        const auto done = finding_in(action::give_back, table.text(0, 1));
        found.taken = done.value_or(finding::locked);
        return done ? std::optional(std::move(found)) : std::nullopt;
    }
    if (table.columns() != 7 || table.rows() > (what == kind::look ? 1 : most_in_page))
        return std::nullopt;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        auto name = bytes_in(table.text(i, 0));
        const auto fence = number_in(table.text(i, 3)), waiting = number_in(table.text(i, 4));
        if (!name || !fence || *fence < 0 || !waiting || *waiting < 0)
            return std::nullopt;
        found.more = table.text(i, 6) == "t";
        found.last = *name;
        if (what == kind::page && table.text(i, 1).empty())
            continue; // it was the last one of the page
        sight& seen = found.rows.emplace_back();
        seen.resource = *std::move(name);
        seen.owner = table.text(i, 1);
        seen.left = time_in(table.text(i, 2));
        seen.fence = static_cast<std::uint64_t>(*fence);
        seen.waiting = static_cast<std::size_t>(*waiting);
        seen.waiters = words_in(table.text(i, 5));
    }
    return found;
}

} // namespace holdfast::sql
