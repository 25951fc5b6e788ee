// The turns of local holders at one resource.
#include "core/local_turns.hpp"

#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;

namespace {

constexpr lease_params terms{.handoff_time = 1s, .handoff_limit = 8};
constexpr polling_params polling{.window_ms = 20, .period_ms = 500};

} // namespace

BOOST_AUTO_TEST_SUITE(core_local_turns)

BOOST_AUTO_TEST_CASE(the_number_of_turns_is_limited)
{
    local_turns t;
    t.granted(start);
    BOOST_TEST(!t.any());
    for (int i = 0; i < 7; ++i) {
        BOOST_TEST(!t.used_up(terms));
        t.pass();
        BOOST_TEST(t.any());
        BOOST_TEST(t.should_probe(terms) == (i == 1)); // at a quarter of the limit
    }
    t.pass();
    BOOST_TEST(t.used_up(terms));
    t.end();
    BOOST_TEST(!t.any());
    BOOST_TEST(!t.used_up(terms));
}

// The time counts from the first grant, not from the grants that follow it.
BOOST_AUTO_TEST_CASE(the_time_of_turns_is_limited)
{
    local_turns t;
    t.granted(start);
    t.granted(at(600ms));
    BOOST_TEST(!t.time_is_up(terms, at(999ms)));
    BOOST_TEST(t.time_is_up(terms, at(1s)));
    t.end();
    t.granted(at(2s));
    BOOST_TEST(!t.time_is_up(terms, at(2999ms)));
    t.refused(false);
    t.granted(at(3s));
    BOOST_TEST(!t.time_is_up(terms, at(3999ms)));
}

BOOST_AUTO_TEST_CASE(it_remembers_that_others_wait)
{
    local_turns t;
    BOOST_TEST(!t.others_wait());
    t.note_waiters();
    t.granted(start); // after a wait behind others, more of them may follow
    BOOST_TEST(t.others_wait());
    t.nobody_waits();
    BOOST_TEST(!t.others_wait());
    t.note_waiters();
    t.end();
    BOOST_TEST(!t.others_wait());
}

// If no other process waits, the turns count from zero again, but their time does not.
BOOST_AUTO_TEST_CASE(turns_that_keep_nobody_waiting_are_free)
{
    local_turns t;
    t.granted(start);
    for (int i = 0; i < 8; ++i)
        t.pass();
    t.nobody_waits();
    BOOST_TEST(!t.used_up(terms));
    BOOST_TEST(t.time_is_up(terms, at(1s)));
}

// Polling clients are due a window once the resource was closed for a period.
BOOST_AUTO_TEST_CASE(a_window_is_due_once_in_a_period)
{
    local_turns t;
    t.granted(start);
    BOOST_TEST((t.take_window(polling, at(499ms)) == 0ms));
    BOOST_TEST((t.take_window({}, at(500ms)) == 0ms));
    BOOST_TEST((t.take_window(polling, at(500ms)) == 20ms));
    t.granted(at(600ms));
    BOOST_TEST((t.take_window(polling, at(1099ms)) == 0ms));
    BOOST_TEST((t.take_window(polling, at(1100ms)) == 20ms));
}

// The resource was open to others when others got it, or may have.
BOOST_AUTO_TEST_CASE(a_turn_of_others_postpones_the_window)
{
    local_turns refused;
    refused.granted(start);
    refused.refused(true);
    refused.granted(at(300ms));
    BOOST_TEST((refused.take_window(polling, at(799ms)) == 0ms));

    local_turns failed; // but it was not held
    failed.granted(start);
    failed.refused(false);
    failed.granted(at(300ms));
    BOOST_TEST((failed.take_window(polling, at(500ms)) == 20ms));

    local_turns lost;
    lost.granted(start);
    lost.lost(at(300ms));
    BOOST_TEST((lost.take_window(polling, at(799ms)) == 0ms));
    BOOST_TEST((lost.take_window(polling, at(800ms)) == 20ms));
}

BOOST_AUTO_TEST_SUITE_END()
