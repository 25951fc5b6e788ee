// The expiry of a key, to the millisecond, and clocks that go back.
#include "verification/fidelity/twins.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>

namespace {

using namespace holdfast::test;
using namespace std::chrono_literals;
using words = twins::words;

struct clocks_fixture {
    twins both;
    random_commands random{1};
    std::string reply;

    clocks_fixture()
    {
        both.on_reply = [this](const words&, const std::string& said) {
            reply = said;
        };
    }

    std::string ask(const words& command)
    {
        both.say(both.connected(0), {command}, random);
        return reply;
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(clocks, clocks_fixture)

BOOST_AUTO_TEST_CASE(a_key_exists_at_its_expiry_time_and_is_gone_a_millisecond_later)
{
    for (const words& question : {words{"GET", "short"}, words{"PTTL", "short"},
             words{"EXISTS", "short"}, words{"SET", "short", "x", "XX", "KEEPTTL"}}) {
        ask({"SET", "short", "x", "PX", "2"});
        both.pass(2ms);
        const std::string at_the_end = ask(question);
        both.pass(1ms);
        BOOST_TEST(ask(question) != at_the_end);
    }
}

BOOST_AUTO_TEST_CASE(a_clock_that_goes_back_prolongs_the_life_of_keys)
{
    ask({"SET", "a", "x", "PX", "100"});
    both.pass(100ms);
    BOOST_TEST(ask({"PTTL", "a"}) == ":0\r\n");
    both.pass(-700ms);
    BOOST_TEST(ask({"PTTL", "a"}) == ":700\r\n");
    both.pass(701ms);
    BOOST_TEST(ask({"GET", "a"}) == "$-1\r\n");
    both.pass(-701ms);
    BOOST_TEST(ask({"GET", "a"}) == "$-1\r\n"); // the GET before found it expired and deleted it
}

BOOST_AUTO_TEST_CASE(time_shows_the_clock_of_the_test)
{
    BOOST_TEST(ask({"TIME"}) == "*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n");
    both.pass(1234ms);
    BOOST_TEST(ask({"TIME"}) == "*2\r\n$10\r\n1700000001\r\n$6\r\n234000\r\n");
}

BOOST_AUTO_TEST_SUITE_END()
