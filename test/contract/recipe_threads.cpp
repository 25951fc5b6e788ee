// Recipes that many coroutines use at once, in several threads.
#include "contract/doubler.hpp"

#include <holdfast/election.hpp>
#include <holdfast/multi_lock.hpp>
#include <holdfast/read_write_lock.hpp>
#include <holdfast/semaphore.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <future>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(recipe_threads)

constexpr std::size_t threads = 4, users = 3, rounds = 200, resources = 4, permits = 2;

struct playground {
    playground(holdfast::locker& owner)
        : locker(owner),
          calls(owner, unique_name(), permits, patient()),
          book(owner, unique_name(), patient()),
          office(owner, unique_name(), patient())
    {}

    static lock_options patient()
    {
        lock_options options;
        options.wait = forever;
        return options;
    }

    holdfast::locker& locker;
    const std::string name = unique_name();
    holdfast::semaphore calls;
    read_write_lock book;
    election office;
    std::array<std::atomic<int>, resources> holders{}; // of each resource
    std::atomic<int> callers = 0, readers = 0, writers = 0, leaders = 0;
    std::atomic<int> wrong = 0, ended = 0;
};

// Lets another thread run.
task yield()
{
    auto turn = asio::post(asio::deferred);
    co_await std::move(turn);
}

// Acquires, but is cancelled a moment later. What it gets is released at the end.
template <class Lease, class Lock>
task give_up(const Lock& wanted, std::minstd_rand& random)
{
    const auto strand = co_await asio::this_coro::executor;
    call<Lease> abandoned;
    wanted.acquire(asio::bind_executor(strand, abandoned.token()));
    for (auto turns = random() % 4; turns > 0; --turns)
        co_await yield();
    abandoned.cancel();
    while (!abandoned.done())
        co_await yield();
}

task lock_several(playground& p, std::size_t who)
{
    std::minstd_rand random(static_cast<unsigned>(who + 1));
    for (std::size_t i = 0; i < rounds; ++i) {
        std::vector<std::size_t> chosen;
        std::vector<holdfast::resource> names;
        for (std::size_t r = 0; r < resources; ++r) {
            if (random() % 2 == 0 && (r + 1 < resources || !chosen.empty()))
                continue;
            chosen.push_back(r);
            names.emplace_back(p.name + ":" + std::to_string(r));
        }
        const multi_lock members(p.locker, std::move(names), playground::patient());
        if (random() % 3 == 0) {
            co_await give_up<multi_lease>(members, random);
            continue;
        }
        multi_lease held = co_await members.acquire();
        for (const std::size_t each : chosen)
            p.wrong += p.holders[each]++ == 0 ? 0 : 1;
        co_await yield();
        for (const std::size_t each : chosen)
            --p.holders[each];
        p.wrong += held.held() ? 0 : 1;
        co_await held.release();
    }
}

task take_permits(playground& p, std::size_t who)
{
    std::minstd_rand random(static_cast<unsigned>(who + 1));
    for (std::size_t i = 0; i < rounds; ++i) {
        if (random() % 3 == 0) {
            co_await give_up<lease>(p.calls, random);
            continue;
        }
        lease held = co_await p.calls.acquire();
        p.wrong += p.callers++ < static_cast<int>(permits) ? 0 : 1;
        co_await yield();
        --p.callers;
        co_await held.release();
    }
}

task read_and_write(playground& p, std::size_t who)
{
    std::minstd_rand random(static_cast<unsigned>(who + 1));
    for (std::size_t i = 0; i < rounds; ++i) {
        const auto what = random() % 6;
        if (what == 0) {
            co_await give_up<lease>(p.book, random);
        } else if (what == 1) {
            lease held = co_await p.book.acquire();
            p.wrong += p.writers++ == 0 && p.readers == 0 ? 0 : 1;
            co_await yield();
            --p.writers;
            co_await held.release();
        } else {
            shared_lease held = co_await p.book.acquire_shared();
            ++p.readers;
            p.wrong += p.writers == 0 ? 0 : 1;
            co_await yield();
            --p.readers;
            co_await held.release();
        }
    }
}

