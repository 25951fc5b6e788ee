#include "postgresql/encoding.hpp"

#include "sql/reading.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

namespace holdfast::postgresql_store {

namespace {

using sql::action;

constexpr std::size_t longest_address = 63; // of a channel

// An array of one text, whatever that is: a person may have written it into the table.
std::string quoted(std::string_view text)
{
    std::string made = "{\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            made += '\\';
        made += c;
    }
    return made + "\"}";
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

} // namespace

std::string bytes_text(std::string_view bytes)
{
    std::string text = "\\x";
    sql::add_hex(text, bytes);
    return text;
}

std::vector<std::string> parameters_of(const sql::statement& what)
{
    std::vector<std::string> all;
    all.push_back(array_of(what.entries, [](std::string& to, const sql::entry& e) {
        to += "\"\\\\x";
        sql::add_hex(to, e.resource);
        to += '"';
    }));
    // Owners are letters, digits and @, - or _.
    all.push_back(
        array_of(what.entries, [](std::string& to, const sql::entry& e) { to += e.owner; }));
    if (what.what == action::give_back || what.what == action::watch)
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

std::vector<std::string> parameters_of(const sql::question& what)
{
    using kind = sql::question::kind;
    switch (what.what) {
    case kind::page:
        return {bytes_text(what.resource), bytes_text(what.end)};
    case kind::take: {
        // The statement takes arrays.
        const sql::entry one{.resource = what.resource, .owner = what.owner};
        auto all = parameters_of({.what = action::give_back, .entries = {&one, 1}});
        all[1] = quoted(what.owner);
        all.push_back(what.address.empty() ? "-" : std::string(what.address));
        return all;
    }
    case kind::tell:
        return {std::string(what.address), std::string(what.owner)};
    default:
        return {bytes_text(what.resource)};
    }
}

std::optional<told_turn> turn_in(std::string_view notification)
{
    const auto first = notification.find(' '), last = notification.rfind(' ');
    if (first == notification.npos || first == last)
        return std::nullopt;
    const auto tokens = sql::tokens_in(
        notification.substr(first + 1, last - first - 1), notification.substr(last + 1));
    if (!tokens)
        return std::nullopt;
    return told_turn{notification.substr(0, first), *tokens};
}

std::optional<told_loss> loss_in(std::string_view notification)
{
    constexpr std::string_view taken = " taken ";
    const auto at = notification.find(taken);
    if (at == notification.npos || at == 0)
        return std::nullopt;
    told_loss told{notification.substr(0, at), notification.substr(at + taken.size())};
    // Other users may send notifications, too.
    const bool is_address = !told.address.empty() && told.address.size() <= longest_address &&
                            told.address.find_first_not_of(
                                "abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
    if (!is_address)
        told.address = {};
    return told;
}

std::optional<std::string_view> told_in(std::string_view notification)
{
    constexpr std::string_view told = " told";
    if (!notification.ends_with(told) || notification.size() == told.size())
        return std::nullopt;
    return notification.substr(0, notification.size() - told.size());
}

} // namespace holdfast::postgresql_store
