// A resource stays locked for `min_hold`, although its lease has ended.
#include "core/locker_core.hpp"

#include "support/locker_fixture.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;

namespace {

struct min_hold_fixture : lease_fixture {
    min_hold_fixture()
    {
        usual.min_hold = 5s;
        usual.handoff_time = 9s; // others are due no turn
    }
    static constexpr time_point over = at(std::chrono::milliseconds(5000));
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(core_locker_min_hold, min_hold_fixture)

BOOST_AUTO_TEST_CASE(an_early_release_leaves_the_key_until_then)
{
    const slot_id lease = lease_of("A");
    pass(1s);
    BOOST_TEST(locker.release(lease, 77, now));
    BOOST_TEST(effects() == "gone, 77 released");
    BOOST_TEST(!locker.leases().alive(lease));
    BOOST_TEST(stats().held == 0u);
    BOOST_TEST(!locker.release(lease, 78, now));
    locker.drop(lease, now); // its object is destroyed now
    sleep_until(over - 1ns);
    BOOST_TEST(calls() == ""); // neither released nor renewed
    sleep_until(over);
    BOOST_TEST(calls() == "release A");
    sleep_until(over + 20s);
    BOOST_TEST(calls() == "");
}

// The key must last until then, and so must a lease that is not renewed.
BOOST_AUTO_TEST_CASE(leases_that_need_a_whole_ttl)
{
    const auto needs = [&](const char* resource) {
        lease_of(resource);
        return store.claims[store.latest].terms.whole_ttl;
    };
    BOOST_TEST(needs("A"));
    usual.min_hold = 0ms;
    BOOST_TEST(!needs("B"));
    usual.renewal = holdfast::renewal::manual;
    BOOST_TEST(needs("C"));
}

BOOST_AUTO_TEST_CASE(an_attempt_without_it_does_not_serve_a_wait_that_needs_it)
{
    usual.min_hold = 0ms;
    const slot_id wait = acquire(1);
    usual.renewal = holdfast::renewal::manual;
    acquire(2);
    calls();
    locker.cancel(wait, false, now);
    BOOST_TEST(calls() == "abandon A, attempt A");
    BOOST_TEST(store.claims[store.latest].terms.whole_ttl);
}

BOOST_AUTO_TEST_CASE(a_dropped_lease_leaves_the_key_as_well)
{
    locker.drop(lease_of("A"), now);
    sleep_until(over - 1ns);
    BOOST_TEST(calls() == "");
    sleep_until(over);
    BOOST_TEST(calls() == "release A");
}

BOOST_AUTO_TEST_CASE(a_later_release_is_a_usual_one)
{
    const slot_id lease = lease_of("A");
    now = over;
    locker.release(lease, 77, now);
    BOOST_TEST(calls() == "release A");
}

// Waits of this locker are kept out, too: the lease is not transferred to them.
BOOST_AUTO_TEST_CASE(local_waits_are_served_afterwards)
{
    const slot_id lease = lease_of("A");
    acquire(2);
    locker.release(lease, 77, now);
    sleep_until(over - 1ns);
    BOOST_TEST(calls() == "");
    sleep_until(over);
    BOOST_TEST(calls() == "release A, attempt A");
}

BOOST_AUTO_TEST_CASE(a_lease_is_not_transferred_later_either)
{
    const slot_id lease = lease_of("A");
    acquire(2);
    now = over;
    locker.release(lease, 77, now);
    BOOST_TEST(calls() == "release A, attempt A");
}

// The lease ends without a renewal before the time is over, as the drift is subtracted.
BOOST_AUTO_TEST_CASE(a_lease_that_ends_by_the_clock_leaves_the_key_as_well)
{
    usual.min_hold = 9s;
    usual.renewal = holdfast::renewal::manual;
    lease_of("A");
    sleep_until(end);
    BOOST_TEST(effects() == "must stop");
    BOOST_TEST(calls() == "");
    BOOST_TEST(stats().lost == 1u);
    sleep_until(at(9s));
    BOOST_TEST(calls() == "release A");
}

BOOST_AUTO_TEST_CASE(a_lease_that_the_backend_has_lost_is_cleaned_up_at_once)
{
    lease_of("A");
    store.lose(claim_of("A"));
    locker.wake(now);
    BOOST_TEST(calls() == "release A");
}

// Some nodes have lost the key. The others keep it until `min_hold` is over.
BOOST_AUTO_TEST_CASE(a_lease_that_the_backend_has_lost_in_part_leaves_the_key)
{
    lease_of("A");
    acquire(2);
    store.lose(claim_of("A"), true);
    locker.wake(now);
    BOOST_TEST(stats().lost == 1u);
    sleep_until(over - 1ns);
    BOOST_TEST(calls() == "");
    sleep_until(over);
    BOOST_TEST(calls() == "release A, attempt A");
}

BOOST_AUTO_TEST_CASE(a_claim_that_the_backend_loses_in_part_while_it_rests_rests_on)
{
    const slot_id lease = lease_of("A");
    locker.release(lease, 77, now);
    store.lose(claim_of("A"), true);
    locker.wake(now);
    BOOST_TEST(calls() == "");
    store.lose(claim_of("A")); // the rest of the keys is gone
    locker.wake(now);
    BOOST_TEST(calls() == "release A");
}

// For example by force_release().
BOOST_AUTO_TEST_CASE(a_claim_that_the_backend_loses_afterwards_rests_no_longer)
{
    const slot_id lease = lease_of("A");
    acquire(2);
    locker.release(lease, 77, now);
    store.lose(claim_of("A"));
    locker.wake(now);
    BOOST_TEST(calls() == "release A, attempt A");
    store.refuse(store.latest);
    locker.wake(now);
    sleep_until(over + 1s);
    BOOST_TEST(calls().find("release") == std::string::npos);
}

// A claim that is not renewed is lost to the backend when its validity is over. That is a drift
// before its key expires, and before the end of a `min_hold` as long as the ttl.
BOOST_AUTO_TEST_CASE(a_claim_that_runs_out_while_it_rests_rests_on)
{
    usual.min_hold = 10s;
    usual.handoff_time = 20s;
    const slot_id lease = lease_of("A");
    acquire(2, "A", 30s);
    locker.release(lease, 77, now);
    sleep_until(end);
    store.lose(claim_of("A"));
    locker.wake(now);
    sleep_until(at(10s) - 1ns);
    BOOST_TEST(calls() == "");
    sleep_until(at(10s));
    BOOST_TEST(calls() == "release A, attempt A");
}

BOOST_AUTO_TEST_CASE(a_held_lease_that_runs_out_leaves_the_key_as_well)
{
    usual.min_hold = 10s;
    usual.renewal = holdfast::renewal::manual;
    lease_of("A");
    now = end;
    store.lose(claim_of("A"));
    locker.wake(now);
    BOOST_TEST(stats().lost == 1u);
    BOOST_TEST(calls() == "");
    sleep_until(at(10s));
    BOOST_TEST(calls() == "release A");
}

// The key ends by its ttl.
BOOST_AUTO_TEST_CASE(a_locker_that_closes_leaves_the_key)
{
    const slot_id lease = lease_of("A");
    locker.release(lease, 77, now);
    effects();
    locker.close(now);
    BOOST_TEST(effects() == "closed");
    BOOST_TEST((locker.wake_at() == never));
    BOOST_TEST(calls() == "leave A, close");
}

BOOST_AUTO_TEST_CASE(a_holder_that_is_stopped_by_a_close_leaves_the_key)
{
    const slot_id lease = lease_of("A");
    locker.close(now);
    locker.drop(lease, now);
    BOOST_TEST(calls() == "leave A, close");
    BOOST_TEST(effects().find("closed") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
