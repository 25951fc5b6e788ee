// Exclusion and release.
#include "contract/backend_contract.hpp"

#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <exception>
#include <thread>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(exclusion)

BOOST_DATA_TEST_CASE(two_lockers_exclude_each_other, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        lease held = co_await s.lock(0).acquire();
        BOOST_TEST(bool(held));
        BOOST_TEST(held.held());

        co_await connect(s.locker(1));
        auto [ec, other] = co_await s.lock(1).acquire(1s, no_throw);
        BOOST_TEST(ec == errc::contended);
        BOOST_TEST(!other);
        BOOST_TEST(held.held());
    });
}

BOOST_DATA_TEST_CASE(two_locks_of_one_locker_exclude_each_other, every_backend(), each)
{
    play(each.make(), 1, [](scene& s) -> task {
        lease held = co_await s.lock(0).acquire();
        auto [ec, other] = co_await s.lock(0).acquire(1s, no_throw);
        BOOST_TEST(ec == errc::contended);
        BOOST_TEST(!other);
    });
}

BOOST_DATA_TEST_CASE(different_resources_do_not_exclude_each_other, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        lease one = co_await s.lock(0).acquire();
        lease two = co_await lock(s.locker(1), unique_name()).acquire();
        BOOST_TEST(one.held());
        BOOST_TEST(two.held());
    });
}

BOOST_DATA_TEST_CASE(a_release_frees_the_resource_at_once, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        lease held = co_await s.lock(0).acquire();
        const release_outcome outcome = co_await held.release();
        BOOST_TEST(outcome == release_outcome::released);
        BOOST_TEST(!held);
        BOOST_TEST(!held.held());

        lease next = co_await s.lock(1).try_acquire();
        BOOST_TEST(bool(next));
    });
}

BOOST_DATA_TEST_CASE(try_acquire_on_a_held_resource_is_no_error, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        lease held = co_await s.lock(0).acquire();
        for (std::size_t locker : {0u, 1u}) {
            auto [ec, other] = co_await s.lock(locker).try_acquire(no_throw);
            BOOST_TEST(!ec, ec.message());
            BOOST_TEST(!other);
            BOOST_TEST(!other.fence());
        }
        BOOST_TEST(held.held());
    });
}

BOOST_DATA_TEST_CASE(a_second_release_reports_not_held, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        lease held = co_await s.lock(0).acquire();
        co_await held.release();
        lease other = co_await s.lock(1).acquire();

        auto [ec, outcome] = co_await held.release(no_throw);
        BOOST_TEST(ec == errc::not_held);
        BOOST_TEST(outcome == release_outcome::expired);

        auto [extended] = co_await other.extend(no_throw); // the other lease is unchanged
        BOOST_TEST(!extended, extended.message());
    });
}

BOOST_DATA_TEST_CASE(a_release_after_the_end_reports_expired, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        lease held = co_await s.lock(0, unrenewed()).acquire();
        lease other = co_await s.lock(1).acquire();
        BOOST_TEST(!held.held());

        auto [ec, outcome] = co_await held.release(no_throw);
        BOOST_TEST(!ec, ec.message());
        BOOST_TEST(outcome == release_outcome::expired);

        auto [extended] = co_await other.extend(no_throw); // the other lease is unchanged
        BOOST_TEST(!extended, extended.message());
    });
}

// Shared by the threads, and protected by the lock only.
struct shared_count {
    int value = 0;
    bool inside = false;
    bool overlapped = false;
};

task count_up(holdfast::lock lock, shared_count& shared, int times)
{
    for (int i = 0; i < times; ++i) {
        lease held = co_await lock.acquire(20s);
        shared.overlapped = shared.overlapped || shared.inside;
        shared.inside = true;
        const int before = shared.value;
        co_await pause(100us);
        shared.value = before + 1;
        shared.inside = false;
        co_await held.release();
    }
}

BOOST_DATA_TEST_CASE(many_threads_may_use_one_locker, every_backend(), each)
{
    constexpr int workers = 8, times = 10;
    asio::thread_pool pool(4);
    shared_count shared;
    std::exception_ptr errors[workers];
    std::atomic<int> ended = 0;
    {
        holdfast::locker locker(pool.get_executor(), each.make());
        const holdfast::lock lock(locker, unique_name());
        for (auto& error : errors) // each on its own strand, as every coroutine must be
            asio::co_spawn(asio::make_strand(pool), count_up(lock, shared, times),
                [&error, &ended](const std::exception_ptr& failed) {
                    error = failed;
                    ++ended;
                });
        while (ended < workers) {
            BOOST_TEST(locker.stats().held <= 1u); // stats() may be called at any time
            std::this_thread::sleep_for(1ms);
        }
    }
    pool.join();
    for (const auto& error : errors)
        BOOST_TEST(!code_of(error), code_of(error).message());
    BOOST_TEST(shared.value == workers * times);
    BOOST_TEST(!shared.overlapped);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
