// Leases that are given to waiters: the model gives them like the real server, and tells the same.
#include "verification/fidelity/twins.hpp"

#include "redis/node/scripts.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace holdfast::test;
using namespace std::chrono_literals;
namespace redis = holdfast::redis;
using words = twins::words;

std::string token(char of)
{
    return std::string(32, of);
}

std::string entry(char waiter, const std::string& channel)
{
    return token(waiter) + std::string(redis::reference_length, 'r') + channel;
}

words give(const std::string& value, const std::string& lag = " 5")
{
    return {"EVAL", std::string(redis::baton_script.text), "2", "key", "queue", value, lag, "400"};
}

words ask_again(char waiter, const std::string& channel)
{
    return {"EVAL", std::string(redis::enqueue_script.text), "3", "key", "queue", "window",
        token(waiter), "400", entry(waiter, channel), "9000", "3000", "1"};
}

words leave(char waiter, const std::string& channel)
{
    return {"EVAL", std::string(redis::pass_on_script.text), "2", "key", "queue", token(waiter),
        "400", entry(waiter, channel)};
}

struct batons_fixture {
    twins both;
    random_commands random{1};
    std::string reply; // to the last command

    batons_fixture()
    {
        both.on_reply = [this](const words&, const std::string& said) {
            reply = said;
        };
        for (const std::size_t listens : {1u, 2u})
            say({{"HELLO", "3"}, {"SUBSCRIBE", "one+"}, {"SUBSCRIBE", "old"}}, listens);
    }

    // Both servers send the same replies, and the same messages to all connections.
    void say(const std::vector<words>& commands, std::size_t connection = 0)
    {
        both.say(both.connected(connection), commands, random);
    }

    // Expects this reply of both.
    void say(const words& command, const std::string& expected, std::size_t connection = 0)
    {
        say({command}, connection);
        BOOST_TEST(visible(reply) == visible(expected));
    }

    // Expects the value of the key, and how many ms it still lasts.
    void check_key(const std::string& value, int left)
    {
        say({"GET", "key"}, "$" + std::to_string(value.size()) + "\r\n" + value + "\r\n");
        say({"PTTL", "key"}, ":" + std::to_string(left) + "\r\n");
    }

    void hold(const std::string& value = token('a'))
    {
        say({{"DEL", "key", "queue"}, {"SET", "key", value, "PX", "9000"}});
        both.pass(100ms);
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(batons, batons_fixture)

BOOST_AUTO_TEST_CASE(a_lease_goes_from_waiter_to_waiter)
{
    hold();
    say({{"ZADD", "queue", "1", entry('b', "one+"), "2", entry('c', "one+")}});
    say(give(token('a')), ":2\r\n");
    check_key(token('a') + token('b') + " 5", 8900);
    both.pass(100ms);
    say(give(token('a')), ":0\r\n");
    say(give(token('a') + token('b') + " 5", " 6"), ":2\r\n");
    check_key(token('a') + token('c') + " 6", 8800);
    say(give(token('a') + token('c') + " 6"), ":1\r\n");
    check_key(token('a') + token('c') + " 6", 8800);
}

BOOST_AUTO_TEST_CASE(an_earlier_version_gets_the_key_alone)
{
    hold();
    say({{"ZADD", "queue", "1", entry('b', "old"), "2", entry('c', "one+")}});
    say(give(token('a')), ":3\r\n");
    check_key(token('b'), 400);
    say({"ZCARD", "queue"}, ":1\r\n");
}

BOOST_AUTO_TEST_CASE(waiters_that_are_gone_change_nothing)
{
    hold();
    say({{"ZADD", "queue", "1", entry('b', "gone+"), "2", entry('c', "gone"), "3",
        entry('a', "one+")}});
    say(give(token('a')), ":1\r\n");
    check_key(token('a'), 8900);
    say({"EXISTS", "queue"}, ":0\r\n");
}

BOOST_AUTO_TEST_CASE(a_key_without_an_end_or_of_another_kind_is_not_given)
{
    say({{"SET", "key", token('a')}, {"ZADD", "queue", "1", entry('b', "one+")}});
    say(give(token('a')), ":1\r\n");
    say({{"DEL", "key"}, {"LPUSH", "key", "x"}});
    say(give(token('a')), ":0\r\n");
    hold();
    say({{"SET", "queue", "x"}});
    say(give(token('a')), ":1\r\n");
    check_key(token('a'), 8900);
}

// Who has missed the message is told by its next request, in both protocols.
BOOST_AUTO_TEST_CASE(a_waiter_that_asks_again_is_told)
{
    for (const std::size_t connection : {0u, 1u}) {
        for (const words& asks : {ask_again('b', "one+"), leave('b', "one+")}) {
            hold();
            say({{"ZADD", "queue", "1", entry('b', "one+"), "2", entry('c', "one+")}});
            say(give(token('a')), ":2\r\n");
            both.pass(50ms);
            const std::string told = token('a') + "8850 5";
            say(asks, "$" + std::to_string(told.size()) + "\r\n" + told + "\r\n", connection);
            check_key(token('a') + token('b') + " 5", 8850);
            say(leave('c', "one+"), ":0\r\n", connection);
        }
    }
}

// The scripts run on random data. In the end each possible answer has occurred often enough.
BOOST_AUTO_TEST_CASE(random_batons_are_given_as_by_a_real_server)
{
    std::map<std::string, int> said;
    both.on_reply = [&](const words& command, const std::string& told) {
        const std::string script = command.size() > 1 ? command[1] : "";
        const auto is = [&](const redis::script& which) {
            return script == which.text || script == which.digest;
        };
        const std::string answer = told.substr(0, told.find('\r'));
        if (is(redis::baton_script))
            ++said[answer[0] == '-' ? "an error" : answer];
        else if (is(redis::enqueue_script) && answer[0] == '$')
            ++said["told in the queue"];
        else if (is(redis::pass_on_script) && answer[0] == '$')
            ++said["told when leaving"];
    };
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        BOOST_TEST_CONTEXT("seed " << seed)
        {
            random_commands some(seed, random_commands::about::batons);
            both.say(2'000, some);
        }
    }
    for (const std::string each :
        {":0", ":1", ":2", ":3", "an error", "told in the queue", "told when leaving"})
        BOOST_TEST(said[each] >= 20, each << " occurred " << said[each] << " times");
}

BOOST_AUTO_TEST_SUITE_END()
