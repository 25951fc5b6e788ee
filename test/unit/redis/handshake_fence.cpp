// The greeting of fenced mode, with scripted bytes.
#include "unit/redis/scripted_greeting.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>

using namespace holdfast::test::greeting;
using namespace std::string_literals;
using holdfast::errc;

BOOST_AUTO_TEST_SUITE(redlock_handshake_fence)

// A node of fenced mode is asked for its clock, too. It loads the same scripts.
BOOST_AUTO_TEST_CASE(with_fencing)
{
    const std::string loaded = blob(release_script.digest) + blob(renew_script.digest);
    const std::string time = "*2\r\n" + blob("1700000000") + blob("123456");
    const std::string last = blob(pass_on_script.digest);
    const auto fenced = [] {
        scripted_greeting g;
        g.settings.fenced = true;
        return g;
    };
    scripted_greeting g = fenced(), old = fenced();
    g.settings.channel = "mine";
    BOOST_TEST(g.run(hello + ok + ok + info + loaded + time + last + blob(enqueue_script.digest) +
                     ok + ">3\r\n+subscribe\r\n+mine\r\n:1\r\n"));
    BOOST_TEST((g.result == handshake::outcome::ready));
    BOOST_TEST(g.h.server().clock_us == 1'700'000'000'123'456);
    BOOST_TEST((g.h.server().clock_asked == holdfast::test::start));
    BOOST_TEST(g.h.server().run_id == "abc");
    BOOST_TEST(g.sent().find("\nTIME\n") != std::string::npos);
    for (const script& s : {release_script, renew_script, pass_on_script, enqueue_script})
        BOOST_TEST(
            g.sent().find("\nSCRIPT LOAD " + std::string(s.text) + "\n") != std::string::npos);
    old.settings.password = "s3cret";
    old.settings.client_name = "shop";
    old.settings.database = 3;
    BOOST_TEST(old.run(hello_unknown + ok + "*2\r\n+master\r\n:0\r\n" + ok + ok + ok + ok + info +
                       loaded + time + last));
    BOOST_TEST((old.result == handshake::outcome::ready));

    // It must be known whether the node was restarted, and its clock.
    const std::string noperm = "-NOPERM no permissions to run this command\r\n";
    const std::string before = hello + ok + ok + info + loaded;
    fenced().refuses(errc::permission_denied, hello + ok + ok + noperm);
    fenced().refuses(
        errc::fencing_unavailable, hello + ok + ok + blob("redis_mode:standalone\r\n"));
    fenced().refuses(errc::fencing_unavailable, hello + ok + ok + blob("run_id:a b\r\n"));
    fenced().refuses(errc::permission_denied, before + noperm);
    for (const std::string& no_time : {"+OK\r\n"s, "*1\r\n:1\r\n"s,
             "*2\r\n" + blob("x") + blob("1"), "*2\r\n" + blob("1") + blob(""),
             "*2\r\n" + blob("-1") + blob("1"), "*2\r\n" + blob("9223372036854775807") + blob("1")})
        fenced().refuses(errc::protocol_error, before + no_time);
}

// Without fencing, the clock of a node does not matter.
BOOST_AUTO_TEST_CASE(a_clock_is_asked_for_only_with_fencing)
{
    scripted_greeting g;
    g.settings.unused_key = "holdfast:0123";
    BOOST_TEST(g.run(hello + ok + ok + info + scripts + "_\r\n:0\r\n:0\r\n:0\r\n:0\r\n"));
    BOOST_TEST((g.result == handshake::outcome::ready));
    for (const char* const word : {"\nTIME\n", "\nZADD ", "\nZSCORE "})
        BOOST_TEST(g.sent().find(word) == std::string::npos);
}

// Ballots need a form of ZADD that Redis has since 6.2. An older node would grant keys and refuse
// all ballots, so it is refused, and told from a node that forbids the command.
BOOST_AUTO_TEST_CASE(ballots_are_tried_with_fencing)
{
    const auto fenced = [] {
        scripted_greeting g;
        g.settings.fenced = true;
        g.settings.unused_key = "hf:0123";
        return g;
    };
    const std::string before = hello + ok + ok + info + blob(release_script.digest) +
                               blob(renew_script.digest) + "*2\r\n" + blob("1700000000") +
                               blob("0") + blob(pass_on_script.digest) +
                               "_\r\n:0\r\n:0\r\n:0\r\n:0\r\n";
    scripted_greeting good = fenced();
    BOOST_TEST(good.run(before + ":0\r\n_\r\n"));
    BOOST_TEST((good.result == handshake::outcome::ready));
    BOOST_TEST(good.sent().ends_with("\nZADD hf:0123 XX GT CH 1 0\nZSCORE hf:0123 0\n"));

    scripted_greeting old = fenced();
    old.refuses(errc::misconfigured_node, before + "-ERR syntax error\r\n");
    BOOST_TEST(old.h.why().text == "fencing needs ZADD with GT: Redis 6.2 or later");

    for (const auto& [answers, command] :
        {std::pair("-NOPERM this user has no permissions to run the 'zadd' command\r\n"s, "ZADD"),
            std::pair(":0\r\n-NOPERM this user has no permissions to run the 'zscore' command\r\n"s,
                "ZSCORE"),
            std::pair(":0\r\n-ERR unknown command `ZSCORE`\r\n"s, "ZSCORE")}) {
        scripted_greeting missing = fenced();
        missing.refuses(errc::permission_denied, before + answers);
        BOOST_TEST(missing.h.why().text.starts_with("a lease needs "s + command + ": "));
    }

    // An error about this key proves nothing.
    scripted_greeting other = fenced();
    BOOST_TEST(other.run(before + "-NOPERM No permissions to access a key\r\n"
                                  "-NOPERM No permissions to access a key\r\n"));
    BOOST_TEST((other.result == handshake::outcome::ready));
}

// A greeting with all its parts.
BOOST_AUTO_TEST_CASE(the_longest_greeting)
{
    scripted_greeting g;
    g.settings.fenced = true;
    g.settings.client_name = "shop";
    g.settings.database = 3;
    g.settings.channel = "mine";
    g.settings.unused_key = "hf:mine";
    BOOST_TEST(g.run(hello + ok + ok + ok + ok + info + blob(release_script.digest) +
                     blob(renew_script.digest) + "*2\r\n" + blob("1700000000") + blob("0") +
                     blob(pass_on_script.digest) + "_\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n_\r\n" +
                     blob(enqueue_script.digest) + ok + ">3\r\n+subscribe\r\n+mine\r\n:1\r\n"));
    BOOST_TEST((g.result == handshake::outcome::ready));
    BOOST_TEST(g.h.server().keeps_queue);
}

BOOST_AUTO_TEST_SUITE_END()