task be_in_office(playground& p)
{
    p.wrong += p.leaders++ == 0 ? 0 : 1;
    co_await yield();
    --p.leaders;
}

task lead(playground& p)
{
    for (std::size_t i = 0; i < rounds; ++i) {
        auto body = [&p](lease&) {
            return be_in_office(p);
        };
        auto leading = p.office.run(body);
        co_await std::move(leading);
    }
}

BOOST_AUTO_TEST_CASE(many_threads_may_use_the_same_recipes)
{
    asio::thread_pool pool(threads);
    {
        holdfast::locker locker(pool.get_executor(), any_backend());
        playground p(locker);
        const auto done = [&p](const std::exception_ptr& error) {
            p.wrong += error ? 1 : 0;
            ++p.ended;
        };
        for (std::size_t i = 0; i < users; ++i) {
            asio::co_spawn(asio::make_strand(pool), lock_several(p, i), done);
            asio::co_spawn(asio::make_strand(pool), take_permits(p, i), done);
            asio::co_spawn(asio::make_strand(pool), read_and_write(p, i), done);
            asio::co_spawn(asio::make_strand(pool), lead(p), done);
        }
        while (p.ended < static_cast<int>(4 * users))
            std::this_thread::sleep_for(1ms);
        BOOST_TEST(p.wrong == 0);
    }
    pool.join();
}

election_options quick()
{
    election_options options;
    options.pause_min = 1ms;
    options.pause_max = 20ms;
    return options;
}

// Keeps its thread in the first term, and with it the strand of the run.
asio::awaitable<int> block_at_first(
    std::atomic<int>& terms, std::promise<void>& begun, std::future<void>& go_on)
{
    if (++terms == 2)
        co_return 42;
    begun.set_value();
    go_on.wait();
    co_await pause(hang_limit / 2);
    co_return 0; // was not told to stop
}

BOOST_AUTO_TEST_CASE(a_resignation_does_not_wait_for_a_body_that_blocks)
{
    asio::thread_pool pool(2);
    holdfast::locker locker(pool.get_executor(), any_backend());
    const election here(locker, unique_name(), {}, quick());
    std::atomic<int> terms = 0;
    std::promise<void> begun, go_on;
    auto released = go_on.get_future();
    auto body = [&](lease&) {
        return block_at_first(terms, begun, released);
    };
    auto value = here.run(body, asio::use_future);
    begun.get_future().wait();
    auto resigned = std::async(std::launch::async, [&here] { here.resign(); });
    BOOST_TEST((resigned.wait_for(hang_limit) == std::future_status::ready));
    go_on.set_value();
    BOOST_TEST(value.get() == 42);
    locker.close(asio::detached);
    pool.join();
}

asio::awaitable<void> lead_until_told(std::atomic<int>& terms, int most)
{
    if (++terms < most)
        co_await pause(hang_limit / 2);
}

BOOST_AUTO_TEST_CASE(many_threads_may_resign)
{
    asio::thread_pool pool(threads);
    holdfast::locker locker(pool.get_executor(), any_backend());
    const election here(locker, unique_name(), {}, quick());
    std::atomic<int> terms = 0;
    std::atomic<bool> done = false;
    auto body = [&](lease&) {
        return lead_until_told(terms, 20);
    };
    auto run = here.run(body, asio::use_future);
    std::vector<std::thread> others;
    while (others.size() < threads)
        others.emplace_back([&done, copy = here] {
            while (!done) {
                copy.resign();
                std::this_thread::sleep_for(1ms);
            }
        });
    const auto state = run.wait_for(hang_limit);
    done = true;
    for (std::thread& each : others)
        each.join();
    BOOST_TEST((state == std::future_status::ready));
    BOOST_TEST(terms >= 20); // the last one may have been told to end as well
    locker.close(asio::detached);
    pool.join();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
