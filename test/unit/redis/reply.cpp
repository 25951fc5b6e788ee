#include "redis/node/reply.hpp"

#include "support/printing.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace holdfast::redis;
using holdfast::errc;
using holdfast::resp::value;
using holdfast::resp::value_kind;

namespace {

value answer(value_kind kind, std::string_view text = {}, std::int64_t integer = 0)
{
    return {.kind = kind, .count = 0, .integer = integer, .text = text};
}

vote vote_on(const value& v)
{
    return vote_of(reply(&v, 1));
}

} // namespace

BOOST_AUTO_TEST_SUITE(redlock_vote)

// The answers of a node to SET NX. A reply that is no answer to a SET proves nothing.
BOOST_AUTO_TEST_CASE(answers_to_set)
{
    BOOST_TEST(vote_on(answer(value_kind::simple_string, "OK")) == vote::granted);
    BOOST_TEST(vote_on(answer(value_kind::null)) == vote::refused);
    BOOST_TEST(vote_on(answer(value_kind::error, "OOM command not allowed")) == vote::failed);
    BOOST_TEST(vote_on(answer(value_kind::simple_string, "QUEUED")) == vote::unknown);
    BOOST_TEST(vote_on(answer(value_kind::simple_string, "")) == vote::unknown);
    BOOST_TEST(vote_on(answer(value_kind::blob_string, "OK")) == vote::unknown);
    BOOST_TEST(vote_on(answer(value_kind::integer, {}, 1)) == vote::unknown);
    BOOST_TEST(vote_on(answer(value_kind::array)) == vote::unknown);
}

// What each error of a server means for us.
BOOST_AUTO_TEST_CASE(meanings_of_errors)
{
    const struct {
        const char* text;
        errc meaning;
    } table[] = {
        {"LOADING Redis is loading the dataset in memory", errc::node_error},
        {"BUSY Redis is busy running a script. You can only call SCRIPT KILL", errc::node_error},
        {"UNKILLABLE Sorry the script already executed write commands", errc::protocol_error},
        {"NOTBUSY No scripts in execution right now.", errc::protocol_error},
        {"MISCONF Redis is configured to save RDB snapshots, but it's unable", errc::node_error},
        {"OOM command not allowed when used memory > 'maxmemory'.", errc::node_error},
        {"READONLY You can't write against a read only replica.", errc::misconfigured_node},
        {"MASTERDOWN Link with MASTER is down", errc::misconfigured_node},
        {"NOREPLICAS Not enough good replicas to write.", errc::node_error},
        {"NOAUTH Authentication required.", errc::authentication_failed},
        {"WRONGPASS invalid username-password pair", errc::authentication_failed},
        {"NOPERM this user has no permissions to run the 'set' command", errc::permission_denied},
        {"DENIED Redis is running in protected mode", errc::permission_denied},
        {"CLUSTERDOWN The cluster is down", errc::misconfigured_node},
        {"MOVED 3999 127.0.0.1:6381", errc::misconfigured_node},
        {"ASK 3999 127.0.0.1:6381", errc::misconfigured_node},
        {"TRYAGAIN Multiple keys request during rehashing of slot", errc::misconfigured_node},
        {"CROSSSLOT Keys in request don't hash to the same slot", errc::misconfigured_node},
        {"WRONGTYPE Operation against a key holding the wrong kind", errc::key_conflict},
        {"EXECABORT Transaction discarded because of previous errors.", errc::protocol_error},
        {"ERR max number of clients reached", errc::node_error},
        {"ERR invalid expire time in 'set' command", errc::node_error},
        {"ERR Protocol error: invalid bulk length", errc::protocol_error},
        {"SOMETHING unknown", errc::node_error},
        {"", errc::node_error},
        {"ASKING is not ASK", errc::node_error}, // the whole first word counts
        {"err protocol error", errc::node_error},
    };
    for (const auto& row : table)
        BOOST_TEST(meaning_of(row.text) == row.meaning, row.text);
}

// NOSCRIPT is recognized only as an error.
BOOST_AUTO_TEST_CASE(no_script)
{
    const value error = answer(value_kind::error, "NOSCRIPT No matching script.");
    const value text = answer(value_kind::blob_string, "NOSCRIPT No matching script.");
    const value other = answer(value_kind::error, "NOSCRIPTS");
    BOOST_TEST(is_no_script(reply(&error, 1)));
    BOOST_TEST(!is_no_script(reply(&text, 1)));
    BOOST_TEST(!is_no_script(reply(&other, 1)));
}

