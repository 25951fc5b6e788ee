// The greeting, with scripted bytes.
#include "unit/redis/scripted_greeting.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace holdfast::test::greeting;
using namespace std::string_literals;
using holdfast::errc;

BOOST_AUTO_TEST_SUITE(redlock_handshake)

// RESP3, and the whole greeting in two steps.
BOOST_AUTO_TEST_CASE(greets_in_resp3)
{
    scripted_greeting g;
    g.settings.client_name = "shop";
    g.settings.database = 3;
    BOOST_TEST(g.run(hello + ok + ok + ok + ok + info + scripts));
    BOOST_TEST((g.result == handshake::outcome::ready));
    BOOST_TEST(g.h.server().run_id == "abc");
    const std::string sent = g.sent();
    BOOST_TEST(sent.starts_with("HELLO 3\nSELECT 3\nCLIENT SETNAME shop\n"
                                "CLIENT SETINFO LIB-NAME holdfast\n"));
    BOOST_TEST(sent.ends_with("SCRIPT LOAD " + std::string(release_script.text) + "\nSCRIPT LOAD " +
                              std::string(renew_script.text) + "\nSCRIPT LOAD " +
                              std::string(pass_on_script.text) + "\n"));
    BOOST_TEST(!g.h.server().keeps_queue);
}

// The whole of INFO may be of any length; the sections that are needed are not. Servers before 7.0
// accept one section in a request.
BOOST_AUTO_TEST_CASE(asks_for_the_sections_that_are_needed)
{
    scripted_greeting g;
    BOOST_TEST(g.run(hello + ok + ok + info + scripts));
    BOOST_TEST(g.sent().find("\nINFO server\nINFO memory\n") != std::string::npos);
    BOOST_TEST(g.sent().find("\nINFO\n") == std::string::npos);
}

// To be told of its turn, a client subscribes. The answer is a push, or an error if that is
// forbidden; then the node keeps no queue for us.
BOOST_AUTO_TEST_CASE(subscribes)
{
    const std::string queue = scripts + blob(enqueue_script.digest) + ok;
    scripted_greeting g, forbidden, old;
    g.settings.channel = forbidden.settings.channel = old.settings.channel = "mine";
    BOOST_TEST(g.run(hello + ok + ok + info + queue + ">3\r\n+subscribe\r\n+mine\r\n:1\r\n"));
    BOOST_TEST((g.result == handshake::outcome::ready));
    BOOST_TEST(g.h.server().keeps_queue);
    BOOST_TEST(g.h.server().tracks);
    BOOST_TEST(g.sent().ends_with("\nCLIENT TRACKING ON OPTIN\nSUBSCRIBE mine\n"));
    BOOST_TEST(forbidden.run(hello + ok + ok + info + queue + "-NOPERM no channel for you\r\n"));
    BOOST_TEST((forbidden.result == handshake::outcome::ready));
    BOOST_TEST(!forbidden.h.server().keeps_queue);
    BOOST_TEST(old.run(hello_unknown + "*2\r\n+master\r\n:0\r\n" + wrong + wrong + info + scripts));
    BOOST_TEST((old.result == handshake::outcome::ready)); // RESP2 has no pushes
    BOOST_TEST(!old.h.server().keeps_queue);
}

// A node that forbids tracking of keys can still keep a queue.
BOOST_AUTO_TEST_CASE(tracking_is_forbidden)
{
    scripted_greeting g;
    g.settings.channel = "mine";
    BOOST_TEST(g.run(hello + ok + ok + info + scripts + blob(enqueue_script.digest) +
                     "-NOPERM no tracking for you\r\n>3\r\n+subscribe\r\n+mine\r\n:1\r\n"));
    BOOST_TEST((g.result == handshake::outcome::ready));
    BOOST_TEST(g.h.server().keeps_queue);
    BOOST_TEST(!g.h.server().tracks);
}

