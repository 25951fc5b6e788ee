#include "core/alarm.hpp"

#include "support/printing.hpp"
#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast;
using test::at;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(alarms)

BOOST_AUTO_TEST_CASE(is_set_for_the_first_request)
{
    core::alarm a;
    BOOST_TEST(!a.is_set());
    BOOST_TEST((a.plan(at(100ms), at(0ms)) == at(100ms)));
    BOOST_TEST(a.is_set());
}

BOOST_AUTO_TEST_CASE(is_not_set_when_nothing_is_due)
{
    core::alarm a;
    BOOST_TEST(!a.plan(core::never, at(0ms)));
    BOOST_TEST(!a.is_set());
}

BOOST_AUTO_TEST_CASE(is_moved_to_an_earlier_time_but_never_to_a_later_one)
{
    core::alarm a;
    a.plan(at(100ms), at(0ms));
    BOOST_TEST(!a.plan(at(200ms), at(10ms)));
    BOOST_TEST((a.plan(at(50ms), at(20ms)) == at(50ms)));
}

BOOST_AUTO_TEST_CASE(is_set_at_most_a_second_ahead)
{
    core::alarm a;
    BOOST_TEST((a.plan(at(1h), at(0ms)) == at(1s)));
}

BOOST_AUTO_TEST_CASE(is_set_again_after_it_has_fired)
{
    core::alarm a;
    a.plan(at(100ms), at(0ms));
    a.clear();
    BOOST_TEST((a.plan(at(200ms), at(100ms)) == at(200ms)));
}

BOOST_AUTO_TEST_CASE(a_timer_in_a_busy_loop_may_fire_a_little_late)
{
    core::alarm a;
    a.plan(at(100ms), at(0ms));
    BOOST_TEST(!a.plan(at(200ms), at(110ms)));
}

// Simulated seed 1758: after a suspension the timers of new operations waited for the old timer,
// whose clock had stood still.
BOOST_AUTO_TEST_CASE(a_timer_that_slept_through_a_suspension_is_not_relied_on)
{
    core::alarm a;
    a.plan(at(100ms), at(0ms));
    BOOST_TEST((a.plan(at(5'200ms), at(5'000ms)) == at(5'200ms)));
}

BOOST_AUTO_TEST_CASE(what_was_due_long_ago_is_due_now)
{
    core::alarm a;
    BOOST_TEST((a.plan(core::long_ago, at(3'000ms)) == at(3'000ms)));
    BOOST_TEST(!a.plan(core::long_ago, at(3'001ms)));
}

BOOST_AUTO_TEST_SUITE_END()
