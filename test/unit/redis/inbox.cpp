#include "redis/node/inbox.hpp"

#include "support/printing.hpp"
#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <string>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using test::at;
using item = inbox::item;

struct inbox_fixture {
    inbox box;
    core::time_point now = at(0s);

    inbox_fixture() { box.reset(now); }

    void add(std::string_view bytes)
    {
        const std::span<char> space = box.space();
        BOOST_REQUIRE(space.size() >= bytes.size());
        std::memcpy(space.data(), bytes.data(), bytes.size());
        box.add(bytes.size());
    }

    // All that has arrived, in words.
    std::string take()
    {
        std::string all;
        for (item i = box.next(now);; i = box.next(now)) {
            if (i == item::none)
                return all;
            if (i == item::broken)
                return all + std::string(box.problem());
            all += (i == item::push ? "push " : "") + std::string(box.front().back().text) + ", ";
        }
    }

    // How many of these are taken before the inbox is broken.
    std::int64_t take_many(const std::string& push, std::int64_t most)
    {
        std::int64_t taken = 0;
        for (; taken < most; ++taken) {
            add(push);
            if (!take().starts_with("push"))
                break;
        }
        return taken;
    }
};

BOOST_FIXTURE_TEST_SUITE(redlock_inbox, inbox_fixture)

// Answers and pushes come out in order, however the bytes are split.
BOOST_AUTO_TEST_CASE(answers_and_pushes)
{
    add("+first\r\n>2\r\n+a\r\n+hint\r\n+sec");
    BOOST_TEST(take() == "first, push hint, ");
    add("ond\r\n");
    BOOST_TEST(take() == "second, ");
    BOOST_TEST(take() == "");
}

// It stays broken, until there is a new connection.
BOOST_AUTO_TEST_CASE(a_broken_stream)
{
    add("+first\r\n?");
    BOOST_TEST(take() == "first, a value of unknown type");
    add("+second\r\n");
    BOOST_TEST(take() == "a value of unknown type");
    box.reset(now);
    BOOST_TEST(box.problem() == "");
    add("+third\r\n");
    BOOST_TEST(take() == "third, ");
}

// Other protocols are recognised by the first bytes of a connection, and only by these.
BOOST_AUTO_TEST_CASE(another_protocol)
{
    add("HT");
    BOOST_TEST(box.problem() == "");
    add("TP/1.1 400 Bad Request\r\n");
    BOOST_TEST(take() == "the port speaks HTTP, not the protocol of Redis");
    box.reset(now);
    add("+OK\r\n");
    add("HTTP/");
    BOOST_TEST(take() == "OK, a value of unknown type");
    box.reset(now);
    add("\x16\x03");
    BOOST_TEST(take() == "the port speaks TLS, which was not asked for");
}

// Pushes that follow from our requests are no flood, at any rate; but the allowance that is saved
// up is limited.
BOOST_AUTO_TEST_CASE(pushes_that_follow_from_requests)
{
    const std::string push = ">1\r\n+x\r\n";
    for (int i = 0; i < 100'000; ++i) {
        box.answered();
        add(push + push);
        BOOST_REQUIRE(take() == "push x, push x, ");
    }
    for (int i = 0; i < 100'000; ++i)
        box.answered();
    BOOST_TEST(take_many(push, 200'000) == push_allowance::most);
    BOOST_TEST(box.problem() == "it sends too many pushes");
    now += 1h;
    BOOST_TEST(take() == "it sends too many pushes");
}

// A long push costs as much as many short ones.
BOOST_AUTO_TEST_CASE(a_flood_of_long_pushes)
{
    std::string many = ">1000\r\n";
    for (int i = 0; i < 1000; ++i)
        many += ":1\r\n";
    BOOST_TEST(take_many(many, push_allowance::at_first) == push_allowance::at_first / 63);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::redis