// The commands that a lease will need are tried beforehand, on a key of no client. A command that
// is forbidden or renamed is named. An error about this key proves nothing, and temporary errors
// are left to later requests.
BOOST_AUTO_TEST_CASE(missing_rights)
{
    constexpr std::size_t count = 5;
    const std::string names[count]{"GET", "DEL", "PEXPIRE", "EVALSHA", "EVAL"};
    const std::string nothing[count]{"_\r\n", ":0\r\n", ":0\r\n", ":0\r\n", ":0\r\n"};
    const auto answers = [&](std::size_t which, const std::string& instead) {
        std::string all = hello + ok + ok + info + scripts;
        for (std::size_t i = 0; i < count; ++i)
            all += i == which ? instead : nothing[i];
        return all;
    };
    const auto trying = [] {
        scripted_greeting g;
        g.settings.unused_key = "holdfast:0123";
        return g;
    };
    scripted_greeting g = trying();
    BOOST_TEST(g.run(answers(count, "")));
    BOOST_TEST((g.result == handshake::outcome::ready));
    const std::string text(release_script.text), digest(release_script.digest);
    BOOST_TEST(
        g.sent().ends_with("\nGET holdfast:0123\nDEL holdfast:0123\n"
                           "PEXPIRE holdfast:0123 1\nEVALSHA " +
                           digest + " 1 holdfast:0123 \nEVAL " + text + " 1 holdfast:0123 \n"));
    for (std::size_t i = 0; i < count; ++i) {
        for (const std::string& refusal :
            {"-NOPERM this user has no permissions to run the 'x' command\r\n"s,
                "-NOPERM this user has no permissions to run the 'x' command or its "
                "subcommand\r\n"s,
                "-NOPERM User key has no permissions to run the 'x' command\r\n"s,
                "-ERR unknown command `x`, with args beginning with: `holdfast:0123`, \r\n"s}) {
            scripted_greeting missing = trying();
            missing.refuses(errc::permission_denied, answers(i, refusal));
            BOOST_TEST(missing.h.why().text.starts_with("a lease needs " + names[i] + ": "));
            BOOST_TEST(missing.h.why().text.find("holdfast:") == std::string::npos);
        }
        for (const std::string& refusal :
            {"-NOPERM this user has no permissions to access one of the keys used as "
             "arguments\r\n"s,
                "-NOPERM No permissions to access a key\r\n"s, "-OOM command not allowed\r\n"s,
                "-MISCONF no disk\r\n"s, "-NOSCRIPT none\r\n"s}) {
            scripted_greeting other = trying();
            BOOST_TEST(other.run(answers(i, refusal)));
            BOOST_TEST((other.result == handshake::outcome::ready));
        }
    }
}

// User and password are sent with HELLO; without a user it is the default one.
BOOST_AUTO_TEST_CASE(logs_in)
{
    scripted_greeting g, named;
    g.settings.password = named.settings.password = "s3cret";
    named.settings.user = "shop";
    BOOST_TEST(g.run(hello));
    BOOST_TEST(named.run(hello));
    BOOST_TEST(g.sent().starts_with("HELLO 3 AUTH default s3cret\n"));
    BOOST_TEST(named.sent().starts_with("HELLO 3 AUTH shop s3cret\n"));
}

// A server that does not know HELLO is greeted in RESP2, with AUTH and ROLE.
BOOST_AUTO_TEST_CASE(falls_back_to_resp2)
{
    for (const std::string& refusal :
        {hello_unknown, "-NOPROTO unsupported protocol version\r\n"s}) {
        scripted_greeting g;
        g.settings.password = "s3cret";
        BOOST_TEST(
            g.run(refusal + ok + "*3\r\n+master\r\n:0\r\n*0\r\n" + wrong + wrong + info + scripts));
        BOOST_TEST((g.result == handshake::outcome::ready));
        BOOST_TEST(g.sent().find("\nAUTH s3cret\nROLE\n") != std::string::npos);
    }
}

// Commands that only improve the client list of a node may be refused.
BOOST_AUTO_TEST_CASE(optional_commands_may_fail)
{
    scripted_greeting g;
    g.settings.client_name = "shop";
    BOOST_TEST(g.run(hello + wrong + wrong + wrong + info + scripts));
    BOOST_TEST((g.result == handshake::outcome::ready));
}

// A node that evicts keys when its memory is full may evict locks. It is refused, unless the user
// allows eviction.
BOOST_AUTO_TEST_CASE(refuses_a_node_that_evicts)
{
    const auto evicting = [](const std::string& limit, const std::string& policy) {
        return blob("# Server\r\nrun_id:abc\r\n") +
               blob("# Memory\r\nmaxmemory:" + limit + "\r\nmaxmemory_policy:" + policy + "\r\n");
    };
    scripted_greeting().refuses(
        errc::misconfigured_node, hello + ok + ok + evicting("1000000", "volatile-ttl"));
    scripted_greeting unlimited, careful, accepted;
    BOOST_TEST(unlimited.run(hello + ok + ok + evicting("0", "allkeys-lru") + scripts));
    BOOST_TEST(careful.run(hello + ok + ok + evicting("1000000", "noeviction") + scripts));
    accepted.settings.eviction_allowed = true;
    BOOST_TEST(accepted.run(hello + ok + ok + evicting("1000000", "volatile-ttl") + scripts));
}

