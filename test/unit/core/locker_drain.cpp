// Draining a locker: no new leases, and the holders finish.
#include "core/locker_core.hpp"

#include "support/locker_fixture.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;

BOOST_FIXTURE_TEST_SUITE(core_locker_drain, lease_fixture)

// Each call is answered, also once nothing is left to do. The connections stay.
BOOST_AUTO_TEST_CASE(an_idle_locker_is_drained_at_once)
{
    locker.drain(1s, now);
    BOOST_TEST(effects() == "drained");
    BOOST_TEST(locker.wake_at() == never);
    locker.drain(1s, now);
    BOOST_TEST(effects() == "drained");
    BOOST_TEST(calls() == "");
    locker.close(now);
    BOOST_TEST(effects() == "closed");
    BOOST_TEST(calls() == "close");
    locker.drain(1s, now);
    BOOST_TEST(effects() == "drained");
    BOOST_TEST(locker.wake_at() == never);
}

// Waits end at once, those with an attempt and those behind a holder; new ones too.
BOOST_AUTO_TEST_CASE(nothing_is_granted_any_more)
{
    const slot_id lease = lease_of("A");
    acquire(2, "A");
    acquire(3, "B");
    calls();
    locker.drain(1min, now);
    BOOST_TEST(effects() == "2 ended: closed, 3 ended: closed");
    BOOST_TEST(calls() == "abandon B");
    BOOST_TEST(acquire(4, "C") == 0u);
    BOOST_TEST(try_acquire(5, "A") == 0u);
    BOOST_TEST(effects() == "4 ended: closed, 5 ended: closed");
    locker.drop(lease, now);
    BOOST_TEST(effects() == "gone, drained");
    BOOST_TEST(calls() == "release A");
}

// A lease is renewed and can be extended until its holder is done.
BOOST_AUTO_TEST_CASE(holders_finish)
{
    const slot_id a = lease_of("A"), b = lease_of("B");
    locker.drain(1h, now);
    for (int i = 1; i <= 5; ++i) {
        while (store.calls.empty())
            sleep();
        BOOST_TEST(calls() == "renew A B");
        for (const char* const name : {"A", "B"})
            store.confirm(claim_of(name), store.latest_end(claim_of(name)));
        locker.wake(now);
    }
    BOOST_TEST((now > end)); // of the first grant
    BOOST_TEST(locker.extend(a, now) == errc{});
    BOOST_TEST(calls() == "renew again A");
    BOOST_TEST(effects() == "");
    locker.release(a, 77, now);
    BOOST_TEST(effects() == "gone");
    BOOST_TEST(locker.leases().held(b, now));
    locker.release(b, 78, now);
    BOOST_TEST(effects() == "gone, drained"); // the releases themselves go on
    BOOST_TEST(calls() == "release A, release B");
    BOOST_TEST(locker.wake_at() == never); // the deadline is forgotten
}

// At the deadline the remaining holders are told, and have a guard time.
BOOST_AUTO_TEST_CASE(the_deadline)
{
    lease_of("A");
    pass(1s);
    locker.drain(500ms, now);
    sleep_until(at(1500ms) - 1ns);
    BOOST_TEST(effects() == "");
    sleep_until(at(1500ms));
    BOOST_TEST(effects() == "must stop");
    BOOST_TEST(calls() == "");
    sleep_until(at(1950ms) - 1ns);
    BOOST_TEST(effects() == "");
    sleep_until(at(1950ms));
    BOOST_TEST(effects() == "drained");
    BOOST_TEST(calls() == "release A");
    BOOST_TEST(locker.wake_at() == never);
}

BOOST_AUTO_TEST_CASE(a_deadline_of_zero)
{
    const slot_id lease = lease_of("A");
    locker.drain(0ms, now);
    BOOST_TEST(effects() == "must stop");
    locker.drop(lease, now);
    BOOST_TEST(effects() == "gone, drained");
}

BOOST_AUTO_TEST_CASE(without_a_deadline)
{
    lease_of("A");
    locker.drain(holdfast::forever, now);
    while (store.calls.empty())
        sleep();
    BOOST_TEST(calls() == "renew A");
    BOOST_TEST(effects() == "");
}

// A later call can bring the deadline forward, never back.
BOOST_AUTO_TEST_CASE(the_earliest_deadline_applies)
{
    lease_of("A");
    locker.drain(2s, now);
    locker.drain(holdfast::forever, now);
    locker.drain(1s, now);
    sleep_until(at(1s) - 1ns);
    BOOST_TEST(effects() == "");
    sleep_until(at(1s));
    BOOST_TEST(effects() == "must stop");
    locker.drain(1s, now); // they are told only once
    sleep_until(at(1450ms));
    BOOST_TEST(effects() == "drained");
}

// Closing ends a drain: the holders are told at once.
BOOST_AUTO_TEST_CASE(closing_during_a_drain)
{
    const slot_id lease = lease_of("A");
    locker.drain(1h, now);
    locker.close(now);
    BOOST_TEST(effects() == "must stop");
    locker.drop(lease, now);
    BOOST_TEST(effects() == "gone, drained, closed");
    BOOST_TEST(locker.wake_at() == never);
}

BOOST_AUTO_TEST_CASE(draining_a_closing_locker)
{
    const slot_id lease = lease_of("A");
    locker.close(now);
    locker.drain(1h, now);
    BOOST_TEST(effects() == "must stop");
    locker.drop(lease, now);
    BOOST_TEST(effects() == "gone, drained, closed");
}

// A lease that the nodes lose does not keep the locker from ending.
BOOST_AUTO_TEST_CASE(a_lease_is_lost_during_a_drain)
{
    lease_of("A");
    locker.drain(1h, now);
    store.lose(claim_of("A"));
    locker.wake(now);
    BOOST_TEST(effects() == "must stop, drained");
}

BOOST_AUTO_TEST_SUITE_END()
