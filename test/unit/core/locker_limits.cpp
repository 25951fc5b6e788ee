// The limit of waits for one resource, and waits that fail fast.
#include "core/locker_core.hpp"

#include "support/locker_fixture.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;

BOOST_FIXTURE_TEST_SUITE(core_locker_limits, locker_fixture)

// The call that asks the backend counts, a holder does not, and each resource has its own count.
BOOST_AUTO_TEST_CASE(most_waiters_of_a_resource)
{
    usual.max_waiters = 2;
    acquire(1);
    acquire(2);
    BOOST_TEST(acquire(3) == 0u);
    BOOST_TEST(effects() == "3 ended: overloaded");
    BOOST_TEST(acquire(4, "B") != 0u);
    store.grant(1);
    locker.wake(now);
    BOOST_TEST(effects() == "1 acquired");
    BOOST_TEST(acquire(5) != 0u);
    BOOST_TEST(acquire(6) == 0u);
    BOOST_TEST(effects() == "6 ended: overloaded");
    BOOST_TEST(stats().waiting == 3u);
}

// Waits that end make room, however they end.
BOOST_AUTO_TEST_CASE(waits_that_end_make_room)
{
    usual.max_waiters = 1;
    const slot_id first = acquire(1);
    BOOST_TEST(locker.cancel(first, false, now));
    BOOST_TEST(acquire(2, "A", 1s) != 0u);
    sleep_until(at(1s));
    BOOST_TEST(effects() == "2 ended: unreachable");
    BOOST_TEST(acquire(3) != 0u);
    refuse(errc::permission_denied);
    BOOST_TEST(effects() == "3 ended: permission_denied");
    BOOST_TEST(acquire(4) != 0u);
}

// Each call has its own limit. A call that never waits is refused by others, not by the limit.
BOOST_AUTO_TEST_CASE(the_limit_is_that_of_the_call)
{
    acquire(1);
    acquire(2);
    usual.max_waiters = 1;
    BOOST_TEST(acquire(3) == 0u);
    BOOST_TEST(try_acquire(4) == 0u);
    BOOST_TEST(acquire(5, "A", 0ms) == 0u);
    BOOST_TEST(effects() == "3 ended: overloaded, 4 ended: nothing, 5 ended: contended");
    usual.max_waiters = 3;
    BOOST_TEST(acquire(6) != 0u);
}

// While the backend is cut off, a call that fails fast ends at once and asks nothing. It waits
// again as soon as the backend is back. Other calls wait as always.
BOOST_AUTO_TEST_CASE(a_call_fails_fast)
{
    usual.fail_fast = true;
    store.cut_off_is = errc::unreachable;
    BOOST_TEST(acquire(1) == 0u);
    BOOST_TEST(effects() == "1 ended: unreachable");
    BOOST_TEST(calls() == "");
    store.cut_off_is = errc::authentication_failed;
    BOOST_TEST(acquire(2) == 0u);
    BOOST_TEST(effects() == "2 ended: authentication_failed");
    store.cut_off_is = errc{};
    BOOST_TEST(acquire(3) != 0u);
    granted();
    store.cut_off_is = errc::unreachable;
    usual.fail_fast = false;
    BOOST_TEST(acquire(4) != 0u);
    locker.wake(now);
    BOOST_TEST(effects() == "");
}

// Waiting calls end when the backend is cut off: the one that asks, those behind it, and those
// behind a holder. Calls that do not fail fast keep their place.
BOOST_AUTO_TEST_CASE(waiting_calls_fail_fast)
{
    acquire(1, "A");
    granted();
    usual.fail_fast = true;
    acquire(2, "A");
    acquire(3, "B");
    acquire(4, "B");
    usual.fail_fast = false;
    acquire(5, "B");
    acquire(6, "A");
    calls();
    locker.wake(now);
    BOOST_TEST(effects() == "");
    store.cut_off_is = errc::unreachable;
    locker.wake(now);
    BOOST_TEST(effects() == "2 ended: unreachable, 3 ended: unreachable, 4 ended: unreachable");
    BOOST_TEST(calls() == ""); // the attempt goes on for the next
    BOOST_TEST(stats().waiting == 2u);
    BOOST_TEST(granted() != 0u);
}

// A single attempt is made in any case: it finds the reason by itself.
BOOST_AUTO_TEST_CASE(a_single_attempt_does_not_fail_fast)
{
    usual.fail_fast = true;
    store.cut_off_is = errc::unreachable;
    BOOST_TEST(try_acquire(1, "A") != 0u);
    BOOST_TEST(acquire(2, "B", 0ms) != 0u);
    locker.wake(now);
    BOOST_TEST(effects() == "");
    BOOST_TEST(calls() == "attempt A, attempt B");
}

BOOST_AUTO_TEST_SUITE_END()
