#include "mysql/session.hpp"
#include "unit/sql/table.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace holdfast;
using namespace holdfast::mysql_store;
using holdfast::test::table;
using remedy = sql::failure::remedy;

namespace {

const std::string keys = "guard.resource,guard.token,guard.token_end,PRIMARY.resource";

// A session, and a server whose answers the test writes.
struct conversation : sql::session_owner {
    void on_ready(std::int64_t shown, core::time_point since, core::time_point) override
    {
        clock = shown;
        asked = since;
        ++ready;
    }
    void on_answer(const sql::answer& what, core::time_point) override { answer = what; }
    void on_reply(const sql::reply& what, core::time_point) override { replied = what; }
    void on_failure(const sql::failure& why, core::time_point) override { failed = why; }
    void on_turn(std::string_view, sql::token_block, core::time_point) override {}
    void on_waiters(std::string_view) override {}
    void on_taken(std::string_view, std::string_view, core::time_point) override {}
    void on_told(std::string_view) override {}

    std::string next()
    {
        auto found = s.next_query(now);
        BOOST_REQUIRE(found.has_value());
        return *found;
    }
    void end() { s.on_end(now); }
    void begin()
    {
        s.begin();
        BOOST_TEST(next().find("time_zone = '+00:00'") != std::string::npos);
        end();
    }
    struct told_facts {
        std::string read_only = "0", asynchronous = "0", longest = "16777216", there = "1",
                    key = keys, engine = "InnoDB", clock = "5000";
    };
    void tell_facts(const told_facts& f)
    {
        BOOST_TEST(next().find("@@global.read_only") != std::string::npos);
        s.on_result(table(
            7, {{f.read_only, f.asynchronous, f.longest, f.there, f.key, f.engine, f.clock}}));
        end();
    }
    void greet()
    {
        begin();
        tell_facts({});
        BOOST_TEST(next().find("INSERT INTO `holdfast_locks`") != std::string::npos);
        s.on_result(table(8));
        end();
    }

