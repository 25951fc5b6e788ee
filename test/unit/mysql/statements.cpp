#include "mysql/statements.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <clocale>
#include <span>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace holdfast;
using namespace holdfast::mysql_store;
using sql::action;
using kind = sql::question::kind;

namespace {

const statements texts("locks.mine");
constexpr std::array an_entry{sql::entry{.resource = "r", .owner = "A", .ttl = 1s, .queues = true}};

bool has(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

BOOST_AUTO_TEST_SUITE(mysql_statements)

BOOST_AUTO_TEST_CASE(entries_are_a_list_in_the_order_of_their_resources)
{
    const std::array entries{
        sql::entry{.resource = "b'\\;", .owner = "A", .ttl = 2s, .queues = true},
        sql::entry{.resource = std::string_view("\0\xff", 2), .owner = "B'", .ttl = 1500us}};
    const std::string text = texts.of({.what = action::want, .not_after = 77, .entries = entries});
    BOOST_TEST(
        has(text, R"(@hf_all = '[[2,"00ff","4227",1500,0],[1,"62275c3b","41",2000000,1]]')"));
    BOOST_TEST(has(text, "@hf_until = 77;"));
    BOOST_TEST(has(texts.of({.what = action::want}), "@hf_all = '[]'"));
}

// Whatever callers give: no quote, and no end of a command, is theirs.
BOOST_AUTO_TEST_CASE(what_callers_give_is_written_as_digits)
{
    const std::string bad = "x'; DROP TABLE t; -- \\\"\n\x80`";
    const std::array entries{sql::entry{.resource = bad, .owner = bad, .ttl = 1s, .queues = true}};
    const std::array harmless{sql::entry{.resource = "x", .owner = "x", .ttl = 1s, .queues = true}};
    const auto frame = [](std::string text) { // without letters and digits
        std::erase_if(text, [](unsigned char c) { return std::isalnum(c) != 0; });
        return text;
    };
    for (const action what : {action::give_back, action::renew, action::watch, action::want})
        BOOST_TEST(frame(texts.of({.what = what, .entries = entries})) ==
                   frame(texts.of({.what = what, .entries = harmless})));
    for (const action what : {action::give_back, action::want}) {
        BOOST_TEST(frame(texts.alone({.what = what, .entries = entries})) ==
                   frame(texts.alone({.what = what, .entries = harmless})));
        BOOST_TEST(frame(texts.in_queue({.what = what, .entries = entries})) ==
                   frame(texts.in_queue({.what = what, .entries = harmless})));
    }
    for (const kind what : {kind::look, kind::page, kind::take, kind::tell})
        BOOST_TEST(
            frame(texts.of(
                {.what = what, .resource = bad, .end = bad, .owner = bad, .address = bad})) ==
            frame(texts.of(
                {.what = what, .resource = "x", .end = "x", .owner = "x", .address = "x"})));
}

BOOST_AUTO_TEST_CASE(texts_are_complete)
{
    std::vector<std::string> all{
        texts.facts(), texts.create(), settings_text(1500ms), guard_text("locks.mine")};
    for (const action what : {action::give_back, action::renew, action::watch, action::want})
        all.push_back(texts.of({.what = what}));
    for (const action what : {action::give_back, action::want}) {
        all.push_back(texts.alone({.what = what, .entries = an_entry}));
        all.push_back(texts.in_queue({.what = what, .entries = an_entry}));
    }
    for (const kind what : {kind::look, kind::page, kind::take, kind::tell})
        all.push_back(texts.of(sql::question{.what = what}));
    for (const std::string& each : all) {
        BOOST_TEST(!has(each, "{"), each);
        BOOST_TEST(!has(each, "}"), each);
    }
    BOOST_TEST(has(texts.create(), "`locks`.`mine`"));
    BOOST_TEST(has(texts.facts(), "TABLE_SCHEMA = 'locks'"));
    BOOST_TEST(has(statements("mine").facts(), "TABLE_SCHEMA = DATABASE()"));
}

// Of rows, and of the table.
BOOST_AUTO_TEST_CASE(nothing_is_waited_for_for_long)
{
    BOOST_TEST(has(settings_text(2s), "SESSION innodb_lock_wait_timeout = 1,"));
    BOOST_TEST(has(settings_text(2s), "SESSION lock_wait_timeout = 1,"));
}

// The locale of a process may have a comma there.
BOOST_AUTO_TEST_CASE(the_longest_time_of_a_statement_has_a_point)
{
    const std::string before = std::setlocale(LC_NUMERIC, nullptr);
    for (const char* const name :
        {"C", "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "pt_BR.UTF-8", "ru_RU.UTF-8"}) {
        if (std::setlocale(LC_NUMERIC, name) == nullptr)
            continue; // not on this machine
        BOOST_TEST(has(settings_text(10ms), "max_statement_time = 0.010000 "), name);
        BOOST_TEST(has(settings_text(1500ms), "max_statement_time = 1.500000 "), name);
        BOOST_TEST(has(settings_text(60s + 1us), "max_statement_time = 60.000001 "), name);
    }
    std::setlocale(LC_NUMERIC, before.c_str());
}

// A statement that waits for rows could block another one crosswise.
BOOST_AUTO_TEST_CASE(no_statement_waits_for_rows)
{
    std::array waiting = an_entry;
    waiting[0].queues = false;
    waiting[0].waits = true;
    for (const std::string& text : {texts.of({.what = action::give_back}),
             texts.of({.what = action::renew}), texts.of({.what = action::want}),
             texts.alone({.what = action::give_back, .entries = an_entry}),
             texts.in_queue({.what = action::give_back, .entries = an_entry}),
             texts.alone({.what = action::want, .entries = an_entry}),
             texts.in_queue({.what = action::want, .entries = an_entry}),
             texts.in_queue({.what = action::want, .entries = waiting})}) {
        std::size_t locking = 0, passing = 0;
        for (auto at = text.find("FOR UPDATE"); at != text.npos;
             at = text.find("FOR UPDATE", at + 1))
            ++locking;
        for (auto at = text.find("FOR UPDATE SKIP LOCKED"); at != text.npos;
             at = text.find("FOR UPDATE SKIP LOCKED", at + 1))
            ++passing;
        BOOST_TEST(locking > 0u);
        BOOST_TEST(locking == passing);
    }
    for (const std::string& text :
        {texts.of({.what = action::watch}), texts.look_of({.what = action::want})}) {
        BOOST_TEST(!has(text, "FOR UPDATE"));
        BOOST_TEST(!has(text, "INSERT"));
    }
}

BOOST_AUTO_TEST_CASE(short_statements_are_for_one_entry_that_is_wanted_or_given_back)
{
    std::array two{an_entry[0], sql::entry{.resource = "s", .owner = "A", .ttl = 1s}};
    for (const action what : {action::give_back, action::renew, action::watch, action::want}) {
        const bool has_one = what == action::give_back || what == action::want;
        for (const std::size_t entries : {0u, 1u, 2u}) {
            const sql::statement next{.what = what, .entries = std::span(two).first(entries)};
            BOOST_TEST(texts.alone(next).empty() != (has_one && entries == 1));
            BOOST_TEST(texts.in_queue(next).empty() != (has_one && entries == 1));
        }
    }
    const std::string text =
        texts.alone({.what = action::want, .not_after = 77, .entries = an_entry});
    BOOST_TEST(has(text, "@hf_until = 77;"));
    BOOST_TEST(has(text, "x'72' AS resource"));
    BOOST_TEST(has(text, "@hf_now + 1000000 AS expires_at"));
    two[0].queues = false;
    const sql::statement now{.what = action::want, .entries = std::span(two).first(1)};
    BOOST_TEST(!texts.alone(now).empty());
    BOOST_TEST(texts.in_queue(now).empty());
    two[0].waits = true;
    two[0].queues = true;
    BOOST_TEST(texts.in_queue(now).empty()); // its place is refreshed
    two[0].queues = false;
    BOOST_TEST(has(texts.in_queue(now), "GREATEST(`locks`.`mine`.expires_at, x.expires_at)"));
}

BOOST_AUTO_TEST_CASE(a_guard_has_three_parameters)
{
    const std::string text = guard_text("locks.mine");
    BOOST_TEST(std::count(text.begin(), text.end(), '?') == 3);
    BOOST_TEST(has(text, "`locks`.`mine` g FORCE INDEX (guard)"));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
