// Manual extension of a lease.
#include "core/locker_core.hpp"

#include "support/locker_fixture.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;

BOOST_FIXTURE_TEST_SUITE(core_locker_extend, lease_fixture)

// An extension completes when a majority has confirmed a renewal that was sent for it.
BOOST_AUTO_TEST_CASE(extension_is_confirmed)
{
    usual.renewal = holdfast::renewal::manual;
    const slot_id lease = lease_of("A");
    pass(1s);
    BOOST_TEST(locker.extend(lease, now) == errc{});
    BOOST_TEST(calls() == "renew again A");
    store.confirm(1, at(9s)); // of an older request
    locker.wake(now);
    BOOST_TEST(effects() == "");
    store.confirm(1, at(10s - 92ms));
    locker.wake(now);
    BOOST_TEST(effects() == "extended: nothing");
    BOOST_TEST(locker.leases().valid_until(lease) == at(10s - 92ms));
}

// An extension that is not confirmed in time fails, and the lease keeps its validity.
BOOST_AUTO_TEST_CASE(extension_is_not_confirmed)
{
    const slot_id lease = lease_of("A");
    BOOST_TEST(locker.extend(lease, now) == errc{});
    sleep_until(at(50ms) - 1ns);
    BOOST_TEST(effects() == "");
    sleep_until(at(50ms));
    BOOST_TEST(effects() == "extended: unreachable");
    BOOST_TEST(locker.leases().valid_until(lease) == end);
    store.confirm(1, end + 1ms);
    locker.wake(now);
    BOOST_TEST(effects() == "");
}

// Extensions that overlap share one renewal.
BOOST_AUTO_TEST_CASE(extensions_share_a_renewal)
{
    const slot_id lease = lease_of("A");
    BOOST_TEST(locker.extend(lease, now) == errc{});
    pass(10ms);
    BOOST_TEST(locker.extend(lease, now) == errc{});
    BOOST_TEST(calls() == "renew again A");
    sleep_until(at(50ms));
    BOOST_TEST(effects() == "extended: unreachable");
}

// A lease whose work must stop cannot be extended, nor can one that is gone.
BOOST_AUTO_TEST_CASE(a_lost_or_released_lease_cannot_be_extended)
{
    const slot_id a = lease_of("A");
    now = end - 450ms;
    BOOST_TEST(locker.extend(a, now) == errc::lease_lost);
    BOOST_TEST(effects() == "must stop");
    locker.drop(a, now);
    BOOST_TEST(locker.extend(a, now) == errc::not_held);
    BOOST_TEST(calls() == "release A");
}

// An extension may find that the lease has ended. Then the next waiter is served.
BOOST_AUTO_TEST_CASE(extending_too_late_serves_the_next_waiter)
{
    usual.handoff_time = 1h;
    const slot_id a = lease_of("A");
    acquire(2, "A", holdfast::forever);
    store.grant_at_once = true;
    now = end;
    BOOST_TEST(locker.extend(a, now) == errc::lease_lost);
    locker.wake(now);
    BOOST_TEST(effects() == "must stop, 2 acquired");
}

// The attempt for that waiter may be answered at once. Then the wait is over: a user who cancels it
// or closes the locker before the next turn must not end the attempt a second time.
BOOST_AUTO_TEST_CASE(extending_too_late_leaves_no_answer_unread)
{
    usual.handoff_time = 1h;
    const slot_id a = lease_of("A");
    const slot_id w = acquire(2, "A", holdfast::forever);
    store.grant_at_once = true;
    now = end;
    BOOST_TEST(locker.extend(a, now) == errc::lease_lost);
    BOOST_TEST(!locker.cancel(w, false, now));
    BOOST_TEST(effects() == "must stop, 2 acquired");
}

BOOST_AUTO_TEST_CASE(extending_too_late_leaves_no_refusal_unread)
{
    usual.handoff_time = 1h;
    const slot_id a = lease_of("A");
    acquire(2, "A", holdfast::forever);
    store.refuse_at_once = errc::unreachable;
    now = end;
    BOOST_TEST(locker.extend(a, now) == errc::lease_lost);
    locker.close(now);
    BOOST_TEST(effects() == "must stop, 2 ended: closed, closed");
}

// An extension that is over has failed before the next one begins.
BOOST_AUTO_TEST_CASE(an_extension_after_one_that_is_over)
{
    const slot_id lease = lease_of("A");
    BOOST_TEST(locker.extend(lease, now) == errc{});
    now = at(50ms);
    locker.settle(lease, now);
    BOOST_TEST(effects() == "extended: unreachable");
    BOOST_TEST(locker.extend(lease, now) == errc{});
    BOOST_TEST(effects() == "");
    BOOST_TEST(calls() == "renew again A, renew A, renew again A");
}

// A lease that ends during an extension is reported as lost, not as extended.
BOOST_AUTO_TEST_CASE(loss_during_an_extension)
{
    const slot_id lease = lease_of("A");
    locker.extend(lease, now);
    store.lose(1);
    locker.wake(now);
    BOOST_TEST(effects() == "must stop");
    sleep_until(at(1s));
    BOOST_TEST(effects() == "");
}

BOOST_AUTO_TEST_SUITE_END()
