#include "postgresql/encoding.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <span>
#include <utility>

namespace holdfast::postgresql_store {

namespace {

using sql::action;
using sql::finding;

constexpr std::string_view digits = "0123456789abcdef";

void add_hex(std::string& to, std::string_view bytes)
{
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        to += digits[byte >> 4u];
        to += digits[byte & 15u];
    }
}

template <class Add>
std::string array_of(std::span<const sql::entry> entries, Add add)
{
    std::string text = "{";
    for (const sql::entry& each : entries) {
        if (text.size() > 1)
            text += ',';
        add(text, each);
    }
    text += '}';
    return text;
}

std::int64_t microseconds(core::duration d) noexcept
{
    return std::chrono::duration_cast<std::chrono::microseconds>(d).count();
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
    };
    for (const meaning& each : all) {
        if (each.what == what && letter.size() == 1 && letter.front() == each.letter)
            return each.found;
    }
    return std::nullopt;
}

std::optional<sql::token_block> tokens_in(std::string_view first, std::string_view last)
{
    const auto low = number_in(first), high = number_in(last);
    if (!low || !high || *low <= 0 || *high < *low)
        return std::nullopt;
    return sql::token_block{static_cast<std::uint64_t>(*low), static_cast<std::uint64_t>(*high)};
}

// The columns that only `want` has.
bool read_want(sql::row& to, std::int64_t& clock, std::size_t i, const result& table)
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
    to.ahead = number_in(table.text(i, 5)).value_or(sql::row::no_place);
    // Leases are not longer than a century, wherever this row comes from.
    constexpr std::int64_t century = 100LL * 366 * 86'400 * 1'000'000;
    const auto free_in = number_in(table.text(i, 6)).value_or(0);
    to.free_in = std::chrono::microseconds(std::clamp(free_in, -century, century));
    return true;
}

} // namespace

std::optional<std::int64_t> number_in(std::string_view text)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

std::string bytes_text(std::string_view bytes)
{
    std::string text = "\\x";
    add_hex(text, bytes);
    return text;
}

std::vector<std::string> parameters_of(const sql::statement& what)
{
    std::vector<std::string> all;
    all.push_back(array_of(what.entries, [](std::string& to, const sql::entry& e) {
        to += "\"\\\\x";
        add_hex(to, e.resource);
        to += '"';
    }));
    // Owners are letters, digits and @, - or _.
    all.push_back(
        array_of(what.entries, [](std::string& to, const sql::entry& e) { to += e.owner; }));
    if (what.what == action::give_back)
        return all;
    all.push_back(array_of(what.entries,
        [](std::string& to, const sql::entry& e) { to += std::to_string(microseconds(e.ttl)); }));
    if (what.what == action::renew)
        return all;
    all.push_back(array_of(
        what.entries, [](std::string& to, const sql::entry& e) { to += e.queues ? 't' : 'f'; }));
    all.push_back(std::to_string(what.not_after));
    return all;
}

std::optional<sql::answer> answer_in(action what, std::size_t entries, const result& table)
{
    const std::size_t columns = what == action::want ? 8 : what == action::renew ? 2 : 3;
    if (table.columns() != columns || table.rows() != entries)
        return std::nullopt;
    sql::answer all;
    all.rows.reserve(entries);
    for (std::size_t i = 0; i < entries; ++i) {
        const auto ordinal = number_in(table.text(i, 0));
        const auto found = finding_in(what, table.text(i, 1));
        if (!ordinal || *ordinal < 1 || static_cast<std::size_t>(*ordinal) > entries || !found)
            return std::nullopt;
        sql::row next{.entry = static_cast<std::size_t>(*ordinal) - 1, .what = *found};
        next.others_wait = what == action::renew && table.text(i, 1) == "o";
        if (what == action::want && !read_want(next, all.clock, i, table))
            return std::nullopt;
        all.rows.push_back(next);
    }
    return all;
}

std::optional<told_turn> turn_in(std::string_view notification)
{
    const auto first = notification.find(' '), last = notification.rfind(' ');
    if (first == notification.npos || first == last)
        return std::nullopt;
    const auto tokens =
        tokens_in(notification.substr(first + 1, last - first - 1), notification.substr(last + 1));
    if (!tokens)
        return std::nullopt;
    return told_turn{notification.substr(0, first), *tokens};
}

} // namespace holdfast::postgresql_store