// The reasons that make a connection useless: the node is not what we take it for.
BOOST_AUTO_TEST_CASE(what_disqualifies)
{
    for (const errc e :
        {errc::misconfigured_node, errc::authentication_failed, errc::protocol_error})
        BOOST_TEST(disqualifies(e));
    for (const errc e : {errc::node_error, errc::permission_denied, errc::key_conflict})
        BOOST_TEST(!disqualifies(e));
}

// The text of a node is safe to log: no control characters, no escape sequences, and a limited
// length.
BOOST_AUTO_TEST_CASE(printable_text)
{
    BOOST_TEST(printable("ERR plain text!~") == "ERR plain text!~");
    BOOST_TEST(printable("a\r\nb\x1b[31m\t\\") == "a\\x0d\\x0ab\\x1b[31m\\x09\\x5c");
    BOOST_TEST(printable("\x7f\x80\xff") == "\\x7f\\x80\\xff");
    BOOST_TEST(printable(std::string_view("\0", 1)) == "\\x00");
    BOOST_TEST(printable(std::string(160, 'x')) == std::string(160, 'x'));
    BOOST_TEST(printable(std::string(161, 'x')) == std::string(160, 'x') + "...");
}

// Servers report a permission that a script lacks in other words.
BOOST_AUTO_TEST_CASE(rights_that_a_script_lacks)
{
    for (const char* const text :
        {"ERR The user executing the script can't run this command or subcommand script: 33, on "
         "@user_script:1.",
            "ERR The user executing the script can't access at least one of the keys"})
        BOOST_TEST((failure_of(text).code == errc::permission_denied));
}

// A failure has a code and a text.
BOOST_AUTO_TEST_CASE(failures)
{
    const failure f = failure_of("NOPERM no\n");
    BOOST_TEST((f.code == errc::permission_denied));
    BOOST_TEST(f.text == "NOPERM no\\x0a");
}

// Servers repeat the arguments of a command that they do not know: ours contain a token or a
// password.
BOOST_AUTO_TEST_CASE(arguments_that_are_echoed_are_left_out)
{
    const failure f = failure_of(
        "ERR unknown command 'EVALSHA', with args beginning with: 'abc' '1' 'A' 's3cret' ");
    BOOST_TEST((f.code == holdfast::errc::node_error));
    BOOST_TEST(f.text == "ERR unknown command 'EVALSHA'");
}

BOOST_AUTO_TEST_CASE(a_secret_is_hidden)
{
    BOOST_TEST(failure_of("ERR no s3cret", "s3cret").text == "ERR no (hidden)");
    BOOST_TEST(failure_of("ERR aaa", "a").text == "ERR (hidden)(hidden)(hidden)");
    BOOST_TEST(failure_of("ERR no", "").text == "ERR no");
    // Escapes do not reveal it, nor does the limit of the length.
    BOOST_TEST(failure_of("ERR x\ny", "x\ny").text == "ERR (hidden)");
    const failure f = failure_of("ERR " + std::string(150, '.') + "s3cret", "s3cret");
    BOOST_TEST(f.text.find("s3") == f.text.npos);
}

// An error may exclude all queues of a node for good, or only that of one resource.
BOOST_AUTO_TEST_CASE(errors_of_queues)
{
    for (const char* const text : {"NOPERM this user has no permissions to run the 'zadd' command",
             "ERR The user executing the script can't run this command or subcommand",
             "ERR unknown command 'EVALSHA', with args beginning with: ",
             "ERR Unknown Redis command called from script script: 12ab, on @user_script:1.",
             "ERR Error running script (call to f_1): @user_script:1: @user_script: 1: Unknown "
             "Redis command called from Lua script",
             "ERR This Redis command is not allowed from script script: 12ab"}) {
        BOOST_TEST(refuses_command(text), text);
        BOOST_TEST(!is_about_data(text), text);
    }
    for (const char* const text : {"WRONGTYPE Operation against a key holding the wrong kind",
             "ERR Error running script (call to f_1): @user_script:1: WRONGTYPE Operation against",
             "ERR value is not a valid float"}) {
        BOOST_TEST(!refuses_command(text), text);
        BOOST_TEST(is_about_data(text), text);
    }
    for (const char* const text : {"MISCONF Redis is configured to save RDB snapshots",
             "OOM command not allowed when used memory > 'maxmemory'", "LOADING", "READONLY"}) {
        BOOST_TEST(!refuses_command(text), text);
        BOOST_TEST(!is_about_data(text), text);
    }
}

BOOST_AUTO_TEST_SUITE_END()
