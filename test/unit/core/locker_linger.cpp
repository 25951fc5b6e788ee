// A lease stays in the locker after its release, for the next wait.
#include "unit/core/linger_fixture.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::lock_options;

BOOST_FIXTURE_TEST_SUITE(core_locker_linger, linger_fixture)

BOOST_AUTO_TEST_CASE(the_next_wait_gets_it_without_a_request)
{
    const slot_id first = lease_of("A");
    pass(1s);
    BOOST_TEST(locker.release(first, 77, now));
    BOOST_TEST(effects() == "gone, 77 released");
    BOOST_TEST(calls() == "report waiters A");
    BOOST_TEST(stats().held == 0u);
    BOOST_TEST(stats().lingering == 1u);
    BOOST_TEST(stats().released == 1u);
    // The holder has no lease any more.
    BOOST_TEST(!locker.release(first, 78, now));
    BOOST_TEST(!locker.leases().held(first, now));
    BOOST_TEST((locker.leases().must_stop(first) == errc::not_held));
    BOOST_TEST(locker.extend(first, now) == errc::not_held);
    locker.drop(first, now);
    BOOST_TEST(effects() == "");

    pass(500ms);
    acquire(2);
    BOOST_TEST(calls() == "transfer A");
    const auto e = locker.next_effect();
    BOOST_REQUIRE(e.has_value());
    BOOST_TEST(in_words(*e) == "2 acquired");
    BOOST_TEST(e->lease != first);
    BOOST_TEST(e->fence.value() == 2u); // the first had 1
    BOOST_TEST(locker.leases().valid_until(e->lease) == end);
    BOOST_TEST(stats().held == 1u);
    BOOST_TEST(stats().lingering == 0u);
    BOOST_TEST(stats().resumed == 1u);
    BOOST_TEST(stats().handed_over == 0u);
    BOOST_TEST(stats().attempts == 1u);
}

BOOST_AUTO_TEST_CASE(a_single_attempt_gets_it_as_well)
{
    lingering();
    try_acquire(2);
    BOOST_TEST(effects() == "2 acquired");
    try_acquire(3);
    BOOST_TEST(effects() == "3 ended: nothing");
}

BOOST_AUTO_TEST_CASE(a_dropped_lease_lingers_as_well)
{
    locker.drop(lease_of("A"), now);
    BOOST_TEST(calls() == "report waiters A");
    acquire(2);
    BOOST_TEST(calls() == "transfer A");
}

BOOST_AUTO_TEST_CASE(it_is_given_back_when_its_time_is_over)
{
    lingering();
    sleep_until(at(2s) - 1ns);
    BOOST_TEST(calls() == "");
    sleep_until(at(2s));
    BOOST_TEST(calls() == "release A");
    BOOST_TEST(effects() == "");
    BOOST_TEST(stats().lingering == 0u);
    acquire(2);
    BOOST_TEST(calls() == "attempt A");
}

// Every hold begins a new time.
BOOST_AUTO_TEST_CASE(the_time_counts_from_the_last_release)
{
    lingering();
    pass(1500ms);
    acquire(2);
    locker.release(handed_over(), 78, now);
    calls();
    sleep_until(at(3500ms) - 1ns);
    BOOST_TEST(calls().find("release") == std::string::npos);
    sleep_until(at(3500ms));
    BOOST_TEST(calls().find("release A") != std::string::npos);
}

// A process that stood still does not use it past its time.
BOOST_AUTO_TEST_CASE(it_is_not_used_late)
{
    lingering();
    pass(2s);
    acquire(2);
    BOOST_TEST(calls() == "release A, attempt A");
    BOOST_TEST(stats().resumed == 0u);
}

BOOST_AUTO_TEST_CASE(it_is_renewed_and_looks_for_waiters_then)
{
    usual.linger = 1h;
    const claim_id claim = lingering();
    sleep_until(at(3s));
    BOOST_TEST(calls().starts_with("report waiters A, renew A"));
    store.confirm(claim, store.latest_end(claim));
    locker.wake(now);
    calls();
    BOOST_TEST(stats().renewals == 1u);
    sleep_until(at(5500ms));
    BOOST_TEST(calls() == "");
}

BOOST_AUTO_TEST_CASE(without_renewal_it_ends_with_its_validity)
{
    usual.renewal = holdfast::renewal::manual;
    usual.linger = 1h;
    lingering();
    sleep_until(end - 450ms - 1ns); // the guard
    BOOST_TEST(calls() == "");
    sleep_until(end - 450ms);
    BOOST_TEST(calls() == "release A");
    BOOST_TEST(effects() == "");
}

// It is not in use, so its loss is not reported.
BOOST_AUTO_TEST_CASE(a_loss_is_not_reported)
{
    const claim_id claim = lingering();
    store.lose(claim);
    locker.wake(now);
    BOOST_TEST(effects() == "");
    BOOST_TEST(calls() == "release A");
    BOOST_TEST(stats().lost == 0u);
    acquire(2);
    BOOST_TEST(calls() == "attempt A");
}

// The backend has reported it, but the locker was not woken yet.
BOOST_AUTO_TEST_CASE(a_lease_that_was_lost_is_not_used)
{
    store.lose(lingering());
    acquire(2);
    BOOST_TEST(calls() == "release A, attempt A");
    BOOST_TEST(effects() == "");
}

