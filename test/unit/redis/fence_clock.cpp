#include "redis/dialect/fence_clock.hpp"

#include "support/printing.hpp"
#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>

using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::redis::fence_clock;
namespace core = holdfast::core;

namespace {

// A clock that shows `us` at the start of the test, in the middle of the round trip.
bool note(fence_clock& clock, std::size_t node, std::int64_t us, core::duration asked,
    core::duration round_trip)
{
    const auto between = std::chrono::floor<std::chrono::microseconds>(asked + round_trip / 2);
    return clock.note(node, us + between.count(), at(asked), at(asked + round_trip));
}

} // namespace

BOOST_AUTO_TEST_SUITE(redlock_fence_clock)

BOOST_AUTO_TEST_CASE(begins_with_nothing)
{
    BOOST_TEST(!fence_clock(1s).is_known());
}

// The clock was read halfway between the request and its answer. From then on it runs like ours.
BOOST_AUTO_TEST_CASE(follows_a_node)
{
    fence_clock clock(1s);
    BOOST_TEST(!clock.note(0, 5'000'000, at(0ms), at(20ms)));
    BOOST_TEST(clock.is_known());
    BOOST_TEST(clock.ms(at(10ms)) == 5000);
    BOOST_TEST(clock.ms(at(11ms - 1ns)) == 5000);
    BOOST_TEST(clock.ms(at(11ms)) == 5001);
    BOOST_TEST(clock.ms(at(1010ms)) == 6000);
}

