#include "postgresql/session.hpp"
#include "unit/sql/table.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace holdfast;
using namespace holdfast::postgresql_store;
using holdfast::test::table;
using remedy = sql::failure::remedy;

namespace {

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
    void on_turn(std::string_view owner, sql::token_block, core::time_point) override
    {
        turns.emplace_back(owner);
    }
    void on_waiters(std::string_view owner) override { waited_for.emplace_back(owner); }

    void on_taken(std::string_view owner, std::string_view address, core::time_point) override
    {
        losses.push_back(std::string(owner) + ">" + std::string(address));
    }
    void on_told(std::string_view owner) override { heard.emplace_back(owner); }

    query next()
    {
        auto found = s.next_query(now);
        BOOST_REQUIRE(found.has_value());
        return *found;
    }
    void end() { s.on_end(now); }
    // The answers to the first two questions.
    void tell_facts(const std::string& read_only = "f", const std::string& asynchronous = "f",
        const std::string& there = "t", const std::string& key = "t")
    {
        tell_only_facts("7", read_only, asynchronous, there, key);
        tell_processes();
    }
    void tell_only_facts(const std::string& process = "7", const std::string& read_only = "f",
        const std::string& asynchronous = "f", const std::string& there = "t",
        const std::string& key = "t")
    {
        BOOST_TEST((next().how == query::kind::once));
        s.on_result(table(6, {{process, read_only, asynchronous, there, key, "5000"}}));
        end();
    }
    // The answer to the question about processes, which comes only without a pooler.
    query tell_processes()
    {
        const query question = next();
        BOOST_TEST(question.text == texts.processes());
        s.on_result(table(3, {{"7", "99", "t"}}));
        end();
        return question;
    }
    void greet(bool hears = true)
    {
        s.begin(7, {});
        tell_facts();
        BOOST_TEST(next().text.find("lock_timeout") != std::string::npos);
        end();
        BOOST_TEST(next().text.starts_with("LISTEN channel_1;"));
        if (hears)
            s.on_notification("hello", now);
        end();
        BOOST_TEST((next().how == query::kind::once));
        s.on_result(table(8));
        end();
    }

    session_settings settings{
        .table = "holdfast_locks", .channel = "channel_1", .longest_statement = 2s};
    statements texts{"holdfast_locks"};
    session s{settings, texts, *this};
    core::time_point now{100s};
    std::int64_t clock = 0;
    core::time_point asked{};
    int ready = 0;
    std::optional<sql::answer> answer;
    std::optional<sql::reply> replied;
    std::optional<sql::failure> failed;
    std::vector<std::string> turns, waited_for, losses, heard;
};

constexpr std::array one_entry{sql::entry{.resource = "r", .owner = "A", .ttl = 1s}};
const sql::statement renewal{.what = sql::action::renew, .entries = one_entry};

BOOST_FIXTURE_TEST_SUITE(postgresql_greeting, conversation)

BOOST_AUTO_TEST_CASE(a_server_is_greeted_and_statements_are_prepared_once)
{
    greet();
    BOOST_TEST(ready == 1);
    BOOST_TEST(clock == 5000);
    BOOST_TEST((asked == now));
    BOOST_TEST(s.is_ready());
    BOOST_TEST(s.is_told());
    for (int i = 0; i < 2; ++i) {
        s.send(renewal);
        if (i == 0) {
            const query prepares = next();
            BOOST_TEST((prepares.how == query::kind::prepare));
            BOOST_TEST(prepares.text == texts.of(sql::action::renew, true));
            end();
        }
        const query executes = next();
        BOOST_TEST((executes.how == query::kind::prepared));
        BOOST_TEST(executes.parameters.size() == 3u);
        s.on_result(table(2, {{"1", "k"}}));
        end();
        BOOST_REQUIRE(answer.has_value());
        BOOST_TEST(answer->rows.size() == 1u);
        answer.reset();
        BOOST_TEST(s.is_ready());
    }
}

