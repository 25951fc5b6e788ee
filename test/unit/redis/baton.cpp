#include "redis/claim/baton.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace holdfast::redis;
using namespace std::chrono_literals;
namespace core = holdfast::core;

namespace {

struct baton_text {
    const std::string keys = std::string(32, 'k'); // their token
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(redlock_baton, baton_text)

BOOST_AUTO_TEST_CASE(a_lease_of_plain_mode)
{
    const auto b = read_baton(keys + "9876 12");
    BOOST_REQUIRE(b.has_value());
    BOOST_TEST(b->token.view() == keys);
    BOOST_TEST((b->left == 9876ms));
    BOOST_TEST((b->lag == 12ms));
    BOOST_TEST(!b->fence.has_value());
}

BOOST_AUTO_TEST_CASE(a_lease_of_fenced_mode)
{
    const auto b = read_baton(keys + "9876 0 4567");
    BOOST_REQUIRE(b.has_value());
    BOOST_TEST(b->token.view() == keys);
    BOOST_TEST((b->left == 9876ms));
    BOOST_TEST((b->lag == 0ms));
    BOOST_TEST(b->fence.value() == 4567u);
}

// Any characters may be part of a token, but there are always as many.
BOOST_AUTO_TEST_CASE(a_token_that_looks_like_the_rest)
{
    const std::string digits = std::string(30, '1') + " 1";
    const auto b = read_baton(digits + "5 6");
    BOOST_REQUIRE(b.has_value());
    BOOST_TEST(b->token.view() == digits);
    BOOST_TEST((b->left == 5ms));
    BOOST_TEST((b->lag == 6ms));
}

// A key that is about to end, and one that lasts for 34 years.
BOOST_AUTO_TEST_CASE(bounds_of_times)
{
    BOOST_TEST((read_baton(keys + "0 0").value().left == 0ms));
    const auto longest = read_baton(keys + "1099511627776 1099511627776");
    BOOST_REQUIRE(longest.has_value());
    BOOST_TEST((longest->left == 1099511627776ms));
    BOOST_TEST((longest->lag == 1099511627776ms));
    for (const char* const other : {"1099511627777 0", "0 1099511627777", "-1 0", "0 -1",
             "9223372036854775808 0", "0 9223372036854775808"})
        BOOST_TEST(!read_baton(keys + other).has_value(), other);
}

// There is no ballot 0, and tokens are exact numbers in Lua.
BOOST_AUTO_TEST_CASE(bounds_of_fencing_tokens)
{
    BOOST_TEST(read_baton(keys + "1 2 128").value().fence.value() == 128u);
    BOOST_TEST(
        read_baton(keys + "1 2 9007199254740991").value().fence.value() == 9007199254740991u);
    for (const char* const other : {"127", "0", "-128", "9007199254740992", "18446744073709551744"})
        BOOST_TEST(!read_baton(keys + "1 2 " + other).has_value(), other);
}

BOOST_AUTO_TEST_CASE(parts_that_are_missing)
{
    for (std::size_t length = 0; length <= keys.size(); ++length)
        BOOST_TEST(!read_baton(keys.substr(0, length)).has_value(), length);
    for (const char* const rest : {" ", "1", "1 ", " 1", "1  3", "  3", " 1 2"})
        BOOST_TEST(!read_baton(keys + rest).has_value(), rest);
    BOOST_TEST(!read_baton(keys.substr(1) + "1 2").has_value());
}

BOOST_AUTO_TEST_CASE(words_that_do_not_belong_there)
{
    for (const char* const rest : {"1 2 300 4", "1 2 300 ", "1 2  300", "1 2 x", "1 2 300x", "x 2",
             "1 x", "1x 2", "1 2x", "1\t2", "1 2\n", "1.5 2", "+1 2", "0x1 2", "1 2 1e3", "1,2"})
        BOOST_TEST(!read_baton(keys + rest).has_value(), rest);
    BOOST_TEST(!read_baton(keys + "x1 2").has_value()); // the token is too long
}

// The terms are what the script puts behind the time that is left.
BOOST_AUTO_TEST_CASE(terms)
{
    BOOST_TEST(terms_of(0ms, {}) == " 0");
    BOOST_TEST(terms_of(1234ms, {}) == " 1234");
    BOOST_TEST(terms_of(7ms, 128) == " 7 128");
    const auto b = read_baton(keys + "5000" + terms_of(12ms, 9007199254740991));
    BOOST_REQUIRE(b.has_value());
    BOOST_TEST((b->left == 5000ms));
    BOOST_TEST((b->lag == 12ms));
    BOOST_TEST(b->fence.value() == 9007199254740991u);
}

// The value is the one that the script has given to the key at the queue node.
BOOST_AUTO_TEST_CASE(custody_of_a_lease)
{
    core::owner_token own;
    own.text.fill('p');
    const std::string place(own.view());
    const custody plain = custody_of(read_baton(keys + "9876 12").value(), own, 2);
    BOOST_TEST(plain.place.view() == place);
    BOOST_TEST(plain.node == 2u);
    BOOST_TEST(plain.value == keys + place + " 12");
    BOOST_TEST((plain.lag == 12ms));
    BOOST_TEST(!plain.renewed);
    const custody fenced = custody_of(read_baton(keys + "9876 12 300").value(), own, 0);
    BOOST_TEST(fenced.value == keys + place + " 12 300");
    BOOST_TEST(fenced.node == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
