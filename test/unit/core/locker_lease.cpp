// The life of a lease: release, renewal, loss.
#include "core/locker_core.hpp"

#include "support/locker_fixture.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::release_outcome;

BOOST_FIXTURE_TEST_SUITE(core_locker_lease, lease_fixture)

// A lease reports whether it is alive and held, and until when.
BOOST_AUTO_TEST_CASE(a_lease_reports_its_state)
{
    const slot_id lease = lease_of("A");
    BOOST_TEST(locker.leases().alive(lease));
    BOOST_TEST(locker.leases().held(lease, now));
    BOOST_TEST(locker.leases().valid_until(lease) == end);
    BOOST_TEST(locker.leases().must_stop(lease) == errc{});
    BOOST_TEST(!locker.leases().held(lease, end)); // by the clock, before any wake()
    BOOST_TEST(!locker.leases().alive(0));
    BOOST_TEST(locker.leases().must_stop(0) == errc::not_held);
    BOOST_TEST(locker.leases().valid_until(0) == long_ago);
}

// A release reaches the backend before the attempt of the next local waiter. Its outcome reaches
// the caller.
BOOST_AUTO_TEST_CASE(releases_before_the_next_attempt)
{
    const slot_id lease = lease_of("A");
    usual.ttl = 8s; // other parameters: the lease cannot be transferred
    acquire(2);
    BOOST_TEST(locker.release(lease, 77, now));
    BOOST_TEST(calls() == "release A, attempt A");
    BOOST_TEST(effects() == "gone");
    BOOST_TEST(!locker.leases().alive(lease));
    BOOST_TEST(locker.leases().must_stop(lease) == errc::not_held);
    store.grant(2);
    store.end_release(1, release_outcome::unconfirmed);
    locker.wake(now);
    BOOST_TEST(effects() == "2 acquired, 77 unconfirmed");
}

BOOST_AUTO_TEST_CASE(a_second_release_is_refused)
{
    const slot_id lease = lease_of("A");
    BOOST_TEST(locker.release(lease, 77, now));
    BOOST_TEST(!locker.release(lease, 78, now));
    store.end_release(1);
    locker.wake(now);
    BOOST_TEST(!locker.release(lease, 79, now));
    BOOST_TEST(!locker.release(0, 80, now));
    locker.drop(lease, now); // its object is destroyed now
    BOOST_TEST(effects() == "gone, 77 released");
    BOOST_TEST(calls() == "release A");
    BOOST_TEST(stats().released == 1u);
}

// A dropped lease is given back. The outcome is not reported.
BOOST_AUTO_TEST_CASE(a_dropped_lease_is_given_back)
{
    const slot_id lease = lease_of("A");
    locker.drop(lease, now);
    locker.drop(lease, now);
    store.end_release(1);
    locker.wake(now);
    BOOST_TEST(effects() == "gone");
    BOOST_TEST(calls() == "release A");
    BOOST_TEST(stats().held == 0u);
    BOOST_TEST(locker.wake_at() == never);
}

// If a lease is dropped during its release, the outcome is still reported.
BOOST_AUTO_TEST_CASE(a_release_completes_after_its_lease_is_dropped)
{
    const slot_id lease = lease_of("A");
    locker.release(lease, 77, now);
    locker.drop(lease, now);
    store.end_release(1);
    locker.wake(now);
    BOOST_TEST(effects() == "gone, 77 released");
}

// Leases of about the same age are renewed in one call, after a third of the ttl.
BOOST_AUTO_TEST_CASE(renews_in_batches)
{
    for (const char* const resource : {"A", "B", "C"})
        lease_of(resource);
    sleep();
    BOOST_TEST(now <= at(3s));
    BOOST_TEST(now > at(3s) - 71ms);
    const std::string together = calls();
    BOOST_TEST(together.size() == std::string("renew A B C").size());
    BOOST_TEST(together.substr(0, 6) == "renew ");
    BOOST_TEST(effects() == "");
}

