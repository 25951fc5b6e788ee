#include "redis/dialect/token_supply.hpp"

#include "redis/node/fence_scripts.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>

using holdfast::redis::largest_block;
using holdfast::redis::token_supply;
using holdfast::redis::tokens_in_ms;

namespace {

constexpr std::uint64_t a = 1, b = 2, shares_with_a = 1025;
constexpr std::int64_t noon = 1'700'000'000'000; // the clock of the nodes, in ms

constexpr std::uint64_t at(std::int64_t ms)
{
    return static_cast<std::uint64_t>(ms) * tokens_in_ms;
}

} // namespace

BOOST_AUTO_TEST_SUITE(redlock_token_supply)

// The floor follows the clock, and is greater than everything that was published.
BOOST_AUTO_TEST_CASE(the_least_token_that_is_wanted)
{
    token_supply s;
    BOOST_TEST(s.floor(a, 0) == 0u);
    BOOST_TEST(s.floor(a, noon) == at(noon));
    s.published(a, at(noon) + 7);
    BOOST_TEST(s.floor(a, noon) == at(noon) + 8);
    BOOST_TEST(s.floor(b, noon) == at(noon));
    BOOST_TEST(s.floor(a, noon + 1) == at(noon + 1));
    s.published(a, at(noon));
    BOOST_TEST(s.floor(a, noon) == at(noon) + 8);
    BOOST_TEST(s.floor(a, 0) == at(noon) + 8);
}

// Of two resources that share an entry, the one that is ahead is remembered.
BOOST_AUTO_TEST_CASE(little_is_remembered)
{
    token_supply s;
    s.published(a, at(noon) + 7);
    s.published(shares_with_a, at(noon) + 5);
    BOOST_TEST(s.floor(a, noon) == at(noon) + 8);
    BOOST_TEST(s.floor(shares_with_a, noon) == at(noon));
    s.published(shares_with_a, at(noon) + 9);
    BOOST_TEST(s.floor(shares_with_a, noon) == at(noon) + 10);
    BOOST_TEST(s.floor(a, noon) == at(noon));
}

// A claim without local waiters gets fewer tokens than one with them, and the further the tokens
// are ahead of the clock, the fewer.
BOOST_AUTO_TEST_CASE(blocks_shrink)
{
    token_supply s;
    BOOST_TEST(s.block(a, noon, false) == 64u);
    BOOST_TEST(s.block(a, noon, true) == largest_block);
    s.published(a, at(noon) - 1);
    BOOST_TEST(s.block(a, noon, true) == largest_block);
    s.published(a, at(noon + 8) - 1);
    BOOST_TEST(s.block(a, noon, true) == largest_block / 2);
    BOOST_TEST(s.block(a, noon, false) == 64u);
    s.published(a, at(noon + 16) - 17);
    BOOST_TEST(s.block(a, noon, true) == 1u);
    BOOST_TEST(s.block(a, noon, false) == 1u);
    s.published(a, at(noon + 20));
    BOOST_TEST(s.block(a, noon, true) == 1u);
    BOOST_TEST(s.block(a, 0, true) == 1u);
    BOOST_TEST(s.block(a, noon + 30, true) > 512u);
}

// Tokens that nodes have stored for attempts without success count too, but do not raise the floor.
BOOST_AUTO_TEST_CASE(blocks_shrink_after_attempts_without_success)
{
    token_supply s;
    s.stored(a, at(noon + 8) - 1);
    BOOST_TEST(s.block(a, noon, true) == largest_block / 2);
    s.stored(a, at(noon + 2000));
    BOOST_TEST(s.block(a, noon, true) == 1u);
    BOOST_TEST(s.floor(a, noon) == at(noon));
    s.published(a, at(noon) + 7);
    BOOST_TEST(s.block(a, noon, true) == 1u);
    BOOST_TEST(s.floor(a, noon) == at(noon) + 8);
}

// The tokens of a resource stay near the clock, however often it is granted or transferred, up to a
// million tokens a second.
BOOST_AUTO_TEST_CASE(tokens_do_not_outrun_the_clock)
{
    token_supply s;
    std::uint64_t last = 0;
    for (std::int64_t us = 0; us < 2'000'000; us += 20) { // 50,000 grants a second
        const std::int64_t clock = noon + us / 1000;
        last = s.floor(a, clock) + s.block(a, clock, true) - 1;
        s.published(a, last);
        BOOST_REQUIRE(last < at(clock + 17));
    }
    BOOST_TEST(last > at(noon + 2000));
}

BOOST_AUTO_TEST_SUITE_END()
