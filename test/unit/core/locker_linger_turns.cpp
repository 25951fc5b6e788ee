// When a lease that lingers is renewed, and how long the turns of one process last with it.
#include "unit/core/linger_fixture.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;

namespace {

struct turns_fixture : linger_fixture {
    // The lease lingers on after the next use of it.
    void expect_resumed(slot_id)
    {
        BOOST_TEST(calls().starts_with("transfer A"));
        locker.release(handed_over(), 100, now);
        calls();
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(core_locker_linger_turns, turns_fixture)

// Polling clients get their turn, too.
BOOST_AUTO_TEST_CASE(the_time_of_the_turns_is_limited)
{
    usual.handoff_time = 1s;
    const slot_id first = lease_of("A");
    pass(600ms);
    locker.release(first, 77, now);
    effects();
    acquire(2);
    const slot_id second = handed_over();
    BOOST_TEST(second != 0u);
    pass(400ms);
    locker.release(second, 78, now);
    calls();
    acquire(3);
    BOOST_TEST(calls() == "release A");
    sleep_until_asked();
    BOOST_TEST(calls() == "attempt A");
}

// While a lease lingers, no other process waits: it would have been noticed.
BOOST_AUTO_TEST_CASE(pauses_are_no_part_of_the_time)
{
    usual.handoff_time = 1s;
    usual.polling_window = 0ms;
    usual.linger = 5s;
    lingering();
    for (std::uint64_t tag = 2; tag < 5; ++tag) {
        pass(2s);
        acquire(tag);
        locker.release(handed_over(), 100 + tag, now);
    }
    BOOST_TEST(stats().resumed == 3u);
    BOOST_TEST(stats().attempts == 1u);
}

// Otherwise they would never find the resource free.
BOOST_AUTO_TEST_CASE(polling_clients_get_a_window_in_each_period)
{
    usual.handoff_time = 1s; // the period is 25 windows of 200 ms
    usual.linger = 5s;
    store.has_queue = true;
    lingering();
    std::uint64_t tag = 1;
    for (int period = 0; period < 3; ++period) {
        for (int i = 0; i < 2; ++i) {
            pass(2s);
            expect_resumed(acquire(++tag));
        }
        pass(1s);
        acquire(++tag);
        BOOST_TEST(calls() == "leave open A, release A, attempt in queue A");
        locker.release(granted(), 100 + tag, now);
        calls();
    }
}
// They wait that long for a lease that lingers anyway. Otherwise each acquire would wait for a
// window where the resource is used once in a while.
BOOST_AUTO_TEST_CASE(windows_are_no_more_frequent_than_a_lease_may_linger)
{
    usual.handoff_time = 1s; // the period is 25 windows of 200 ms
    usual.linger = 6s;
    store.has_queue = true;
    lingering();
    pass(5900ms);
    expect_resumed(acquire(2));
    pass(100ms);
    acquire(3);
    BOOST_TEST(calls() == "leave open A, release A, attempt in queue A");
}

// It would end in the window, although nobody else has the resource.
BOOST_AUTO_TEST_CASE(a_wait_that_is_not_longer_than_two_windows_leaves_none)
{
    usual.handoff_time = 1s;
    usual.linger = 5s;
    store.has_queue = true;
    lingering();
    pass(4s);
    acquire(2);
    locker.release(handed_over(), 102, now);
    pass(2s);
    calls();
    expect_resumed(locker_fixture::acquire(3, "A", 400ms));
    expect_resumed(try_acquire(4));
    locker_fixture::acquire(5, "A", 401ms);
    BOOST_TEST(calls() == "leave open A, release A, attempt in queue A");
}
BOOST_AUTO_TEST_CASE(polling_clients_get_a_window_without_a_queue)
{
    store.has_queue = false;
    usual.handoff_time = 1s;
    usual.linger = 5s;
    lingering();
    pass(4s);
    acquire(2);
    locker.release(handed_over(), 102, now);
    pass(1s);
    calls();
    acquire(3);
    BOOST_TEST(calls() == "leave open A, release A");
    sleep_until(at(5200ms) - 1ns);
    BOOST_TEST(calls() == "");
    sleep_until(at(5200ms));
    BOOST_TEST(calls() == "attempt A");
}

BOOST_AUTO_TEST_CASE(pauses_in_which_others_are_not_noticed)
{
    usual.handoff_time = 1s;
    usual.linger = 5s;
    store.can_report = false;
    lingering();
    pass(1s);
    acquire(2);
    BOOST_TEST(calls() == "release A");
}

// Also if it lingers for less than is left of it.
BOOST_AUTO_TEST_CASE(a_lease_that_outlasts_its_lingering_is_renewed_as_well)
{
    usual.linger = 4s;
    lingering();
    sleep_until(at(3s));
    BOOST_TEST(calls().starts_with("report waiters A, renew A"));
    sleep_until(at(4s) - 1ns);
    BOOST_TEST(calls().find("release") == std::string::npos);
    sleep_until(at(4s));
    BOOST_TEST(calls() == "release A");
}

// A notice may be lost while the lease is in use, too.
BOOST_AUTO_TEST_CASE(it_looks_for_waiters_while_it_is_in_use)
{
    lingering();
    acquire(2);
    effects();
    calls();
    sleep_until(at(3s));
    BOOST_TEST(calls().starts_with("report waiters A, renew A"));
}

// A backend that has not been told that a lease may linger may not notice others.
BOOST_AUTO_TEST_CASE(a_lease_that_was_asked_for_without_it_does_not_linger)
{
    usual.linger = 0s;
    const slot_id first = lease_of("A");
    usual.linger = 2s;
    acquire(2);
    locker.release(first, 77, now);
    const slot_id second = handed_over();
    BOOST_REQUIRE(second != 0u);
    calls();
    locker.release(second, 78, now);
    BOOST_TEST(calls() == "release A");
}

BOOST_AUTO_TEST_CASE(an_attempt_without_it_does_not_serve_a_wait_with_it)
{
    usual.linger = 0s;
    const slot_id wait = acquire(1);
    usual.linger = 2s;
    acquire(2);
    calls();
    locker.cancel(wait, false, now);
    BOOST_TEST(calls() == "abandon A, attempt A");
    BOOST_TEST(store.claims[store.latest].terms.lingers);
}

// Only then is at least the ttl less `handoff_time` left of a lease that is transferred.
BOOST_AUTO_TEST_CASE(an_old_lease_that_is_not_renewed_is_not_transferred)
{
    usual.renewal = holdfast::renewal::manual;
    usual.handoff_time = 3s;
    usual.linger = 8s;
    lingering();
    pass(4s);
    acquire(2);
    const slot_id second = handed_over();
    BOOST_REQUIRE(second != 0u);
    acquire(3);
    calls();
    locker.release(second, 78, now);
    BOOST_TEST(calls().starts_with("release A"));
}

// One that is renewed begins with most of its time left, also after a holder that did not renew it.
BOOST_AUTO_TEST_CASE(an_old_lease_is_not_transferred_to_a_holder_that_renews_it)
{
    usual.handoff_time = 8s;
    for (const auto& [name, age] : {std::pair("young", 2s), std::pair("old", 4s)}) {
        usual.renewal = holdfast::renewal::manual;
        locker_fixture::acquire(1, name, holdfast::forever);
        const slot_id first = granted();
        usual.renewal = holdfast::renewal::automatic;
        locker_fixture::acquire(2, name, holdfast::forever);
        pass(age);
        calls();
        locker.release(first, 77, now);
        BOOST_TEST(calls().starts_with(age == 2s ? "transfer young" : "release old"));
    }
}

// Where validity is that of a session, a store may grant less than the ttl.
BOOST_AUTO_TEST_CASE(a_young_lease_that_is_not_renewed_is_transferred)
{
    usual.renewal = holdfast::renewal::manual;
    usual.handoff_time = 1s;
    acquire(1);
    acquire(2);
    store.grant(1, now + 4s);
    locker.wake(now);
    const slot_id first = handed_over();
    acquire(3);
    pass(900ms);
    calls();
    locker.release(first, 77, now);
    BOOST_TEST(calls() == "transfer A");
}

// A lease that its users extend again and again has no other renewals.
BOOST_AUTO_TEST_CASE(an_extension_looks_for_waiters)
{
    usual.renewal = holdfast::renewal::manual;
    lingering();
    acquire(2);
    const slot_id second = handed_over();
    calls();
    locker.extend(second, now);
    BOOST_TEST(calls() == "renew again A, report waiters A");
}

// It has no time for a pause.
BOOST_AUTO_TEST_CASE(a_single_attempt_asks_at_once_when_the_turns_are_over)
{
    store.has_queue = store.can_report = false;
    usual.handoff_time = 1s;
    usual.linger = 5s;
    lingering();
    pass(2s);
    try_acquire(2);
    BOOST_TEST(calls() == "release A, attempt A");
}

BOOST_AUTO_TEST_SUITE_END()