// A ballot counts eighths of a millisecond. It is never 0, whatever the clock shows.
BOOST_AUTO_TEST_CASE(ballots_are_eighths_of_a_millisecond)
{
    fence_clock clock(1s);
    clock.note(0, 5'000'000, at(0ms), at(0ms));
    BOOST_TEST(clock.ballot(at(0ms)) == 40'000u);
    BOOST_TEST(clock.ballot(at(125us - 1ns)) == 40'000u);
    BOOST_TEST(clock.ballot(at(125us)) == 40'001u);
    BOOST_TEST(clock.ballot(at(1ms)) == 40'008u);
    fence_clock early(1s);
    early.note(0, 0, at(0ms), at(0ms));
    BOOST_TEST(early.ballot(at(0ms)) == 1u);
    BOOST_TEST(early.ballot(at(-10s)) == 1u);
}

// A sample with a longer round trip than the last one is less exact, and is ignored.
BOOST_AUTO_TEST_CASE(keeps_the_sample_with_the_shortest_round_trip)
{
    fence_clock clock(1s);
    note(clock, 0, 5'000'000, 0ms, 2ms);
    note(clock, 0, 5'002'000, 1s, 3ms);
    BOOST_TEST(clock.ms(at(0ms)) == 5000);
    note(clock, 0, 5'001'000, 2s, 1ms);
    BOOST_TEST(clock.ms(at(0ms)) == 5001);
    note(clock, 0, 5'002'000, 3s, 1ms); // as short, and newer
    BOOST_TEST(clock.ms(at(0ms)) == 5002);
}

// Clocks drift: an old sample loses against a new one that was a little slower, and after a minute
// against any.
BOOST_AUTO_TEST_CASE(an_old_sample_is_replaced)
{
    fence_clock clock(1s);
    note(clock, 0, 5'000'000, 0ms, 2ms);
    note(clock, 0, 5'003'000, 9s, 4ms); // by now the first one is wrong by up to 1.9 ms
    BOOST_TEST(clock.ms(at(0ms)) == 5000);
    note(clock, 0, 5'003'000, 10s, 4ms);
    BOOST_TEST(clock.ms(at(0ms)) == 5003);

    fence_clock other(1s);
    note(other, 0, 5'000'000, 0ms, 0ms);
    note(other, 0, 5'100'000, 59s, 200ms);
    BOOST_TEST(other.ms(at(0ms)) == 5000);
    note(other, 0, 5'100'000, 60s, 200ms);
    BOOST_TEST(other.ms(at(0ms)) == 5100);
}

// A clock was set, or drifts more, if both samples cannot be true: the new one is, however exact.
BOOST_AUTO_TEST_CASE(a_sample_that_contradicts_the_known_one_replaces_it)
{
    fence_clock clock(1s);
    note(clock, 0, 5'000'000, 0ms, 2ms);
    BOOST_TEST(!note(clock, 0, 5'003'100, 1s, 4ms)); // wrong by up to 1.1 and 2 ms
    BOOST_TEST(clock.ms(at(0ms)) == 5000);
    BOOST_TEST(!note(clock, 0, 5'003'101, 1s, 4ms));
    BOOST_TEST(clock.ms(at(0ms)) == 5003);
}

// A sample that may be wrong by more than `ahead` by now has no say, unless there is no other. A
// clock drifts by 0.5 % at worst.
BOOST_AUTO_TEST_CASE(a_clock_that_was_not_read_for_long_has_no_say)
{
    fence_clock clock(10ms);
    clock.note(0, 50'000'000, at(0s), at(0s));
    clock.note(1, 60'000'000, at(0s), at(0s));
    clock.note(2, 70'000'000, at(0s), at(0s));
    clock.note(0, 52'000'000, at(2s), at(2s));
    BOOST_TEST(clock.ms(at(0s)) == 60'000);
    clock.note(0, 52'001'000, at(2001ms), at(2001ms));
    BOOST_TEST(clock.ms(at(0s)) == 50'000);
    clock.forget(0);
    BOOST_TEST(clock.ms(at(0s)) == 60'000);
}

// Its error could be larger than what the protocol permits.
BOOST_AUTO_TEST_CASE(ignores_a_sample_whose_round_trip_is_longer_than_twice_ahead)
{
    fence_clock clock(1s);
    BOOST_TEST(!note(clock, 0, 5'000'000, 0ms, 2s + 2ms));
    BOOST_TEST(!clock.is_known());
    note(clock, 0, 5'000'000, 0ms, 2s);
    BOOST_TEST(clock.is_known());
}

// A clock that was set is told from one that was read late, and is followed at once.
BOOST_AUTO_TEST_CASE(notices_that_a_clock_was_set)
{
    fence_clock clock(1s);
    BOOST_TEST(!note(clock, 0, 5'000'000, 0ms, 2ms));
    BOOST_TEST(!note(clock, 0, 6'002'000, 0ms, 2ms)); // `ahead`, and the errors of both samples
    BOOST_TEST(note(clock, 0, 7'004'001, 0ms, 2ms));
    BOOST_TEST(clock.ms(at(0ms)) == 7004);
    BOOST_TEST(note(clock, 0, 5'000'000, 0ms, 100ms)); // back, and slow
    BOOST_TEST(clock.ms(at(0ms)) == 5000);
    BOOST_TEST(!note(clock, 0, 6'500'000, 1s, 1s)); // heard too late to tell
    BOOST_TEST(clock.ms(at(0ms)) == 6500);
    BOOST_TEST(!note(clock, 1, 50'000'000, 2s, 2ms)); // another node
    clock.forget(0);
    BOOST_TEST(!note(clock, 0, 50'000'000, 3s, 2ms));
}

// The time is one that the clocks of a majority have reached. One clock that is wrong, by whatever,
// changes little.
BOOST_AUTO_TEST_CASE(a_majority_of_the_clocks_is_not_behind)
{
    fence_clock clock(1s);
    clock.note(0, 50'000'000, at(0ms), at(0ms));
    BOOST_TEST(clock.ms(at(0ms)) == 50'000);
    clock.note(1, 90'000'000, at(0ms), at(0ms));
    BOOST_TEST(clock.ms(at(0ms)) == 50'000); // of two, the one behind
    clock.note(2, 60'000'000, at(0ms), at(0ms));
    BOOST_TEST(clock.ms(at(0ms)) == 60'000);
    clock.note(3, 0, at(0ms), at(0ms));
    BOOST_TEST(clock.ms(at(0ms)) == 50'000);
    clock.note(4, 70'000'000, at(0ms), at(0ms));
    BOOST_TEST(clock.ms(at(0ms)) == 60'000);
}

// A node that is gone has no say.
BOOST_AUTO_TEST_CASE(forgets_nodes)
{
    fence_clock clock(1s);
    clock.note(0, 50'000'000, at(0ms), at(0ms));
    clock.note(1, 60'000'000, at(0ms), at(0ms));
    clock.note(2, 70'000'000, at(0ms), at(0ms));
    clock.forget(0);
    BOOST_TEST(clock.ms(at(0ms)) == 60'000);
    clock.forget(1);
    BOOST_TEST(clock.ms(at(0ms)) == 70'000);
    clock.forget(2);
    BOOST_TEST(!clock.is_known());
}

// Numbers that no clock shows.
BOOST_AUTO_TEST_CASE(ignores_absurd_answers)
{
    fence_clock clock(1s);
    clock.note(0, -1, at(0ms), at(0ms));
    clock.note(1, std::numeric_limits<std::int64_t>::max(), at(0ms), at(0ms));
    clock.note(2, 7'258'118'400'000'001, at(0ms), at(0ms)); // later than the year 2200
    clock.note(3, 5'000'000, at(1ms), at(0ms));
    BOOST_TEST(!clock.is_known());
    clock.note(2, 7'258'118'400'000'000, at(0ms), at(0ms));
    BOOST_TEST(clock.ballot(at(0ms)) == 7'258'118'400'000u * 8);
}

BOOST_AUTO_TEST_SUITE_END()
