#include "redis/node/member_round.hpp"

#include "resp/reader.hpp"
#include "support/printing.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace holdfast;
using namespace holdfast::redis;

namespace {

core::address member_at(const std::string& host)
{
    return {.host = host, .port = 1, .path = {}};
}

// One primary, which has all slots.
slot_table table_of(const std::string& host)
{
    const std::string answer = "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$" + std::to_string(host.size()) +
                               "\r\n" + host + "\r\n:1\r\n";
    resp::reader reader;
    reader.feed(answer);
    BOOST_REQUIRE((reader.next() == resp::reader::status::reply));
    slot_table table;
    BOOST_REQUIRE(table.read(reader.reply(), "nowhere"));
    return table;
}

// Asks all that are left, in vain.
std::string rest_of(member_round& round)
{
    std::string hosts;
    while (const core::address* const next = round.next()) {
        hosts += next->host;
        round.failed({errc::unreachable, "down"});
    }
    return hosts;
}

} // namespace

BOOST_AUTO_TEST_SUITE(redis_member_round)

BOOST_AUTO_TEST_CASE(asks_each_member_once)
{
    member_round round({member_at("a"), member_at("b"), member_at("a")});
    round.begin({});
    BOOST_TEST(rest_of(round) == "ab");
    round.begin(table_of("p"));
    BOOST_TEST(rest_of(round) == "pab");
    round.begin(table_of("b"));
    BOOST_TEST(rest_of(round) == "ba");
}

BOOST_AUTO_TEST_CASE(the_one_that_has_answered_comes_first)
{
    member_round round({member_at("a"), member_at("b"), member_at("c")});
    round.begin({});
    round.next();
    round.failed({errc::no_reply, "silent"});
    round.next();
    round.answered();
    round.begin(table_of("p"));
    BOOST_TEST(rest_of(round) == "bpac");
}

// One that comes back by itself is a reason to wait. The rest is for people.
BOOST_AUTO_TEST_CASE(tells_why_none_has_answered)
{
    member_round round({member_at("a"), member_at("b"), member_at("c")});
    round.begin({});
    round.next();
    round.failed({errc::misconfigured_node, "no member"});
    BOOST_TEST(round.why_not().code == make_error_code(errc::misconfigured_node));
    round.next();
    round.failed({errc::no_reply, "silent"});
    round.next();
    round.failed({errc::misconfigured_node, "no member"});
    BOOST_TEST(round.why_not().code == make_error_code(errc::no_reply));
    BOOST_TEST(round.why_not().text == "no member of the cluster has told its slots: a:1: no "
                                       "member, b:1: silent, c:1: no member");
    round.begin({});
    BOOST_TEST(!round.why_not().code);
}

BOOST_AUTO_TEST_SUITE_END()