// A node that forbids INFO or ROLE may still vote.
BOOST_AUTO_TEST_CASE(without_permission_to_ask)
{
    const std::string noperm = "-NOPERM no permissions to run this command\r\n";
    scripted_greeting g, old;
    BOOST_TEST(g.run(hello + ok + ok + noperm + noperm + scripts));
    BOOST_TEST((g.result == handshake::outcome::ready));
    BOOST_TEST(g.h.server().run_id == "");
    BOOST_TEST(old.run(hello_unknown + noperm + ok + ok + info + scripts));
    BOOST_TEST((old.result == handshake::outcome::ready));
}

// A node that is no independent primary has no vote.
BOOST_AUTO_TEST_CASE(refuses_a_node_that_is_no_independent_primary)
{
    const auto says = [](const std::string& mode, const std::string& role) {
        return "%2\r\n+mode\r\n+" + mode + "\r\n+role\r\n+" + role + "\r\n";
    };
    scripted_greeting().refuses(errc::misconfigured_node, says("sentinel", "sentinel"));
    scripted_greeting().refuses(errc::misconfigured_node, says("cluster", "master"));
    scripted_greeting().refuses(errc::misconfigured_node, says("standalone", "replica"));
    scripted_greeting().refuses(errc::misconfigured_node, says("standalone", "sl\x1b[1mave"));
    scripted_greeting().refuses(errc::misconfigured_node, hello_unknown + "*1\r\n+slave\r\n");
    scripted_greeting().refuses(errc::misconfigured_node, hello_unknown + "*1\r\n+sentinel\r\n");
    for (const std::string& silent : {says("standalone", ""), "%1\r\n+mode\r\n+standalone\r\n"s,
             hello_unknown + "*1\r\n+\r\n"}) {
        scripted_greeting g;
        g.refuses(errc::misconfigured_node, silent);
        BOOST_TEST(g.h.why().text == "the node does not say that it is a primary");
    }
    scripted_greeting().refuses(errc::misconfigured_node,
        hello_unknown + "*1\r\n+master\r\n" + wrong + wrong + blob("redis_mode:cluster\r\n"));
}

// Errors in the greeting mean the same as in any request.
BOOST_AUTO_TEST_CASE(errors)
{
    const auto with_password = [] {
        scripted_greeting g;
        g.settings.password = "s3cret";
        return g;
    };
    with_password().refuses(errc::authentication_failed, "-WRONGPASS invalid pair\r\n");
    with_password().refuses(
        errc::authentication_failed, hello_unknown + "-ERR invalid password\r\n");
    scripted_greeting().refuses(
        errc::authentication_failed, "-NOAUTH HELLO must be called with AUTH\r\n");
    scripted_greeting().refuses(errc::node_error, "-ERR max number of clients reached\r\n");
    scripted_greeting().refuses(
        errc::node_error, hello + ok + ok + info + "-LOADING Redis is loading\r\n");
    scripted_greeting().refuses(
        errc::permission_denied, hello + ok + ok + info + "-NOPERM script\r\n");
    scripted_greeting().refuses(errc::protocol_error, "+OK\r\n");
    scripted_greeting().refuses(errc::protocol_error, hello_unknown + "+OK\r\n");
    scripted_greeting g;
    g.settings.database = 99;
    g.refuses(errc::node_error, hello + "-ERR DB index is out of range\r\n");
}

// A node that computes another digest would not run our script.
BOOST_AUTO_TEST_CASE(another_digest)
{
    scripted_greeting().refuses(errc::protocol_error, hello + ok + ok + info + blob("0123"));
    scripted_greeting().refuses(errc::protocol_error,
        hello + ok + ok + info + blob(release_script.digest) + blob(release_script.digest));
}

// Servers repeat a command that they do not know, and Redis before version 7 repeats its arguments.
// A password must not get into the log that way.
BOOST_AUTO_TEST_CASE(a_password_that_is_echoed)
{
    const std::string echo = "with args beginning with: `s3cret`, \r\n";
    for (const std::string& replies : {hello_unknown + "-ERR unknown command `AUTH`, " + echo,
             "-ERR no such command: HELLO, " + echo, "-NOAUTH not so: HELLO, " + echo}) {
        scripted_greeting g;
        g.settings.password = "s3cret";
        g.run(replies);
        BOOST_TEST((g.result == handshake::outcome::failed));
        BOOST_TEST(g.h.why().text.find("s3cret") == std::string::npos, g.h.why().text);
    }
}

BOOST_AUTO_TEST_SUITE_END()
