// The queues of waiters: their order, and when the locker asks the backend.
#include "core/locker_core.hpp"

#include "support/locker_fixture.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;

BOOST_FIXTURE_TEST_SUITE(core_locker_queue, locker_fixture)

// A free resource is requested at once, with the parameters of the lock. The grant goes to the
// waiter that made the attempt.
BOOST_AUTO_TEST_CASE(asks_at_once)
{
    BOOST_TEST(acquire(1) != 0u);
    BOOST_TEST(calls() == "attempt A");
    BOOST_TEST(effects() == "");
    const claim_params& terms = store.claims[1].terms;
    BOOST_TEST(terms.ttl == duration(9s));
    BOOST_TEST(terms.drift == duration(92ms));
    BOOST_TEST(terms.guard == duration(450ms)); // a grant with less validity left is useless
    store.grant(1);
    locker.wake(now);
    BOOST_TEST(effects() == "1 acquired");
    BOOST_TEST(stats().held == 1u);
    BOOST_TEST(stats().waiting == 0u);
}

BOOST_AUTO_TEST_CASE(the_holder_gets_the_fencing_token)
{
    acquire(1);
    store.grant(1, at(8s), 42);
    locker.wake(now);
    const auto e = locker.next_effect();
    BOOST_REQUIRE(e.has_value());
    BOOST_TEST((e->fence == std::optional<std::uint64_t>(42)));
}

// Waiters for one resource are served in order, and only the first of them makes attempts.
BOOST_AUTO_TEST_CASE(first_come_first_served)
{
    for (std::uint64_t tag = 1; tag <= 4; ++tag)
        acquire(tag);
    BOOST_TEST(calls() == "attempt A");
    store.grant(store.latest);
    locker.wake(now);
    for (std::uint64_t tag = 1; tag <= 4; ++tag) {
        const auto e = locker.next_effect();
        BOOST_REQUIRE(e.has_value());
        BOOST_TEST(in_words(*e) == std::to_string(tag) + " acquired");
        locker.drop(e->lease, now);
        const auto gone = locker.next_effect();
        BOOST_REQUIRE(gone.has_value());
        BOOST_TEST(in_words(*gone) == "gone");
    }
    BOOST_TEST(calls() == "transfer A, transfer A, transfer A, release A");
}

BOOST_AUTO_TEST_CASE(resources_are_independent)
{
    acquire(1, "A");
    acquire(2, "B");
    BOOST_TEST(calls() == "attempt A, attempt B");
    store.grant(2);
    locker.wake(now);
    BOOST_TEST(effects() == "2 acquired");
}

// A waiter that is cancelled behind others leaves at once, without an effect on the others.
BOOST_AUTO_TEST_CASE(a_cancelled_waiter_leaves_without_a_trace)
{
    acquire(1);
    const slot_id second = acquire(2);
    acquire(3);
    calls();
    BOOST_TEST(locker.cancel(second, true, now));
    BOOST_TEST(!locker.cancel(second, false, now));
    BOOST_TEST(calls() == "");
    BOOST_TEST(effects() == "");
    BOOST_TEST(stats().waiting == 2u);
    locker.drop(granted(), now);
    BOOST_TEST(effects() == "gone, 3 acquired");
}

// When the waiter that made the attempt is cancelled, the attempt goes on for the next waiter: it
// may have a place in a queue, and its grant need not be given back.
BOOST_AUTO_TEST_CASE(an_attempt_of_a_cancelled_waiter_goes_to_the_next)
{
    const slot_id first = acquire(1);
    acquire(2);
    calls();
    BOOST_TEST(!locker.cancel(first, true, now)); // not free of consequences
    BOOST_TEST(locker.cancel(first, false, now));
    BOOST_TEST(calls() == "");
    BOOST_TEST(effects() == "");
    store.grant(1);
    locker.wake(now);
    BOOST_TEST(effects() == "2 acquired");
}

