#include "mysql/statements.hpp"

#include "mysql/texts.hpp"
#include "sql/reading.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::mysql_store {

namespace {

using part = std::pair<std::string_view, std::string_view>;

void put(std::string& into, std::string_view name, std::string_view value)
{
    for (auto at = into.find(name); at != into.npos; at = into.find(name, at + value.size()))
        into.replace(at, name.size(), value);
}

std::string with(std::string_view text, std::initializer_list<part> parts)
{
    std::string made(text);
    for (const auto& [name, value] : parts)
        put(made, name, value);
    return made;
}

// With all that stands in braces. `table`: quoted.
std::string complete(std::string_view text, std::string_view table)
{
    const auto of = [](std::string_view what, std::string_view row) {
        return with(what, {{"{places}", texts::places}, {"{x}", row}});
    };
    const std::string page = std::to_string(sql::most_in_page),
                      most_told = std::to_string(sql::most_waiters_told);
    return with(text,
        {{"{wanted alone}", texts::wanted_alone}, {"{insert}", texts::insert},
            {"{first of h}", of(texts::first, "h")}, {"{first of s}", of(texts::first, "s")},
            {"{next of h}", of(texts::next, "h")}, {"{next of s}", of(texts::next, "s")},
            {"{ahead of h}", of(texts::ahead, "h")}, {"{waiting of h}", of(texts::waiting, "h")},
            {"{told of h}", of(texts::told, "h")}, {"{end of front}", texts::end_of_front},
            {"{owner of front}", texts::owner_of_front}, {"{front}", texts::front},
            {"{grantable}", texts::grantable}, {"{hands over}", texts::hands_over},
            {"{first of s}", of(texts::first, "s")}, {"{next of s}", of(texts::next, "s")},
            {"{a}", texts::entries}, {"{place}", texts::place}, {"{sights}", texts::sights},
            {"{held}", texts::held}, {"{without}", texts::without}, {"{page}", page},
            {"{told waiters}", most_told}, {"{t}", table}});
}

std::string quoted(const std::string& table)
{
    const auto dot = table.find('.');
    if (dot == table.npos)
        return "`" + table + "`";
    return "`" + table.substr(0, dot) + "`.`" + table.substr(dot + 1) + "`";
}

std::int64_t microseconds(core::duration d) noexcept
{
    return std::chrono::duration_cast<std::chrono::microseconds>(d).count();
}

// Seconds, with a point in every locale.
std::string seconds_of(core::duration d)
{
    const std::int64_t all = microseconds(d), second = 1'000'000;
    const std::string rest = std::to_string(all % second);
    return std::to_string(all / second) + "." + std::string(6 - rest.size(), '0') + rest;
}

// Adds a list of JSON with the number of each entry, in the order of the resources: so statements
// of two lockers do not lock rows crosswise.
void add_list(std::string& text, std::span<const sql::entry> entries)
{
    std::vector<std::size_t> order(entries.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::sort(order.begin(), order.end(), [entries](std::size_t a, std::size_t b) {
        return entries[a].resource < entries[b].resource;
    });
    for (const std::size_t i : order) {
        const sql::entry& e = entries[i];
        text += text.back() == '[' ? "[" : ",[";
        text += std::to_string(i + 1);
        text += ",\"";
        sql::add_hex(text, e.resource);
        text += "\",\"";
        sql::add_hex(text, e.owner);
        text += "\",";
        text += std::to_string(microseconds(e.ttl));
        text += e.queues ? ",1]" : ",0]";
    }
}

// Of these entries, and then `command`.
std::string with_variables(
    std::span<const sql::entry> entries, std::int64_t not_after, std::string_view command)
{
    constexpr std::size_t most_of_numbers = 64;
    std::size_t size = texts::set_clock.size() + command.size() + 2 * most_of_numbers;
    for (const sql::entry& e : entries)
        size += 2 * (e.resource.size() + e.owner.size()) + most_of_numbers;
    std::string text;
    text.reserve(size);
    text += texts::set_clock;
    text += ", @hf_all = '[";
    add_list(text, entries);
    text += "]', @hf_until = ";
    text += std::to_string(not_after);
    text += "; ";
    return text += command;
}

std::string bytes_of(std::string_view bytes)
{
    std::string text = "x'";
    sql::add_hex(text, bytes);
    return text + "'";
}

} // namespace

statements::statements(const std::string& table)
{
    const std::string name = quoted(table);
    const auto dot = table.find('.');
    const auto made = [&name](std::string_view text) {
        return complete(text, name);
    };
    give_back_ = made(texts::give_back) + made(with(texts::gave_back, {{"{more}", ""}}));
    take_ = made(texts::give_back) + made(with(texts::gave_back, {{"{more}", ", NULL"}}));
    renew_ = made(texts::renew);
    watch_ = made(texts::watch);
    wanted_ = made(texts::wanted);
    want_ = made(texts::want) + wanted_;
    want_alone_ = made(texts::want_alone);
    give_back_alone_ = made(texts::give_back_alone);
    enter_queue_ = made(texts::enter_queue);
    take_turn_ = made(texts::take_turn);
    hand_over_ = made(texts::hand_over);
    look_ = made(texts::look);
    page_ = made(texts::page);
    create_ = made(texts::create);
    facts_ = with(texts::facts,
        {{"{schema}", dot == table.npos ? "DATABASE()" : "'" + table.substr(0, dot) + "'"},
            {"{name}", "'" + table.substr(dot == table.npos ? 0 : dot + 1) + "'"},
            {"{clock}", texts::clock}});
}

std::string statements::of(const sql::statement& what) const
{
    switch (what.what) {
    case sql::action::give_back:
        return with_variables(what.entries, what.not_after, give_back_);
    case sql::action::renew:
        return with_variables(what.entries, what.not_after, renew_);
    case sql::action::watch:
        return with_variables(what.entries, what.not_after, watch_);
    case sql::action::want:
        break;
    }
    return with_variables(what.entries, what.not_after, want_);
}

std::string statements::alone(const sql::statement& what) const
{
    if (what.entries.size() != 1)
        return {};
    if (what.what == sql::action::want)
        return short_text(want_alone_, what, what.entries.front());
    if (what.what == sql::action::give_back)
        return short_text(give_back_alone_, what, what.entries.front());
    return {};
}

std::string statements::in_queue(const sql::statement& what) const
{
    if (what.entries.size() != 1)
        return {};
    const sql::entry& one = what.entries.front();
    if (what.what == sql::action::want && one.waits)
        return one.queues ? std::string() : short_text(take_turn_, what, one);
    if (what.what == sql::action::want && one.queues)
        return short_text(enter_queue_, what, one);
    if (what.what == sql::action::give_back)
        return short_text(hand_over_, what, one);
    return {};
}

std::string statements::short_text(
    const std::string& text, const sql::statement& what, const sql::entry& one)
{
    const auto text_of = [](std::string_view bytes) {
        return "CONVERT(" + bytes_of(bytes) + " USING latin1) COLLATE latin1_bin";
    };
    const std::string mark = "[\"" + std::string(one.owner) + "\",";
    return std::string(texts::set_clock) + ", @hf_until = " + std::to_string(what.not_after) +
           "; " +
           with(
               text, {{"{r}", bytes_of(one.resource)}, {"{o}", text_of(one.owner)},
                         {"{m}", text_of(mark)}, {"{ttl}", std::to_string(microseconds(one.ttl))}});
}

std::string statements::look_of(const sql::statement& what) const
{
    return with_variables(what.entries, what.not_after, wanted_);
}

std::string statements::of(const sql::question& what) const
{
    using kind = sql::question::kind;
    const std::string clock = std::string(texts::set_clock) + "; ";
    switch (what.what) {
    case kind::look:
        return clock + with(look_, {{"{resource}", bytes_of(what.resource)}});
    case kind::page:
        return clock +
               with(page_, {{"{from}", bytes_of(what.resource)}, {"{end}", bytes_of(what.end)}});
    case kind::take: {
        const sql::entry one{.resource = what.resource, .owner = what.owner};
        return with_variables({&one, 1}, INT64_MAX, take_);
    }
    case kind::tell:
        break;
    }
    return "SELECT 1"; // nobody can be told
}

std::string settings_text(core::duration longest)
{
    return with(texts::settings, {{"{limit}", seconds_of(longest)}});
}

std::string guard_text(const std::string& table)
{
    return with(texts::guard, {{"{t}", quoted(table)}});
}

} // namespace holdfast::mysql_store