// A confirmed renewal extends the lease and is counted. An unconfirmed one is tried again.
BOOST_AUTO_TEST_CASE(a_confirmed_renewal_extends_the_lease)
{
    const slot_id lease = lease_of("A");
    sleep();
    const time_point renewed = now;
    BOOST_TEST(calls() == "renew A");
    sleep();
    BOOST_TEST(now == renewed + store.how_patient);
    BOOST_TEST(calls() == "renew A");
    store.confirm(1, now + 9s - 92ms);
    locker.wake(now);
    BOOST_TEST(locker.leases().valid_until(lease) == now + 9s - 92ms);
    BOOST_TEST(stats().renewals == 1u);
    const time_point confirmed = now;
    sleep();
    BOOST_TEST(now > confirmed + 2900ms);
}

// Without an answer the work is told to stop a guard time before the end. At the end the lease is
// lost and given back, and an attempt is made for the next waiter.
BOOST_AUTO_TEST_CASE(silence_ends_a_lease)
{
    const slot_id lease = lease_of("A");
    acquire(2, "A", holdfast::forever);
    sleep_until(end - 450ms - 1ns);
    BOOST_TEST(effects() == "");
    sleep_until(end - 450ms);
    BOOST_TEST(effects() == "must stop");
    BOOST_TEST(locker.leases().must_stop(lease) == errc::lease_lost);
    BOOST_TEST(locker.leases().held(lease, now));
    calls();
    sleep_until(end - 1ns);
    BOOST_TEST(calls() == "");
    sleep_until(end);
    BOOST_TEST(effects() == "");
    BOOST_TEST(calls() == "release A");
    BOOST_TEST(!locker.leases().held(lease, now));
    BOOST_TEST(locker.leases().alive(lease)); // its holder has not released it
    BOOST_TEST(locker.leases().valid_until(lease) == long_ago);
    BOOST_TEST(stats().lost == 1u);
    BOOST_TEST(stats().held == 0u);
    sleep_until(end + 8ms); // held for longer than `handoff_time`: a pause
    BOOST_TEST(calls() == "attempt A");
}

// When the backend reports a loss, the work under the lease is told to stop before another holder
// may begin.
BOOST_AUTO_TEST_CASE(loss_stops_work_first)
{
    lease_of("A");
    acquire(2, "A", holdfast::forever);
    store.grant_at_once = true;
    store.lose(1);
    locker.wake(now);
    BOOST_TEST(effects() == "must stop, 2 acquired");
    BOOST_TEST(calls() == "release A, attempt A");
}

// A loss is reported once: not again when the backend repeats it, and not after the work was told
// to stop.
BOOST_AUTO_TEST_CASE(loss_is_reported_once)
{
    lease_of("A");
    sleep_until(end - 100ms);
    BOOST_TEST(effects() == "must stop");
    store.lose(1);
    store.lose(1);
    locker.wake(now);
    BOOST_TEST(effects() == "");
    BOOST_TEST(stats().lost == 1u);
}

// The release of a lost lease has the outcome `expired`. Keys of other clients are not touched.
BOOST_AUTO_TEST_CASE(release_after_loss_is_expired)
{
    const slot_id lease = lease_of("A");
    store.lose(1);
    locker.wake(now);
    BOOST_TEST(effects() == "must stop");
    store.end_release(1, release_outcome::released); // of the clean-up, not of a caller's release
    BOOST_TEST(locker.release(lease, 77, now));
    BOOST_TEST(effects() == "77 expired, gone");
    BOOST_TEST(!locker.release(lease, 78, now));
    BOOST_TEST(calls() == "release A");
}

// A release after the end of the lease notices that by the clock, without a wake().
BOOST_AUTO_TEST_CASE(release_checks_the_clock)
{
    const slot_id lease = lease_of("A");
    now = end;
    BOOST_TEST(locker.release(lease, 77, now));
    BOOST_TEST(effects() == "must stop, 77 expired, gone");
    BOOST_TEST(calls() == "release A");
}

// The loss of one lease and the drop of another at the same moment do not affect a third one.
BOOST_AUTO_TEST_CASE(loss_and_drop_at_the_same_moment)
{
    const slot_id a = lease_of("A"), b = lease_of("B"), c = lease_of("C");
    store.lose(claim_of("A"));
    locker.drop(b, now);
    BOOST_TEST(effects() == "must stop, gone");
    BOOST_TEST(locker.leases().must_stop(a) == errc::lease_lost);
    BOOST_TEST(locker.leases().must_stop(b) == errc::not_held);
    BOOST_TEST(locker.leases().must_stop(c) == errc{});
}

BOOST_AUTO_TEST_SUITE_END()