// The same when the waiter times out.
BOOST_AUTO_TEST_CASE(an_attempt_of_a_waiter_that_timed_out_goes_to_the_next)
{
    acquire(1, "A", 100ms);
    acquire(2);
    sleep_until(at(100ms));
    BOOST_TEST(effects() == "1 ended: unreachable");
    BOOST_TEST(calls() == "attempt A");
    BOOST_TEST(granted() != 0u);
}

// The attempt is abandoned if there is no next waiter, or if the next one wants other lease
// parameters.
BOOST_AUTO_TEST_CASE(an_attempt_that_no_waiter_can_use_is_abandoned)
{
    locker.cancel(acquire(1), false, now);
    BOOST_TEST(calls() == "attempt A, abandon A");
    const slot_id first = acquire(2);
    usual.ttl = 8s;
    acquire(3);
    calls();
    BOOST_TEST(locker.cancel(first, false, now));
    BOOST_TEST(calls() == "abandon A, attempt A");
    store.grant(3);
    locker.wake(now);
    BOOST_TEST(effects() == "3 acquired");
}

// Waiting in the backend's queue is better than retrying: the locker queues after the first
// refusal, without a pause. If that attempt is refused too, there is some trouble, and a pause is
// due.
BOOST_AUTO_TEST_CASE(a_refused_attempt_is_repeated_in_the_queue)
{
    store.has_queue = true;
    acquire(1);
    refuse();
    BOOST_TEST(calls() == "attempt A, attempt in queue A");
    refuse();
    BOOST_TEST(calls() == "watch A");
    sleep_until_asked();
    BOOST_TEST(calls() == "attempt in queue A");
    BOOST_TEST(granted() != 0u);
}

// try_acquire() does not wait in queues.
BOOST_AUTO_TEST_CASE(a_single_attempt_does_not_wait_in_the_queue)
{
    store.has_queue = true;
    try_acquire(1);
    refuse();
    BOOST_TEST(effects() == "1 ended: nothing");
    BOOST_TEST(calls() == "attempt A");
}

// The errors of one resource do not affect the next one that uses the same slot.
BOOST_AUTO_TEST_CASE(a_new_queue_has_no_errors_of_an_earlier_one)
{
    const slot_id first = acquire(1, "A");
    refuse(errc::too_late);
    locker.cancel(first, false, now);
    acquire(2, "B", 100ms);
    acquire(3, "B", 100ms);
    sleep_until(at(100ms));
    BOOST_TEST(effects() == "2 ended: unreachable, 3 ended: unreachable");
}

// A refused attempt may have had effects: a cancellation that must be free of consequences is too
// late.
BOOST_AUTO_TEST_CASE(a_refused_attempt_may_have_had_effects)
{
    const slot_id first = acquire(1);
    refuse();
    BOOST_TEST(!locker.cancel(first, true, now));
    BOOST_TEST(locker.cancel(first, false, now));
    BOOST_TEST(locker.wake_at() == never);
}

// After a grant there is nothing left to cancel: the lease is on its way to the caller.
BOOST_AUTO_TEST_CASE(a_grant_cannot_be_cancelled)
{
    const slot_id wait = acquire(1);
    granted();
    BOOST_TEST(!locker.cancel(wait, false, now));
    BOOST_TEST(calls() == "attempt A");
}

// A wait ends at its deadline and not before. Its error says that earlier waiters held the
// resource.
BOOST_AUTO_TEST_CASE(a_wait_behind_others_ends_as_contended)
{
    acquire(1, "A", holdfast::forever);
    granted();
    acquire(2, "A", 100ms);
    sleep_until(at(100ms) - 1ns);
    BOOST_TEST(effects() == "");
    sleep_until(at(100ms));
    BOOST_TEST(effects() == "2 ended: contended");
    BOOST_TEST(calls() == "attempt A");
}