// It may wait for a standby, and would do so for ever.
BOOST_AUTO_TEST_CASE(the_process_of_a_connection_that_was_given_up_is_ended)
{
    s.begin(7, {});
    tell_facts();
    BOOST_TEST(!s.at_work().has_value()); // the next query was not sent
    next();
    BOOST_REQUIRE(s.at_work().has_value());
    greet();
    BOOST_TEST(!s.at_work().has_value());
    s.send(renewal);
    next();
    const auto process = s.at_work();
    BOOST_REQUIRE(process.has_value());
    BOOST_TEST(process->number == 7);
    BOOST_TEST(process->began == 99);

    s.begin(7, {*process, {8, 100}});
    BOOST_TEST(!s.at_work().has_value());
    tell_only_facts();
    const query question = tell_processes();
    BOOST_REQUIRE(question.parameters.size() == 3u);
    BOOST_TEST(question.parameters[0] == "{7,8}");
    BOOST_TEST(question.parameters[1] == "{99,100}");
    BOOST_TEST(question.parameters[2] == "4000"); // twice the limit of statements
}

// An administrator may have revoked the rights that everybody has.
BOOST_AUTO_TEST_CASE(a_user_that_may_not_end_processes_is_greeted_all_the_same)
{
    s.begin(7, {});
    tell_only_facts();
    next();
    s.on_error("42501", "permission denied for function pg_terminate_backend");
    end();
    BOOST_TEST(!failed.has_value());
    BOOST_TEST(next().text.find("lock_timeout") != std::string::npos);
    BOOST_TEST(!s.at_work().has_value());
}

BOOST_AUTO_TEST_CASE(without_notifications_nobody_is_told)
{
    greet(false);
    BOOST_TEST(ready == 1);
    BOOST_TEST(!s.is_told());
}

// Its connections have other process numbers than those of the server.
BOOST_AUTO_TEST_CASE(behind_a_pooler_nothing_is_set_or_prepared)
{
    s.begin(8, {});
    tell_only_facts("7");
    BOOST_TEST((next().how == query::kind::once));
    s.on_result(table(8));
    end();
    BOOST_TEST(ready == 1);
    BOOST_TEST(!s.is_told());
    s.send(renewal);
    const query executes = next();
    BOOST_TEST((executes.how == query::kind::once));
    BOOST_TEST(executes.text == texts.of(sql::action::renew, false));
    BOOST_TEST(!s.at_work().has_value()); // its processes are the pooler's
}

BOOST_AUTO_TEST_CASE(servers_that_cannot_be_used_are_told)
{
    const auto refusal = [this](auto... facts) {
        failed.reset();
        s.begin(7, {});
        tell_only_facts(facts...);
        if (!failed) // not behind a pooler
            tell_processes();
        BOOST_REQUIRE(failed.has_value());
        BOOST_TEST((failed->reason == errc::misconfigured_node));
        BOOST_TEST((failed->what == remedy::reconnect));
        BOOST_TEST(!s.has_query());
        return failed->text;
    };
    BOOST_TEST(refusal("7", "t").find("read-only") != std::string::npos);
    BOOST_TEST(refusal("7", "f", "f", "f").find("no table holdfast_locks") != std::string::npos);
    BOOST_TEST(refusal("7", "f", "f", "t", "f").find("UNIQUE") != std::string::npos);
    BOOST_TEST(refusal("9", "f", "t").find("synchronous_commit") != std::string::npos);
    BOOST_TEST(ready == 0);
}

BOOST_AUTO_TEST_CASE(asynchronous_commits_are_made_synchronous_unless_allowed)
{
    for (const bool allowed : {false, true}) {
        settings.allow_asynchronous_commit = allowed;
        s.begin(7, {});
        tell_facts("f", "t");
        BOOST_TEST((next().text.find("synchronous_commit = on") != std::string::npos) != allowed);
    }
}

