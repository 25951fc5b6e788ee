// How many attempts may be in progress at once.
#include "core/admission.hpp"

#include "support/printing.hpp"
#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;

namespace {

struct admission_fixture {
    static constexpr duration node_timeout = 500ms;

    admission gate;
    time_point now = start;

    // Rounds of as many attempts as are admitted, each answered after `delay`.
    void rounds(int count, duration delay)
    {
        for (; count != 0; --count) {
            fill();
            const time_point asked = now;
            now += delay;
            for (std::size_t n = gate.under_way(); n != 0; --n)
                gate.answered(asked, node_timeout, true, now);
        }
    }
    void fill()
    {
        while (gate.is_open(now))
            gate.begin();
    }
    void fail(int count)
    {
        for (; count != 0; --count) {
            gate.begin();
            gate.unanswered(now, node_timeout, 100ms, now);
        }
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(core_admission, admission_fixture)

BOOST_AUTO_TEST_CASE(admits_no_more_than_its_bound)
{
    fill();
    BOOST_TEST(gate.under_way() == admission::first);
    BOOST_TEST(!gate.is_open(now));
    BOOST_TEST(gate.opens_at() == never); // it does not open with time
    gate.leave();
    BOOST_TEST(gate.is_open(now));
}

// Only an attempt finds out that the nodes are back: the pauses may not be as long as those between
// attempts for one resource, which a user may set to an hour.
BOOST_AUTO_TEST_CASE(pauses_without_answers_are_short)
{
    while (!gate.is_cut_off()) {
        gate.begin();
        gate.unanswered(now, node_timeout, 10min, now);
    }
    BOOST_TEST(!gate.is_open(now));
    BOOST_TEST(gate.opens_at() == now + 1s);
    BOOST_TEST(gate.is_open(now + 1s));
}

// The requests of an abandoned attempt are still pending. Without this rule, attempts for waiters
// that have timed out would make room for more of them, and the nodes would do nothing else.
BOOST_AUTO_TEST_CASE(an_abandoned_attempt_counts_until_its_requests_are_answered)
{
    for (int i = 0; i < 200; ++i)
        rounds(1, 10ms);
    fill();
    const std::size_t all = gate.under_way();
    for (std::size_t i = 0; i < all; ++i)
        gate.abandon(node_timeout, now);
    BOOST_TEST(!gate.is_open(now));
    BOOST_TEST(gate.opens_at() > now + 15ms);
    BOOST_TEST(gate.opens_at() <= now + 20ms);
    now = gate.opens_at();
    BOOST_TEST(gate.is_open(now));
    BOOST_TEST(gate.under_way() == 0u);
}

BOOST_AUTO_TEST_CASE(doubles_with_each_round_of_quick_answers)
{
    rounds(1, 1ms);
    BOOST_TEST(gate.bound() == 2 * admission::first);
    rounds(20, 1ms);
    BOOST_TEST(gate.bound() == admission::most);
}

BOOST_AUTO_TEST_CASE(does_not_grow_when_no_attempt_waits_for_a_place)
{
    for (int i = 0; i < 1000; ++i) {
        gate.begin();
        gate.answered(now, node_timeout, false, now);
    }
    BOOST_TEST(gate.bound() == admission::first);
}

// An answer that takes a large part of the node timeout is a sign of too many attempts. Attempts
// that were in progress together count as one sign.
BOOST_AUTO_TEST_CASE(shrinks_once_for_attempts_that_ran_together)
{
    rounds(3, 1ms);
    const std::size_t before = gate.bound();
    rounds(1, 200ms);
    BOOST_TEST(gate.bound() == before * 3 / 4);
}

BOOST_AUTO_TEST_CASE(always_keeps_a_few_places)
{
    rounds(1, 1ms);
    rounds(100, 400ms);
    BOOST_TEST(gate.bound() >= admission::least);
    BOOST_TEST(gate.bound() <= admission::least + 2);
}

// A fixed number of places would be too large for slow nodes, or too small for fast ones. In this
// test an answer takes as long as the node needs for all pending attempts.
BOOST_AUTO_TEST_CASE(settles_where_answers_take_a_small_part_of_the_node_timeout)
{
    for (const duration each : {duration(10us), duration(100us), duration(1ms)}) {
        gate = {};
        gate.begin(); // the first attempt is alone
        now += each;
        gate.answered(now - each, node_timeout, false, now);
        for (int i = 0; i < 200; ++i)
            rounds(1, each * static_cast<std::int64_t>(gate.bound()));
        const duration delay = each * static_cast<std::int64_t>(gate.bound());
        BOOST_TEST((delay <= node_timeout / 8 || gate.bound() <= admission::least + 2));
        BOOST_TEST((delay >= node_timeout / 64 || gate.bound() == admission::most));
    }
}

// If nodes are far away, every answer takes long. That is no sign of load.
BOOST_AUTO_TEST_CASE(distance_is_not_load)
{
    rounds(6, 110ms);
    BOOST_TEST(gate.bound() == 64 * admission::first);
}

BOOST_AUTO_TEST_CASE(closes_for_a_while_when_no_node_answers)
{
    fail(static_cast<int>(admission::least) - 1);
    BOOST_TEST(gate.is_open(now));
    BOOST_TEST(!gate.is_cut_off());
    fail(1);
    BOOST_TEST(gate.is_cut_off());
    BOOST_TEST(!gate.is_open(now));
    BOOST_TEST(gate.opens_at() == now + 100ms);
    now += 100ms;
    BOOST_TEST(gate.is_open(now));
}

BOOST_AUTO_TEST_CASE(opens_at_once_when_a_node_answers)
{
    gate.begin();
    fail(100);
    BOOST_TEST(!gate.is_open(now));
    gate.answered(now, node_timeout, true, now);
    BOOST_TEST(gate.is_open(now));
    BOOST_TEST(!gate.is_cut_off());
}

// A node that refuses at once is no sign of load. A silent one is.
BOOST_AUTO_TEST_CASE(only_slow_failures_shrink_the_bound)
{
    fail(10);
    BOOST_TEST(gate.bound() == admission::first);
    fill();
    const time_point asked = now;
    now += node_timeout;
    for (std::size_t n = gate.under_way(); n != 0; --n)
        gate.unanswered(asked, node_timeout, 100ms, now);
    BOOST_TEST(gate.bound() == admission::first / 2);
}

// The first attempts were as many as the bound allows, so no answer was quick. The shortest delay
// is no distance then. Found by the simulator: such a process repeated its attempts for ever.
BOOST_AUTO_TEST_CASE(failures_in_a_crowd_from_the_first_moment_shrink_the_bound)
{
    rounds(1, 400ms);
    fill();
    const std::size_t before = gate.bound();
    const time_point asked = now;
    now += node_timeout;
    for (std::size_t n = gate.under_way(); n != 0; --n)
        gate.unanswered(asked, node_timeout, 100ms, now);
    BOOST_TEST(gate.bound() == before / 2);
}

// A lock with a very short ttl has a node timeout below the distance to the nodes, and always
// fails. Other locks are not affected.
BOOST_AUTO_TEST_CASE(failures_caused_by_distance_do_not_slow_other_locks_down)
{
    rounds(3, 10ms);
    const std::size_t before = gate.bound();
    for (int i = 0; i < 20; ++i) {
        gate.begin();
        gate.unanswered(now - 5ms, 5ms, 100ms, now);
        gate.begin();
        gate.answered(now - 10ms, node_timeout, false, now);
    }
    BOOST_TEST(gate.bound() == before);
}

// The distance is constant, the load varies.
BOOST_AUTO_TEST_CASE(the_expected_delay_allows_for_growing_load)
{
    rounds(1, 50ms);
    for (int i = 0; i < 20; ++i)
        rounds(1, 50ms);
    BOOST_TEST(gate.expected_delay() >= 49ms);
    BOOST_TEST(gate.expected_delay() <= 51ms);
    rounds(1, 60ms);
    BOOST_TEST(gate.expected_delay() >= 89ms);
}

BOOST_AUTO_TEST_SUITE_END()