BOOST_AUTO_TEST_CASE(it_is_given_back_at_once_when_other_processes_wait)
{
    store.others_wait(lingering());
    locker.wake(now);
    BOOST_TEST(calls() == "release A");
    BOOST_TEST(effects() == "");
}

BOOST_AUTO_TEST_CASE(nothing_lingers_while_other_processes_wait)
{
    lingering();
    acquire(2);
    const slot_id lease = handed_over();
    store.others_wait(claim_of("A"));
    locker.wake(now);
    calls();
    locker.release(lease, 78, now);
    BOOST_TEST(calls() == "release A");
}

// Those that this process waited for are followed by others, most likely.
BOOST_AUTO_TEST_CASE(nothing_lingers_after_a_wait_in_the_queue)
{
    store.has_queue = true;
    acquire(1);
    store.enqueue(store.latest);
    locker.wake(now);
    const slot_id lease = granted();
    calls();
    locker.release(lease, 77, now);
    BOOST_TEST(calls() == "release A");
}

BOOST_AUTO_TEST_CASE(local_waits_go_first)
{
    const slot_id first = lease_of("A");
    acquire(2);
    locker.release(first, 77, now);
    BOOST_TEST(calls() == "transfer A");
    BOOST_TEST(stats().handed_over == 1u);
}

// While the store tells of others, no probe is needed, and no number of turns is too large.
BOOST_AUTO_TEST_CASE(turns_count_only_while_others_may_wait_unnoticed)
{
    usual.handoff_limit = 3;
    lingering();
    for (std::uint64_t tag = 2; tag < 20; ++tag) {
        acquire(tag);
        locker.release(handed_over(), 100 + tag, now);
    }
    BOOST_TEST(stats().resumed == 18u);
    BOOST_TEST(stats().attempts == 1u);
    BOOST_TEST(calls().find("probe") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_store_that_cannot_tell_counts_turns)
{
    usual.handoff_limit = 3;
    store.can_report = false;
    lingering();
    for (std::uint64_t tag = 2; tag < 5; ++tag) {
        acquire(tag);
        locker.release(handed_over(), 100 + tag, now);
    }
    BOOST_TEST(stats().resumed == 3u);
    calls();
    acquire(5); // others get a pause to find the resource free
    BOOST_TEST(calls() == "release A");
    sleep_until_asked();
    BOOST_TEST(now > start);
}

BOOST_AUTO_TEST_CASE(without_local_turns_nothing_lingers)
{
    usual.handoff_limit = 0;
    const slot_id lease = lease_of("A");
    locker.release(lease, 77, now);
    BOOST_TEST(calls() == "release A");
}

BOOST_AUTO_TEST_CASE(a_lease_without_more_tokens_is_given_back)
{
    const slot_id lease = lease_of("A");
    store.has_next_fence = false;
    locker.release(lease, 77, now);
    BOOST_TEST(calls() == "release A");
}

// A lease on other terms would be a wrong one.
BOOST_AUTO_TEST_CASE(a_wait_on_other_terms_asks_the_nodes)
{
    lingering();
    lock_options other = usual;
    other.ttl = 8s;
    locker.acquire(2, "A", terms_of(other), 10s, false, now);
    BOOST_TEST(calls() == "release A, attempt A");
    BOOST_TEST(store.claims[store.latest].terms.ttl == duration(8s));
}

BOOST_AUTO_TEST_CASE(a_wait_with_min_hold_asks_the_nodes)
{
    lingering();
    lock_options other = usual;
    other.linger = 0ms;
    other.min_hold = 1s;
    locker.acquire(2, "A", terms_of(other), 10s, false, now);
    BOOST_TEST(calls() == "release A, attempt A");
}

// The limit of the holder before does not concern the next one.
BOOST_AUTO_TEST_CASE(every_holder_has_its_own_max_hold)
{
    usual.max_hold = 3s;
    lingering();
    pass(1s);
    acquire(2);
    const slot_id lease = handed_over();
    BOOST_TEST(locker.leases().valid_until(lease) == at(4s));
}

// A lease that its work was told to stop for is not given to others.
BOOST_AUTO_TEST_CASE(a_lease_in_its_guard_time_does_not_linger)
{
    usual.max_hold = 3s;
    const slot_id lease = lease_of("A");
    now = at(3s) - 450ms;
    locker.wake(now);
    calls();
    locker.release(lease, 77, now);
    BOOST_TEST(calls() == "release A");
}

BOOST_AUTO_TEST_CASE(a_drain_ends_it)
{
    lingering();
    locker.drain(10s, now);
    BOOST_TEST(calls() == "release A");
    BOOST_TEST(effects() == "drained");
}

BOOST_AUTO_TEST_CASE(nothing_lingers_while_it_drains)
{
    const slot_id lease = lease_of("A");
    locker.drain(10s, now);
    calls();
    locker.release(lease, 77, now);
    BOOST_TEST(calls() == "release A");
    BOOST_TEST(effects() == "gone, drained");
}

BOOST_AUTO_TEST_CASE(a_close_ends_all)
{
    for (const char* name : {"A", "B", "C"})
        locker.drop(lease_of(name), now);
    calls();
    BOOST_TEST(stats().lingering == 3u);
    effects();
    locker.close(now);
    BOOST_TEST(calls() == "release A, release B, release C, close");
    BOOST_TEST(effects() == "closed");
    BOOST_TEST((locker.wake_at() == never));
}

BOOST_AUTO_TEST_SUITE_END()
