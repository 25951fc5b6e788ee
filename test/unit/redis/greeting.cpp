#include "redis/node/greeting.hpp"

#include "redis/node/inbox.hpp"
#include "support/session_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <stdexcept>
#include <string>

using namespace holdfast::redis;
using namespace holdfast::test;
using namespace std::chrono_literals;
namespace core = holdfast::core;

namespace {

struct greeting_fixture {
    node_settings settings = session_settings();
    greeting greets{settings};
    inbox box;
    std::string out;

    // The result of all answers.
    handshake::outcome hear(const std::string& bytes)
    {
        const std::span<char> space = box.space();
        std::memcpy(space.data(), bytes.data(), bytes.size());
        box.add(bytes.size());
        auto last = handshake::outcome::going_on;
        while (box.next(start) == inbox::item::answer)
            last = greets.on_reply(box.front(), start, out);
        return last;
    }
    void greet()
    {
        box.reset(start);
        BOOST_TEST(greets.start(settings.where, out));
        BOOST_TEST((hear(hello_answer) == handshake::outcome::going_on));
        BOOST_TEST((hear(greeting_answers()) == handshake::outcome::ready));
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(redis_greeting, greeting_fixture)

// What is known of the server stays known while it is greeted again; only what needs a connection
// is gone at once.
BOOST_AUTO_TEST_CASE(knows_the_server_of_the_last_greeting)
{
    greet();
    BOOST_TEST(greets.server().run_id == "abc");
    const auto identity = greets.server().identity;
    BOOST_TEST(identity != 0u);
    greets.lost();
    BOOST_TEST(!greets.server().keeps_queue);
    BOOST_TEST(!greets.server().tracks);
    box.reset(start);
    BOOST_TEST(greets.start(settings.where, out));
    BOOST_TEST((hear(hello_answer) == handshake::outcome::going_on));
    BOOST_TEST(greets.server().run_id == "abc");
    BOOST_TEST(greets.server().identity == identity);
}

// The bytes of requests come after those of the greeting.
BOOST_AUTO_TEST_CASE(counts_the_bytes_after_it)
{
    greets.over(5);
    BOOST_TEST(greets.past(3) == 0u);
    BOOST_TEST(greets.past(3) == 1u);
    BOOST_TEST(greets.past(3) == 3u);
    greets.over(5);
    greets.lost();
    BOOST_TEST(greets.past(3) == 3u);
}

BOOST_AUTO_TEST_CASE(a_program_without_credentials_greets_nobody)
{
    settings.login = [](const core::address&) -> holdfast::credentials {
        throw std::runtime_error("s3cret");
    };
    BOOST_TEST(!greets.start(settings.where, out));
    BOOST_TEST(out == "");
}

BOOST_AUTO_TEST_SUITE_END()
