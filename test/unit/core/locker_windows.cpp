// Polling windows: the pauses that a locker with many waiters leaves for clients that poll.
#include "support/locker_fixture.hpp"

#include <boost/test/unit_test.hpp>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using core::slot_id;

// Many waiters of this process want one resource. With the ttl of 9 s, transfers go on for 2,250
// ms, and a window is due every 5 s.
struct window_fixture : locker_fixture {
    window_fixture()
    {
        for (std::uint64_t tag = 1; tag <= 20; ++tag)
            acquire(tag, "A", holdfast::forever);
    }

    // Holds the resource for all the time that transfers may take. Returns how long the resource is
    // free before the locker asks again.
    core::duration pause_after_a_turn(core::duration length = 2250ms)
    {
        const slot_id lease = granted();
        pass(length);
        calls();
        locker.drop(lease, now);
        const core::time_point dropped = now;
        if (store.claims.at(store.latest).now != scripted_backend::stage::asking)
            sleep_until_asked();
        return now - dropped;
    }
};

BOOST_FIXTURE_TEST_SUITE(core_locker_windows, window_fixture)

// Without a queue between processes.
BOOST_AUTO_TEST_CASE(a_window_is_left_once_in_a_period)
{
    for (const bool window : {false, false, true, false, false, true}) {
        const auto pause = pause_after_a_turn();
        if (window)
            BOOST_TEST(pause == 200ms);
        else
            BOOST_TEST((pause >= 4ms && pause <= 8ms));
    }
}

// Turns that end sooner, by the count of transfers, do not delay the window.
BOOST_AUTO_TEST_CASE(turns_that_are_spent_by_count)
{
    locker_fixture f;
    f.usual.handoff_limit = 0;
    for (std::uint64_t tag = 1; tag <= 200; ++tag)
        f.acquire(tag, "A", holdfast::forever);
    core::duration window{};
    core::time_point opened = f.now;
    while (window < 200ms) {
        const slot_id lease = f.granted();
        f.pass(100ms);
        f.locker.drop(lease, f.now);
        opened = f.now;
        f.sleep_until_asked();
        window = f.now - opened;
    }
    BOOST_TEST(opened >= at(5s));
    BOOST_TEST(opened <= at(5200ms));
}

BOOST_AUTO_TEST_CASE(windows_can_be_turned_off)
{
    locker_fixture f;
    f.usual.polling_window = 0ms;
    for (std::uint64_t tag = 1; tag <= 20; ++tag)
        f.acquire(tag, "A", holdfast::forever);
    for (int i = 0; i < 6; ++i) {
        const slot_id lease = f.granted();
        f.pass(2250ms);
        f.locker.drop(lease, f.now);
        const core::time_point dropped = f.now;
        f.sleep_until_asked();
        BOOST_TEST((f.now - dropped <= 8ms));
    }
}

// No window is needed while other clients get the resource.
BOOST_AUTO_TEST_CASE(the_period_restarts_when_another_client_has_the_resource)
{
    BOOST_TEST((pause_after_a_turn() <= 8ms));
    BOOST_TEST((pause_after_a_turn() <= 8ms));
    refuse();
    sleep_until_asked();
    BOOST_TEST((pause_after_a_turn() <= 8ms));
    BOOST_TEST((pause_after_a_turn() <= 8ms));
    BOOST_TEST((pause_after_a_turn() == 200ms));
}

// Polling clients find it free in the pauses.
BOOST_AUTO_TEST_CASE(no_window_where_the_resource_has_pauses)
{
    store.has_queue = true;
    for (std::uint64_t tag = 101; tag < 105; tag += 2) {
        acquire(tag, "B", holdfast::forever);
        acquire(tag + 1, "B", holdfast::forever);
        slot_id lease = granted();
        calls();
        pass(2600ms); // longer than the turns of one process
        locker.drop(lease, now);
        BOOST_TEST(calls() == "release B, attempt in queue B");
        locker.drop(granted(), now);
        BOOST_TEST(calls() == "release B");
        pass(8s);
    }
}

// A backend with a queue is told that a window is due, and decides about it: another process may
// have opened one already.
BOOST_AUTO_TEST_CASE(a_backend_with_a_queue_is_told_that_a_window_is_due)
{
    store.has_queue = true;
    for (int i = 0; i < 2; ++i) {
        BOOST_TEST((pause_after_a_turn() == 0ms));
        BOOST_TEST(calls() == "release A, attempt in queue A");
    }
    BOOST_TEST((pause_after_a_turn() == 0ms));
    BOOST_TEST(calls() == "leave open A, release A, attempt in queue A");
    const slot_id lease = granted();
    pass(2249ms);
    calls();
    locker.drop(lease, now);
    BOOST_TEST(calls() == "transfer A");
    BOOST_TEST(store.claims.at(store.latest).terms.polling.window() == 200ms);
    BOOST_TEST(store.claims.at(store.latest).terms.polling.period() == 5s);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
