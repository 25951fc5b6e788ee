// Pushes: the model sends the same ones as a real server, to the same connections.
#include "verification/fidelity/twins.hpp"

#include "redis/node/scripts.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace holdfast::test;
using namespace std::chrono_literals;
namespace redis = holdfast::redis;
using words = twins::words;

const std::string reference(redis::reference_length, 'r');

// A waiter as a member of the queue.
std::string waiting(char token, const std::string& channel)
{
    return std::string(32, token) + reference + channel;
}

words enqueue(char token, const std::string& channel)
{
    return {"EVAL", std::string(redis::enqueue_script.text), "3", "key", "queue", "window",
        std::string(32, token), "100000", waiting(token, channel), "200000", "300000"};
}

words pass_on(char token)
{
    return {"EVAL", std::string(redis::pass_on_script.text), "2", "key", "queue",
        std::string(32, token), "100000", ""};
}

words open_window(char token, const std::string& says, const std::string& ttl)
{
    return {"EVAL", std::string(redis::pass_on_script.text), "3", "key", "queue", "window",
        std::string(32, token), "100000", "", says, ttl};
}

struct pushes_fixture {
    twins both;
    random_commands random{1};
    // Sends commands on the connection of that number, and compares replies and pushes.
    void say(std::size_t connection, const std::vector<words>& commands)
    {
        both.say(both.connected(connection), commands, random);
    }

    void check_owner(const std::string& token)
    {
        const auto* const key = both.model().find("key", {});
        BOOST_TEST((key == nullptr ? "" : key->value.substr(0, 1)) == token);
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(pushes, pushes_fixture)

BOOST_AUTO_TEST_CASE(a_key_is_handed_off_in_the_order_of_the_queue)
{
    say(0, {{"HELLO", "3"}, {"SET", "key", std::string(32, 'a')}});
    say(1, {{"HELLO", "3"}, {"SUBSCRIBE", "one"}, enqueue('b', "one")});
    say(2, {{"SUBSCRIBE", "two"}}); // with the old protocol
    say(0, {enqueue('c', "two"), pass_on('a')});
    check_owner("b");
    say(1, {pass_on('b')});
    check_owner("c");
    say(0, {pass_on('c')});
    check_owner("");
}

BOOST_AUTO_TEST_CASE(a_disconnected_waiter_is_skipped)
{
    say(0, {{"HELLO", "3"}, {"SUBSCRIBE", "zero"}, {"SET", "key", std::string(32, 'a')}});
    say(1, {{"SUBSCRIBE", "one"}, {"PING"}});
    say(0, {enqueue('b', "one"), enqueue('c', "zero"), {"PUBLISH", "one", "are you there?"}});
    both.disconnect(1);
    say(0, {{"PUBLISH", "one", "are you there?"}, pass_on('a')});
    check_owner("c");
    say(0, {{"UNSUBSCRIBE"}, pass_on('c')});
}

BOOST_AUTO_TEST_CASE(a_new_connection_receives_no_invalidations_of_keys_read_on_the_old_one)
{
    const std::vector<words> watch{{"HELLO", "3"}, {"CLIENT", "TRACKING", "ON", "OPTIN"},
        {"CLIENT", "CACHING", "YES"}, {"GET", "key"}};
    say(0, {{"SET", "key", "a"}});
    say(1, watch);
    say(0, {{"SET", "key", "b"}, {"SET", "key", "c"}});
    say(1, watch);
    both.disconnect(1);
    say(1, {{"HELLO", "3"}, {"CLIENT", "TRACKING", "ON", "OPTIN"}});
    say(0, {{"SET", "key", "d"}});
}

BOOST_AUTO_TEST_CASE(a_restart_keeps_the_queues_and_forgets_the_subscribers)
{
    say(0, {{"HELLO", "3"}, {"SUBSCRIBE", "one"}, {"SET", "key", std::string(32, 'a')},
               enqueue('b', "one"), enqueue('c', "one"), {"CLIENT", "TRACKING", "ON", "OPTIN"},
               {"CLIENT", "CACHING", "YES"}, {"ZRANGE", "queue", "0", "-1"}});
    both.restart();
    say(0, {{"ZRANGE", "queue", "0", "-1", "WITHSCORES"}, {"SUBSCRIBE", "two"}});
    say(1, {{"PUBLISH", "one", ""}, {"PUBLISH", "two", ""}, {"ZCARD", "queue"}, pass_on('a')});
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        BOOST_TEST_CONTEXT("seed " << seed)
        {
            random_commands more(seed);
            both.say(300, more);
            both.restart();
        }
    }
}

// The queue waits while a window is open, and no other window opens before the key of the last one
// is gone.
BOOST_AUTO_TEST_CASE(a_window_is_open_between_two_turns)
{
    say(0, {{"HELLO", "3"}, {"SUBSCRIBE", "one"}, {"SET", "key", std::string(32, 'a')},
               enqueue('b', "one"), open_window('a', "199000", "200000")});
    check_owner("");
    say(0, {enqueue('c', "one"), {"ZCARD", "queue"}});
    check_owner("");
    both.pass(1001ms);
    say(0, {enqueue('c', "one")});
    check_owner("b");
    say(0, {open_window('b', "199000", "200000")});
    check_owner("c");
    say(0, {{"DEL", "window"}, open_window('c', "x", "0"), open_window('c', "x", "200000")});
    check_owner("");
}

// Other values of the window's key open no window.
BOOST_AUTO_TEST_CASE(a_malformed_window_key_opens_no_window)
{
    say(0, {{"HELLO", "3"}, {"SUBSCRIBE", "one"}});
    for (const char* value :
        {"x", "", "-1", "-100", "nan", "inf", "-inf", "0x10", "1e3", "1e400", "0.5", " 7 ", "0"}) {
        for (const char* ttl : {"", "100", "2000", "3000", "100000"}) {
            words set{"SET", "window", value};
            if (*ttl != '\0')
                set.insert(set.end(), {"PX", ttl});
            say(0, {{"DEL", "key", "queue"}, set, enqueue('b', "one")});
        }
    }
    say(0, {{"DEL", "key", "queue", "window"}, {"LPUSH", "window", "x"}, enqueue('b', "one")});
    check_owner("b");
}

// No client reads the key after its expiry.
BOOST_AUTO_TEST_CASE(the_expiry_of_a_watched_key_is_pushed)
{
    say(0, {{"HELLO", "3"}, {"CLIENT", "TRACKING", "ON", "OPTIN"}, {"SET", "a", "x", "PX", "2000"},
               {"SET", "b", "x"}, {"CLIENT", "CACHING", "YES"}, {"EXISTS", "a", "b"}});
    both.pass(2001ms);
    both.real_only({"DEBUG", "SET-ACTIVE-EXPIRE", "1"});
    const std::string pushed = both.connected(0).real.receive(1).front();
    std::string expected;
    both.model().on_push = [&](std::uint64_t, std::string_view bytes) {
        expected += bytes;
    };
    both.model().expire(both.now());
    BOOST_TEST(visible(pushed) == visible(expected));
}

BOOST_AUTO_TEST_SUITE_END()
