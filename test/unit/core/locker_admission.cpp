// Which attempts a locker starts when more are wanted than may be in progress.
#include "core/locker_core.hpp"

#include "support/locker_fixture.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;

namespace {

constexpr std::uint64_t first = admission::first;

struct admission_fixture : locker_fixture {
    // Fills all places: one waiter for each of as many resources as may have an attempt at once.
    // The resource is named after the waiter's tag.
    void fill()
    {
        for (std::uint64_t tag = 1; tag <= first; ++tag)
            acquire(tag, "r" + std::to_string(tag));
        BOOST_REQUIRE(store.attempts() == first);
        calls();
    }
    void grant(claim_id id)
    {
        store.grant(id);
        locker.wake(now);
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(core_locker_admission, admission_fixture)

BOOST_AUTO_TEST_CASE(attempts_wait_for_a_place_first_come_first_served)
{
    fill();
    acquire(1001, "A");
    acquire(1002, "B");
    acquire(1003, "C");
    BOOST_TEST(calls() == "");
    store.refuse(1, errc::too_late); // an immediate answer: one more place
    locker.wake(now);
    BOOST_TEST(calls() == "attempt A, attempt B");
    BOOST_TEST(stats().waiting == first + 3);
    BOOST_TEST(stats().asking == first + 1);
    BOOST_TEST(stats().asking_limit == first + 1);
}

// 100,000 waiters do not load the backend: the number of open attempts stays bounded.
BOOST_AUTO_TEST_CASE(a_burst_is_served_by_a_bounded_number_of_attempts)
{
    constexpr std::uint64_t wanted = 100'000;
    for (std::uint64_t tag = 1; tag <= wanted; ++tag)
        acquire(tag, "r" + std::to_string(tag), holdfast::forever);
    std::uint64_t granted = 0;
    while (granted < wanted) {
        const std::uint64_t open = store.attempts() - granted;
        BOOST_REQUIRE(open >= 1);
        BOOST_REQUIRE(open <= admission::most);
        pass(1ms);
        for (std::uint64_t i = 0; i < open; ++i)
            store.grant(++granted);
        locker.wake(now);
        while (const auto e = locker.next_effect()) {
            if (e->kind == effect_kind::acquired)
                locker.drop(e->lease, now);
        }
    }
    BOOST_TEST(store.attempts() == wanted);
    BOOST_TEST(stats().waiting == 0u);
}

// Under a lasting overload a newcomer that cannot be served is not kept waiting: it fails at once.
// A resource that is waited for already takes more waiters: they follow each other.
BOOST_AUTO_TEST_CASE(a_newcomer_that_cannot_be_served_within_its_wait_is_refused_at_once)
{
    fill();
    for (std::uint64_t tag = 1000; tag < 4000; ++tag)
        acquire(tag, "l" + std::to_string(tag));
    for (int i = 0; i < 200; ++i) { // about two places are free each millisecond
        pass(1ms);
        grant(store.attempts());
    }
    effects();
    acquire(5001, "A", 200ms);
    BOOST_TEST(effects() == "5001 ended: overloaded");
    acquire(5002, "A", 10s); // it can be admitted in time
    acquire(5003, "l3999", 200ms);
    BOOST_TEST(effects() == "");
}

// While no node answers, the few attempts that are made say nothing of the rate. Newcomers wait:
// the nodes may come back in time.
BOOST_AUTO_TEST_CASE(an_outage_refuses_no_newcomer)
{
    fill();
    for (std::uint64_t tag = 1000; tag < 4000; ++tag)
        acquire(tag, "l" + std::to_string(tag), 100s);
    for (int i = 0; i < 200; ++i) {
        pass(1ms);
        grant(store.attempts());
    }
    for (claim_id id = 1; id <= 100; ++id) {
        pass(10ms);
        store.refuse(id, errc::unreachable);
        locker.wake(now);
    }
    effects();
    acquire(5001, "A", 200ms);
    BOOST_TEST(effects() == "");
}

// The process is too busy to deliver its results. More leases would only wait for their handlers.
BOOST_AUTO_TEST_CASE(few_attempts_are_made_while_results_wait_for_their_handlers)
{
    BOOST_TEST(!locker.note_lag(50ms));
    for (std::uint64_t tag = 1; tag < admission::least; ++tag)
        acquire(tag, "r" + std::to_string(tag));
    calls();
    BOOST_TEST(locker.note_lag(51ms));
    acquire(1001, "A");
    BOOST_TEST(calls() == "attempt A");
    acquire(1002, "B");
    locker.wake(now);
    BOOST_TEST(calls() == "");
    BOOST_TEST(!locker.note_lag(0ms));
    BOOST_TEST((locker.wake_at() <= now));
    locker.wake(now);
    BOOST_TEST(calls() == "attempt B");
}

BOOST_AUTO_TEST_CASE(a_wait_for_a_place_ends_in_time_as_overloaded)
{
    fill();
    acquire(1001, "A", 100ms);
    sleep_until(at(100ms));
    BOOST_TEST(effects() == "1001 ended: overloaded");
    BOOST_TEST(calls() == "");
}

// The longest waiters come first. Under overload their time is nearly over, and an attempt for them
// would be useless.
BOOST_AUTO_TEST_CASE(no_attempt_is_made_for_a_waiter_whose_time_ends_before_the_answer)
{
    fill();
    acquire(1001, "A", 100ms);
    acquire(1002, "B", 10s);
    acquire(1003, "A", 105ms);
    pass(90ms);
    for (claim_id id = 1; id <= first; ++id) {
        store.grant(id); // took 90 ms: the next will too
        locker.wake(now);
    }
    BOOST_TEST(calls() == "attempt B");
    effects();
    sleep_until(at(105ms));
    BOOST_TEST(effects() == "1001 ended: overloaded, 1003 ended: overloaded");
}

// Waiters behind it that have less time left do not cost it its place in the line.
BOOST_AUTO_TEST_CASE(a_waiter_with_enough_time_keeps_its_place)
{
    fill();
    acquire(1001, "A", holdfast::forever);
    acquire(1002, "A", 105ms);
    acquire(1003, "B", 10s);
    pass(90ms);
    for (claim_id id = 1; id <= first; ++id) {
        store.grant(id); // took 90 ms: the next will too
        locker.wake(now);
    }
    BOOST_TEST(calls() == "attempt A, attempt B");
}

// A single attempt waits for a place, for a limited time. Once started, it runs to its end.
BOOST_AUTO_TEST_CASE(a_single_attempt_waits_for_a_place)
{
    fill();
    try_acquire(1001, "A");
    BOOST_TEST(effects() == "");
    grant(1);
    BOOST_TEST(calls() == "attempt A");
    sleep_until(at(5s)); // only its answer ends it
    effects();
    store.refuse(store.latest);
    locker.wake(now);
    BOOST_TEST(effects() == "1001 ended: nothing");
}

BOOST_AUTO_TEST_CASE(a_single_attempt_waits_for_a_place_for_a_limited_time)
{
    fill();
    acquire(1001, "A", 0ms);
    sleep_until(at(store.how_patient));
    BOOST_TEST(effects() == "1001 ended: overloaded");
}

// A cancelled waiter gives up its place in the line, and the waiters behind it move up.
BOOST_AUTO_TEST_CASE(a_cancelled_waiter_leaves_the_line)
{
    fill();
    const slot_id a = acquire(1001, "A");
    acquire(1002, "B");
    locker.cancel(a, true, now);
    grant(1);
    BOOST_TEST(calls() == "attempt B");
}

// Cancelled waiters leave no state that grows.
BOOST_AUTO_TEST_CASE(a_resource_that_is_wanted_again_goes_to_the_end_of_the_line)
{
    fill();
    for (int i = 0; i < 1000; ++i)
        locker.cancel(acquire(1001, "A"), true, now);
    acquire(1002, "B");
    acquire(1003, "A");
    grant(1); // a quick answer: one more place
    BOOST_TEST(calls() == "attempt B, attempt A");
}

// Releases and renewals do not wait for admission.
BOOST_AUTO_TEST_CASE(releases_and_renewals_do_not_wait)
{
    acquire(1, "held", holdfast::forever);
    const slot_id lease = granted();
    calls();
    for (std::uint64_t tag = 2; store.attempts() < first + 1; ++tag)
        acquire(tag, "r" + std::to_string(tag), holdfast::forever);
    acquire(1001, "A", holdfast::forever);
    calls();
    while (calls().empty())
        sleep();
    BOOST_TEST(now < at(3s));
    BOOST_TEST(store.attempts() == first + 1);
    locker.drop(lease, now);
    BOOST_TEST(calls() == "release held");
}

// An attempt that waits in the backend's queue costs next to nothing. Its place goes to the next
// one, and its long duration is no sign of load.
BOOST_AUTO_TEST_CASE(an_attempt_in_the_queue_gives_up_its_place)
{
    fill();
    acquire(1001, "A");
    store.enqueue(1);
    locker.wake(now);
    BOOST_TEST(calls() == "attempt A");
    pass(2s);
    grant(1);
    BOOST_TEST(calls() == "");
    acquire(1002, "B");
    BOOST_TEST(calls() == "");
}

BOOST_AUTO_TEST_CASE(an_abandoned_attempt_gives_up_its_place)
{
    fill();
    acquire(1001, "A");
    const slot_id last = acquire(1002, "B");
    BOOST_TEST(locker.cancel(last, true, now));
    acquire(1003, "r1"); // behind the waiter that has the attempt
    calls();
    sleep_until(at(10s)); // waits with attempts end, and the attempts are abandoned
    BOOST_TEST(stats().waiting == 0u);
    acquire(1004, "C");
    BOOST_TEST(calls().ends_with("attempt C"));
}

// A refused attempt that is repeated in the backend's queue keeps its place.
BOOST_AUTO_TEST_CASE(a_refused_attempt_keeps_its_place_for_the_queue)
{
    store.has_queue = true;
    fill();
    acquire(1001, "A");
    store.refuse(1, errc::contended);
    locker.wake(now);
    BOOST_TEST(calls().starts_with("attempt in queue r1"));
}

// While no node answers, many waiters do not cause many attempts.
BOOST_AUTO_TEST_CASE(attempts_are_rare_while_no_node_answers)
{
    store.refuse_at_once = errc::unreachable;
    for (std::uint64_t tag = 1; tag <= 10'000; ++tag)
        acquire(tag, "r" + std::to_string(tag), 5s);
    sleep_until(at(1s));
    BOOST_TEST(store.attempts() < 200u);
    store.refuse_at_once.reset();
    store.grant_at_once = true;
    sleep_until(at(2s));
    BOOST_TEST(stats().acquired == 10'000u);
}

BOOST_AUTO_TEST_CASE(a_wait_for_a_place_ends_as_unreachable_while_no_node_answers)
{
    store.refuse_at_once = errc::unreachable;
    for (std::uint64_t tag = 1; tag <= 1000; ++tag)
        acquire(tag, "r" + std::to_string(tag), 100ms);
    sleep_until(at(100ms));
    std::size_t ended = 0;
    while (const auto e = locker.next_effect()) {
        BOOST_TEST(in_words(*e).ends_with("ended: unreachable"));
        ++ended;
    }
    BOOST_TEST(ended == 1000u);
}

BOOST_AUTO_TEST_CASE(close_ends_waits_for_a_place)
{
    fill();
    acquire(1001, "A");
    locker.close(now);
    BOOST_TEST(effects().ends_with("1001 ended: closed, closed"));
}

BOOST_AUTO_TEST_SUITE_END()