BOOST_AUTO_TEST_CASE(the_table_is_made_on_request_once)
{
    settings.create_table = true;
    for (const bool works : {true, false}) {
        failed.reset();
        s.begin(7, {});
        tell_facts("f", "f", "f", "f");
        BOOST_TEST(next().text.starts_with("CREATE TABLE"));
        if (!works)
            s.on_error("42501", "permission denied for schema public");
        end();
        tell_only_facts("7", "f", "f", works ? "t" : "f");
        BOOST_TEST(failed.has_value() != works);
        BOOST_TEST(s.has_query() == works);
        if (failed)
            BOOST_TEST(failed->text.find("permission denied") != std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(missing_rights_end_the_greeting)
{
    s.begin(7, {});
    tell_facts();
    next();
    end();
    next();
    end();
    next();
    s.on_error("42501", "permission denied for table holdfast_locks");
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
    end();
    next();
    s.on_error("55P03", "canceling statement due to lock timeout");
    end();
    BOOST_REQUIRE(failed.has_value());
    BOOST_TEST((failed->what == remedy::pass_over));
    BOOST_TEST(s.is_ready());
    BOOST_TEST(!answer.has_value());
}

BOOST_AUTO_TEST_CASE(an_answer_that_is_none_ends_the_session)
{
    for (const bool empty : {true, false}) {
        failed.reset();
        greet();
        s.send(renewal);
        next();
        end();
        next();
        if (!empty)
            s.on_result(table(5, {{"1", "2", "3", "4", "5"}}));
        end();
        BOOST_REQUIRE(failed.has_value());
        BOOST_TEST((failed->reason == errc::protocol_error));
        BOOST_TEST(!s.is_ready());
    }
}

BOOST_AUTO_TEST_CASE(turns_are_told)
{
    greet();
    s.on_notification("A@channel_1 10 20", now);
    s.on_notification("nonsense", now);
    BOOST_TEST(turns == std::vector<std::string>{"A@channel_1"}, boost::test_tools::per_element());
    BOOST_TEST(waited_for.empty());
}

BOOST_AUTO_TEST_CASE(holders_are_told_that_others_wait)
{
    greet();
    s.on_notification("A@channel_1@w", now);
    s.on_notification("A@channel_1@w 10 20", now); // a turn
    BOOST_TEST((waited_for == std::vector<std::string>{"A@channel_1@w"}));
    BOOST_TEST((turns == std::vector<std::string>{"A@channel_1@w"}));
}

BOOST_AUTO_TEST_CASE(questions_are_not_prepared)
{
    greet();
    s.ask({.what = sql::question::kind::look, .resource = "r"});
    BOOST_TEST(!s.is_ready());
    const query looks = next();
    BOOST_TEST((looks.how == query::kind::once));
    BOOST_TEST(looks.text == texts.of(sql::question::kind::look, true));
    s.on_result(table(7));
    end();
    BOOST_REQUIRE(replied.has_value());
    BOOST_TEST(s.is_ready());

    s.ask({.what = sql::question::kind::take, .resource = "r", .owner = "A"});
    next();
    s.on_error("55P03", "canceling statement due to lock timeout");
    end();
    BOOST_REQUIRE(failed.has_value());
    BOOST_TEST((failed->what == remedy::pass_over));
    BOOST_TEST(s.is_ready());

    s.ask({.what = sql::question::kind::look, .resource = "r"});
    next();
    end(); // without a table
    BOOST_TEST((failed->reason == errc::protocol_error));
}

// No limit is set there on how long a statement waits.
BOOST_AUTO_TEST_CASE(behind_a_pooler_a_lock_is_taken_without_waiting)
{
    s.begin(8, {});
    tell_only_facts("7");
    next();
    s.on_result(table(8));
    end();
    s.ask({.what = sql::question::kind::take, .resource = "r", .owner = "A"});
    BOOST_TEST(next().text == texts.of(sql::question::kind::take, false));
}

BOOST_AUTO_TEST_CASE(losses_and_answers_to_them_are_told)
{
    greet();
    s.on_notification("A@channel_1 taken channel_2", now);
    s.on_notification("A@channel_1@w taken -", now);
    s.on_notification("B@channel_2 told", now);
    BOOST_TEST(losses == (std::vector<std::string>{"A@channel_1>channel_2", "A@channel_1@w>"}),
        boost::test_tools::per_element());
    BOOST_TEST(heard == std::vector<std::string>{"B@channel_2"}, boost::test_tools::per_element());
    BOOST_TEST(turns.empty());
    BOOST_TEST(waited_for.empty());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
