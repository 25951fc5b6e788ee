#include "redis/dialect/fence_clock.hpp"

#include "support/printing.hpp"
#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>

using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::redis::fence_clock;

BOOST_AUTO_TEST_SUITE(redlock_fence_clock)

// No clock is known, so there is no floor.
BOOST_AUTO_TEST_CASE(begins_with_nothing)
{
    BOOST_TEST(fence_clock(1s, 30s).floor(start) == 0);
}

// The floor is later than the latest clock of the nodes when the request arrives: the request takes
// at most as long as the last one, plus a quarter of `ahead`.
BOOST_AUTO_TEST_CASE(is_beyond_all_clocks)
{
    fence_clock clock(1s, 30s);
    clock.note(0, 5000, at(0ms), at(20ms));
    clock.note(1, 5300, at(0ms), at(1ms));
    clock.note(2, 4000, at(0ms), at(1ms));
    BOOST_TEST(clock.floor(at(0ms)) == 5550);
    BOOST_TEST(clock.floor(at(100ms)) == 5650);
    BOOST_TEST(clock.floor(at(100ms + 1ns)) == 5651);
    clock.note(1, 5350, at(100ms), at(101ms)); // it was set back
    BOOST_TEST(clock.floor(at(100ms)) == 5600);
    clock.forget(1);
    BOOST_TEST(clock.floor(at(100ms)) == 5350);
}

// A clock that was set is told from one that was read late.
BOOST_AUTO_TEST_CASE(notices_that_a_clock_was_set)
{
    fence_clock clock(1s, 30s);
    BOOST_TEST(!clock.note(0, 5000, at(0ms), at(1ms)));
    BOOST_TEST(!clock.note(0, 7000, at(1000ms), at(1001ms))); // a second ahead: not more
    BOOST_TEST(clock.note(0, 9001, at(2000ms), at(2001ms)));
    BOOST_TEST(!clock.note(0, 10001, at(3000ms), at(3001ms)));
    BOOST_TEST(clock.note(0, 5000, at(3000ms), at(3001ms)));
    BOOST_TEST(!clock.note(0, 50000, at(4000ms), at(4501ms))); // heard too late to tell
    BOOST_TEST(!clock.note(1, 50000, at(4000ms), at(4001ms))); // another node
    clock.forget(0);
    BOOST_TEST(!clock.note(0, 50000, at(5000ms), at(5001ms)));
}

// A clock that is far ahead of most others is not followed. A clock may be behind by any amount.
BOOST_AUTO_TEST_CASE(does_not_follow_one_clock_that_is_wrong)
{
    fence_clock clock(1s, 30s);
    clock.note(0, 50'000, at(0ms), at(0ms));
    clock.note(1, 50'100, at(0ms), at(0ms));
    clock.note(2, 51'100, at(0ms), at(0ms));
    BOOST_TEST(clock.floor(at(0ms)) == 51'350); // no more than `ahead` of the median
    clock.note(2, 51'101, at(0ms), at(0ms));
    BOOST_TEST(clock.floor(at(0ms)) == 50'350);
    clock.note(2, 0, at(0ms), at(0ms));
    BOOST_TEST(clock.floor(at(0ms)) == 50'350);
    clock.forget(0);
    clock.forget(2);
    clock.note(3, 60'000, at(0ms), at(0ms)); // of two, the one behind
    BOOST_TEST(clock.floor(at(0ms)) == 50'350);
}

// The limit of what a majority certainly stores: the clocks of a majority are not behind it. The
// floor is never beyond that limit.
BOOST_AUTO_TEST_CASE(knows_the_limit_of_what_a_majority_stores)
{
    fence_clock clock(1s, 2s);
    BOOST_TEST(clock.storable(at(0ms)) > 7'000'000'000'000);
    clock.note(0, 50'000, at(0ms), at(0ms));
    BOOST_TEST(clock.storable(at(0ms)) == 51'750);
    clock.note(1, 90'000, at(0ms), at(0ms));
    BOOST_TEST(clock.storable(at(0ms)) == 51'750);
    clock.note(2, 60'000, at(0ms), at(0ms));
    BOOST_TEST(clock.storable(at(10ms)) == 61'760);

    fence_clock narrow(1s, 1s);
    narrow.note(0, 50'000, at(0ms), at(0ms));
    narrow.note(1, 50'100, at(0ms), at(0ms));
    narrow.note(2, 51'000, at(0ms), at(0ms));
    BOOST_TEST(narrow.floor(at(0ms)) == 50'850);
    BOOST_TEST(narrow.storable(at(0ms)) == 50'850);
}

// A slow answer is ignored, and so is an absurd one.
BOOST_AUTO_TEST_CASE(ignores_slow_and_absurd_answers)
{
    fence_clock clock(1s, 30s);
    clock.note(0, 5000, at(0ms), at(501ms));
    clock.note(1, -1, at(0ms), at(0ms));
    clock.note(2, std::numeric_limits<std::int64_t>::max(), at(0ms), at(0ms));
    BOOST_TEST(clock.floor(at(0ms)) == 0);
    clock.note(0, 5000, at(0ms), at(500ms));
    BOOST_TEST(clock.floor(at(0ms)) == 5250);
}

BOOST_AUTO_TEST_SUITE_END()