    session_settings settings{.table = "holdfast_locks", .longest_statement = 2s};
    statements texts{"holdfast_locks"};
    session s{settings, texts, *this};
    core::time_point now{100s};
    std::int64_t clock = 0;
    core::time_point asked{};
    int ready = 0;
    std::optional<sql::answer> answer;
    std::optional<sql::reply> replied;
    std::optional<sql::failure> failed;
};

constexpr std::array one_entry{sql::entry{.resource = "r", .owner = "A", .ttl = 1s}};
const sql::statement renewal{.what = sql::action::renew, .entries = one_entry};

BOOST_FIXTURE_TEST_SUITE(mysql_greeting, conversation)

BOOST_AUTO_TEST_CASE(a_server_is_greeted_and_statements_are_answered)
{
    greet();
    BOOST_TEST(ready == 1);
    BOOST_TEST(clock == 5000);
    BOOST_TEST((asked == now));
    BOOST_TEST(s.is_ready());
    for (int i = 0; i < 2; ++i) {
        s.send(renewal);
        BOOST_TEST(!s.is_ready());
        BOOST_TEST(next() == texts.of(renewal));
        s.on_result(table(2, {{"1", "k"}}));
        end();
        BOOST_REQUIRE(answer.has_value());
        BOOST_TEST(answer->rows.size() == 1u);
        answer.reset();
        BOOST_TEST(s.is_ready());
    }
}

BOOST_AUTO_TEST_CASE(servers_that_cannot_be_used_are_told)
{
    const auto refusal = [this](const told_facts& facts) {
        failed.reset();
        begin();
        tell_facts(facts);
        BOOST_REQUIRE(failed.has_value());
        BOOST_TEST((failed->reason == errc::misconfigured_node));
        BOOST_TEST((failed->what == remedy::reconnect));
        BOOST_TEST(!s.has_query());
        return failed->text;
    };
    const auto says = [](const std::string& text, const char* part) {
        return text.find(part) != std::string::npos;
    };
    BOOST_TEST(says(refusal({.read_only = "1"}), "read-only"));
    BOOST_TEST(says(refusal({.asynchronous = "1"}), "innodb_flush_log_at_trx_commit"));
    BOOST_TEST(says(refusal({.longest = "4194304"}), "max_allowed_packet"));
    BOOST_TEST(says(refusal({.there = "0"}), "no table holdfast_locks"));
    BOOST_TEST(says(refusal({.key = "PRIMARY.resource"}), "UNIQUE KEY guard"));
    BOOST_TEST(says(refusal({.key = ""}), "UNIQUE KEY guard"));
    BOOST_TEST(says(refusal({.engine = "Aria"}), "InnoDB"));
    BOOST_TEST(ready == 0);
}

BOOST_AUTO_TEST_CASE(the_order_of_the_indices_does_not_matter)
{
    begin();
    tell_facts({.key = "PRIMARY.resource,guard.resource,guard.token,guard.token_end"});
    BOOST_TEST(s.has_query());
}

BOOST_AUTO_TEST_CASE(asynchronous_commits_may_be_allowed)
{
    settings.allow_asynchronous_commit = true;
    begin();
    tell_facts({.asynchronous = "1"});
    BOOST_TEST(!failed.has_value());
    BOOST_TEST(s.has_query());
}

BOOST_AUTO_TEST_CASE(the_table_is_made_on_request_once)
{
    settings.create_table = true;
    for (const bool works : {true, false}) {
        failed.reset();
        begin();
        tell_facts({.there = "0", .key = "", .engine = ""});
        BOOST_TEST(next().starts_with("CREATE TABLE"));
        if (!works)
            s.on_error(1142, "CREATE command denied to user");
        end();
        tell_facts(works ? told_facts{} : told_facts{.there = "0"});
        BOOST_TEST(failed.has_value() != works);
        BOOST_TEST(s.has_query() == works);
        if (failed)
            BOOST_TEST(failed->text.find("CREATE command denied") != std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(missing_rights_end_the_greeting)
{
    begin();
    tell_facts({});
    next();
    s.on_error(1142, "INSERT command denied to user");
    end();
    BOOST_REQUIRE(failed.has_value());
    BOOST_TEST((failed->reason == errc::permission_denied));
    BOOST_TEST((failed->what == remedy::reconnect));
}

BOOST_AUTO_TEST_CASE(a_statement_that_fails_leaves_the_session_ready)
{
    greet();
    s.send(renewal);
    next();
    s.on_error(1213, "Deadlock found when trying to get lock; try restarting transaction");
    end();
    BOOST_REQUIRE(failed.has_value());
    BOOST_TEST((failed->what == remedy::pass_over));
    BOOST_TEST(failed->text.starts_with("1213: Deadlock"));
    BOOST_TEST(s.is_ready());
    BOOST_TEST(!answer.has_value());
}

// It may have been executed. Its result does not count as that of the next one.
BOOST_AUTO_TEST_CASE(an_error_after_a_result_counts)
{
    greet();
    s.send(renewal);
    next();
    s.on_result(table(2, {{"1", "k"}}));
    s.on_error(1317, "Query execution was interrupted");
    end();
    BOOST_TEST((failed.value().what == remedy::later));
    BOOST_TEST(!answer.has_value());
    s.send(renewal);
    next();
    end(); // without a result
    BOOST_TEST((failed->reason == errc::protocol_error));
}

// Its row may have changed before the last command had to wait.
BOOST_AUTO_TEST_CASE(a_take_that_has_waited_too_long_is_perhaps_executed)
{
    using kind = sql::question::kind;
    greet();
    for (const kind what : {kind::take, kind::look}) {
        s.ask({.what = what, .resource = "r", .owner = "A"});
        next();
        s.on_error(1205, "Lock wait timeout exceeded; try restarting transaction");
        end();
        BOOST_REQUIRE(failed.has_value());
        BOOST_TEST((failed->what == (what == kind::take ? remedy::later : remedy::pass_over)));
        failed.reset();
        BOOST_TEST(s.is_ready());
    }
}

BOOST_AUTO_TEST_CASE(an_answer_that_is_none_ends_the_session)
{
    for (const bool empty : {true, false}) {
        failed.reset();
        greet();
        s.send(renewal);
        next();
        if (!empty)
            s.on_result(table(5, {{"1", "2", "3", "4", "5"}}));
        end();
        BOOST_REQUIRE(failed.has_value());
        BOOST_TEST((failed->reason == errc::protocol_error));
        BOOST_TEST(!s.is_ready());
    }
    failed.reset();
    begin();
    next();
    s.on_result(table(7, {{"0", "0", "many", "1", keys, "InnoDB", "1"}}));
    end();
    BOOST_TEST((failed.value().reason == errc::protocol_error));
}

// Most looks for the turn are in vain.
BOOST_AUTO_TEST_CASE(waiters_look_before_anything_is_written)
{
    const std::vector<std::string> refused{"1", "r", "500", "", "", "", "9", ""},
        locked{"1", "l", "500", "", "", "", "", ""}, granted{"1", "g", "500", "7", "8", "", "", ""};
    std::array waits = one_entry;
    waits[0].waits = true;
    const sql::statement want{.what = sql::action::want, .entries = waits};
    greet();
    s.send(want);
    BOOST_TEST(next() == texts.look_of(want));
    s.on_result(table(8, {refused}));
    end();
    BOOST_TEST((answer.value().rows.at(0).what == sql::finding::refused));
    BOOST_TEST(s.is_ready());

    answer.reset();
    s.send(want);
    next();
    for (const std::string& text : {texts.in_queue(want), texts.of(want)}) {
        s.on_result(table(8, {locked}));
        end();
        BOOST_TEST(!answer.has_value());
        BOOST_TEST(next() == text);
    }
    s.on_result(table(8, {granted}));
    end();
    BOOST_TEST((answer.value().rows.at(0).what == sql::finding::granted));

    s.send(want);
    next();
    s.on_error(1317, "Query execution was interrupted");
    end();
    BOOST_TEST((failed.value().what == remedy::later));
    BOOST_TEST(s.is_ready());

    waits[0].queues = true; // its place is refreshed
    s.send(want);
    BOOST_TEST(next() == texts.of(want));
}

// It may be free. Else nothing is written.
BOOST_AUTO_TEST_CASE(those_that_do_not_wait_take_what_is_free_or_look)
{
    const sql::statement want{.what = sql::action::want, .entries = one_entry};
    greet();
    s.send(want);
    for (const std::string& text : {texts.alone(want), texts.look_of(want), texts.of(want)}) {
        BOOST_TEST(next() == text);
        s.on_result(table(8, {{"1", "l", "500", "", "", "", "", ""}}));
        end();
    }
    BOOST_TEST((answer.value().rows.at(0).what == sql::finding::locked));
}

// Where nobody waits, a short one is enough; else perhaps another short one is.
BOOST_AUTO_TEST_CASE(short_statements_come_first)
{
    const std::vector<std::string> locked{"1", "l", "500", "", "", "", "", ""},
        granted{"1", "g", "500", "7", "8", "", "", ""},
        queued{"1", "q", "500", "", "", "0", "9", ""};
    std::array queues = one_entry;
    queues[0].queues = true;
    const sql::statement want{.what = sql::action::want, .entries = queues},
        give_back{.what = sql::action::give_back, .entries = one_entry};
    greet();
    for (int i = 0; i < 2; ++i) {
        answer.reset();
        s.send(want);
        BOOST_TEST(next() == texts.alone(want));
        s.on_result(table(8, {granted}));
        end();
        BOOST_TEST((answer.value().rows.at(0).what == sql::finding::granted));
        answer.reset();
        s.send(give_back);
        BOOST_TEST(next() == texts.alone(give_back));
        s.on_result(table(3, {{"1", "f", ""}}));
        end();
        BOOST_TEST((answer.value().rows.at(0).what == sql::finding::released));
        BOOST_TEST(s.is_ready());
    }
    s.send(want);
    for (const std::string& text : {texts.alone(want), texts.in_queue(want)}) {
        BOOST_TEST(next() == text);
        answer.reset();
        s.on_result(table(8, {locked}));
        end();
        BOOST_TEST(!answer.has_value());
    }
    BOOST_TEST(next() == texts.of(want));
    s.on_result(table(8, {queued}));
    end();
    BOOST_TEST((answer.value().rows.at(0).what == sql::finding::queued));
    s.send(give_back);
    BOOST_TEST(next() == texts.in_queue(give_back)); // the one for nobody was in vain
}

BOOST_AUTO_TEST_CASE(after_statements_for_nobody_in_vain_the_next_ones_are_left_out)
{
    const sql::statement give_back{.what = sql::action::give_back, .entries = one_entry};
    greet();
    const auto tried_after = [&](const char* found) { // how many were left out before
        for (int left_out = 0;; ++left_out) {
            s.send(give_back);
            const bool tries = next() == texts.alone(give_back);
            s.on_result(table(3, {{"1", tries ? found : "f", ""}}));
            end();
            if (s.has_query()) {
                BOOST_TEST(next() == texts.in_queue(give_back));
                s.on_result(table(3, {{"1", "f", ""}}));
                end();
            }
            BOOST_TEST((answer.value().rows.at(0).what == sql::finding::released));
            if (tries)
                return left_out;
        }
    };
    for (const int expected : {0, 1, 3, 7, 15, 15})
        BOOST_TEST(tried_after("l") == expected);
    BOOST_TEST(tried_after("f") == 15);
    BOOST_TEST(tried_after("f") == 0);
    BOOST_TEST(tried_after("l") == 0);
    BOOST_TEST(tried_after("f") == 1);
}

BOOST_AUTO_TEST_CASE(questions_are_answered)
{
    greet();
    s.ask({.what = sql::question::kind::look, .resource = "r"});
    BOOST_TEST(!s.is_ready());
    BOOST_TEST(next().find("x'72'") != std::string::npos);
    s.on_result(table(7));
    end();
    BOOST_REQUIRE(replied.has_value());
    BOOST_TEST(s.is_ready());
    s.ask({.what = sql::question::kind::tell, .owner = "A", .address = "c"});
    BOOST_TEST(next() == "SELECT 1");
    s.on_result(table(1, {{"1"}}));
    end();
    BOOST_TEST(s.is_ready());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
