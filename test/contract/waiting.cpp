// Waiters: order, timeout, cancellation, closing.
#include "contract/backend_contract.hpp"

#include <boost/asio/detached.hpp>

#include <algorithm>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(waiting)

task take_turn(holdfast::lock lock, int waiter, std::vector<int>& order)
{
    lease held = co_await lock.acquire(20s);
    order.push_back(waiter);
    co_await pause(1ms);
    co_await held.release();
}

BOOST_DATA_TEST_CASE(local_waiters_are_served_in_order, every_backend(), each)
{
    scene s(each.make());
    std::vector<int> order, expected;
    std::vector<task> all;
    for (int waiter = 0; waiter < 10; ++waiter) {
        all.push_back(take_turn(s.lock(0), waiter, order));
        expected.push_back(waiter);
    }
    run(s.io, std::move(all));
    BOOST_TEST(order == expected, boost::test_tools::per_element());
    s.finish();
}

BOOST_DATA_TEST_CASE(a_wait_that_times_out_reports_contended, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        lease held = co_await s.lock(0).acquire();
        auto options = brief();
        options.wait = 1s;
        co_await connect(s.locker(1), options);
        const auto begin = steady::now();
        auto [ec, other] = co_await s.lock(1, options).acquire(no_throw);
        const auto waited = steady::now() - begin;
        BOOST_TEST(ec == errc::contended);
        BOOST_TEST(ec == condition::busy);
        BOOST_TEST((waited >= options.wait));
        BOOST_TEST((waited < options.wait + 5s));
        BOOST_TEST(s.locker(1).stats().waiting == 0u);
    });
}

BOOST_DATA_TEST_CASE(a_wait_of_zero_makes_one_attempt, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        lease held = co_await s.lock(0).acquire(0ms);
        BOOST_TEST(held.held());
        auto [ec, other] = co_await s.lock(1).acquire(0ms, no_throw);
        BOOST_TEST(ec == errc::contended);
    });
}

BOOST_DATA_TEST_CASE(a_waiter_is_served_when_another_locker_releases, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        lease held = co_await s.lock(0).acquire();
        call<lease> waiter;
        s.lock(1).acquire(forever, waiter.token());
        co_await pause(100ms);
        BOOST_TEST(!waiter.done());
        co_await held.release();
        while (!waiter.done())
            co_await pause(1ms);
        BOOST_TEST(!waiter.error(), waiter.error().message());
        BOOST_TEST(waiter.result<lease>().held());
    });
}

// Each of the other lockers waits, as the only one of its process.
task wait_at_once(scene& s, std::size_t waiters, std::vector<int>& served)
{
    lease held = co_await s.lock(0).acquire();
    const auto executor = co_await asio::this_coro::executor;
    for (std::size_t i = 1; i <= waiters; ++i)
        asio::co_spawn(executor, take_turn(s.lock(i), static_cast<int>(i), served), asio::detached);
    co_await pause(100ms);
    co_await held.release();
    while (served.size() < waiters)
        co_await pause(1ms);
}

// Each of them, once. Their order is no promise of every store.
BOOST_DATA_TEST_CASE(waiters_of_different_lockers_are_all_served, every_backend(), each)
{
    scene s(each.make(), 4);
    std::vector<int> served;
    run(s.io, wait_at_once(s, 3, served));
    std::sort(served.begin(), served.end());
    BOOST_TEST(served == (std::vector<int>{1, 2, 3}), boost::test_tools::per_element());
    s.finish();
}

BOOST_DATA_TEST_CASE(a_cancelled_waiter_leaves_the_queue, every_backend(), each)
{
    play(each.make(), 1, [](scene& s) -> task {
        lease held = co_await s.lock(0).acquire();
        call<lease> first, second;
        s.lock(0).acquire(forever, first.token());
        s.lock(0).acquire(forever, second.token());
        co_await pause(20ms);
        BOOST_TEST(s.locker().stats().waiting == 2u);
        first.cancel();
        while (!first.done())
            co_await pause(1ms);
        BOOST_TEST(first.error() == aborted);
        BOOST_TEST(!first.result<lease>());
        BOOST_TEST(s.locker().stats().waiting == 1u);

        co_await held.release();
        while (!second.done())
            co_await pause(1ms);
        BOOST_TEST(!second.error(), second.error().message());
        BOOST_TEST(second.result<lease>().held());
        BOOST_TEST(first.completions() == 1);
    });
}

BOOST_DATA_TEST_CASE(a_waiter_with_an_attempt_can_be_cancelled, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        lease held = co_await s.lock(0).acquire();
        call<lease> waiter;
        s.lock(1).acquire(forever, waiter.token());
        co_await pause(50ms);
        BOOST_TEST(s.locker(1).stats().attempts > 0u);
        waiter.cancel();
        while (!waiter.done())
            co_await pause(1ms);
        BOOST_TEST(waiter.error() == aborted);
        BOOST_TEST(held.held());
    });
}

BOOST_DATA_TEST_CASE(close_ends_waits_and_tells_holders_to_stop, every_backend(), each)
{
    scene s(each.make(), 2);
    const auto options = brief(10s);
    lease held;
    run(s.io, [](scene& all, lock_options with, lease& to) -> task {
        to = co_await all.lock(0, with).acquire();
    }(s, options, held));

    call<lease> waiter, late;
    call<> lost, closed, closed_again;
    s.lock(0).acquire(forever, waiter.token());
    held.lost(lost.token());
    const auto begin = steady::now();
    s.locker().close(closed.token());
    s.locker().close(closed_again.token());
    s.lock(0).acquire(forever, late.token());
    run_until(s.io, [&] { return closed.done() && closed_again.done(); });
    BOOST_TEST((steady::now() - begin < 5s)); // the guard time, and the release

    run_until(s.io, [&] { return waiter.done() && late.done() && lost.done(); });
    BOOST_TEST(!closed.error(), closed.error().message());
    BOOST_TEST(waiter.error() == errc::closed);
    BOOST_TEST(late.error() == errc::closed);
    BOOST_TEST(lost.error() == errc::lease_lost);
    BOOST_TEST(!held.held());
    run(s.io, [](scene& all) -> task {
        lease next = co_await all.lock(1).try_acquire();
        BOOST_TEST(next.held());
    }(s));
    s.finish();
}

BOOST_DATA_TEST_CASE(a_destroyed_locker_releases_dropped_leases, every_backend(), each)
{
    scene s(each.make(), 1);
    {
        holdfast::locker going(s.io.get_executor(), each.make());
        const holdfast::lock lock(going, s.resource);
        run(s.io, [](holdfast::lock what) -> task {
            lease held = co_await what.acquire();
        }(lock));
    }
    run(s.io, [](scene& all) -> task {
        lease next = co_await all.lock(0).acquire(5s);
        BOOST_TEST(next.held());
    }(s));
    s.finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