// A waiter with an open attempt gets the error that the backend expects of the attempt.
BOOST_AUTO_TEST_CASE(a_wait_with_an_open_attempt_ends_as_the_backend_says)
{
    acquire(1, "A", 100ms);
    sleep_until(at(100ms));
    BOOST_TEST(effects() == "1 ended: unreachable");
    BOOST_TEST(calls() == "attempt A, abandon A");
    store.outlook_is = errc::contended;
    acquire(2, "A", 100ms);
    sleep_until(at(200ms));
    BOOST_TEST(effects() == "2 ended: contended");
}

// The result of a finished attempt counts for more than the expected result of an open one.
BOOST_AUTO_TEST_CASE(a_wait_ends_with_its_last_error)
{
    for (const errc reason : {errc::contended, errc::unreachable, errc::too_late}) {
        const time_point begin = now;
        acquire(1, "A", 5ms);
        refuse(reason);
        sleep_until(begin + 5ms);
        BOOST_TEST(effects() == "1 ended: " + std::string(holdfast::name_of(reason)));
    }
}

// A wait without a limit has no deadline, and nothing overflows.
BOOST_AUTO_TEST_CASE(waits_for_ever)
{
    acquire(1, "A", holdfast::forever);
    BOOST_TEST(locker.wake_at() == never);
    acquire(2, "A", holdfast::forever - 1ms);
    locker.wake(at(24h));
    BOOST_TEST(effects() == "");
}

// With a wait of zero there is one attempt, whose failure is the result. If this process has the
// resource already, there is none.
BOOST_AUTO_TEST_CASE(a_wait_of_zero_makes_one_attempt)
{
    acquire(1, "A", 0ms);
    refuse();
    BOOST_TEST(effects() == "1 ended: contended");
    BOOST_TEST(locker.wake_at() == never);

    acquire(2, "A", 0ms);
    acquire(3, "A", 0ms); // the attempt of another waiter is open
    BOOST_TEST(effects() == "3 ended: contended");
    granted();
    BOOST_TEST(acquire(4, "A", 0ms) == 0u);
    BOOST_TEST(effects() == "4 ended: contended");
    BOOST_TEST(calls() == "attempt A, attempt A");
}

// For try_acquire() it is no error that the resource is held, in this process or in another. Other
// failures are errors.
BOOST_AUTO_TEST_CASE(try_acquire_distinguishes_held_from_errors)
{
    try_acquire(1);
    refuse(errc::contended);
    BOOST_TEST(effects() == "1 ended: nothing");

    try_acquire(2);
    try_acquire(3);
    BOOST_TEST(effects() == "3 ended: nothing");
    refuse(errc::unreachable);
    BOOST_TEST(effects() == "2 ended: unreachable");

    acquire(4);
    granted();
    try_acquire(5);
    BOOST_TEST(effects() == "5 ended: nothing");
    BOOST_TEST(calls() == "attempt A, attempt A, attempt A");
}

// When a try_acquire() fails, the next waiter makes an attempt.
BOOST_AUTO_TEST_CASE(the_next_asks_when_a_single_attempt_fails)
{
    try_acquire(1);
    acquire(2);
    refuse();
    BOOST_TEST(effects() == "1 ended: nothing");
    BOOST_TEST(calls() == "attempt A, attempt A");
}

// Beyond the limit no new waiter is accepted. Earlier waiters are not affected.
BOOST_AUTO_TEST_CASE(too_many_waiters)
{
    options.max_waiting = 2;
    locker_core small(store, random, options, 1);
    const auto ask = [&](std::uint64_t tag) {
        return small.acquire(tag, "A", terms_of(usual), 10s, false, now);
    };
    const slot_id first = ask(1);
    ask(2);
    BOOST_TEST(ask(3) == 0u);
    const auto e = small.next_effect();
    BOOST_REQUIRE(e.has_value());
    BOOST_TEST(in_words(*e) == "3 ended: overloaded");
    small.cancel(first, false, now);
    BOOST_TEST(ask(4) != 0u);
}

BOOST_AUTO_TEST_SUITE_END()
