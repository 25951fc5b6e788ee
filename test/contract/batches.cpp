// batcher: requests of one process served together under one lease.
#include "contract/doubler.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <thread>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(batches)

task double_numbers(scene& s, bool has_tokens)
{
    diary d;
    doubler one(s.lock(0), doubling(d), {.max_batch = 8});
    doubler other(s.lock(1), doubling(d), {.max_batch = 8});
    std::vector<submitted> all(40);
    for (int i = 0; i < 40; ++i)
        (i % 2 == 0 ? one : other).submit(i, all[static_cast<std::size_t>(i)].token());
    co_await until_all_done(all);
    int sum = 0;
    for (int i = 0; i < 40; ++i) {
        auto& each = all[static_cast<std::size_t>(i)];
        BOOST_TEST(!each.error(), each.error().message());
        BOOST_TEST(each.completions() == 1);
        sum += each.result<int>() == 2 * i ? 1 : 0;
    }
    BOOST_TEST(sum == 40);
    BOOST_TEST(!d.overlapped);
    BOOST_TEST(d.batches.size() <= 20u); // gathered
    for (std::size_t i = 0; i < d.fences.size(); ++i) {
        BOOST_TEST(d.fences[i].has_value() == has_tokens);
        BOOST_TEST((i == 0 || !has_tokens || *d.fences[i] > *d.fences[i - 1]));
    }
}

BOOST_DATA_TEST_CASE(batches_of_two_processes_exclude_each_other, every_backend(), each)
{
    play(each.make(), 2, [&](scene& s) { return double_numbers(s, each.has_tokens); });
}

task keep_the_order(scene& s)
{
    diary d;
    doubler numbers_of(s.lock(0), doubling(d), {.max_batch = 4});
    std::vector<submitted> all(10);
    for (std::size_t i = 0; i < all.size(); ++i)
        numbers_of.submit(static_cast<int>(i), all[i].token());
    co_await until_all_done(all);
    const std::vector<numbers> expected{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}};
    BOOST_TEST((d.batches == expected));
    const auto stats = s.locker(0).stats();
    BOOST_TEST(stats.acquired == 3u);
    BOOST_TEST(stats.handed_over == 2u); // while requests come, the lease stays in the process
}

BOOST_AUTO_TEST_CASE(requests_are_served_in_their_order_and_the_lease_is_transferred)
{
    play(any_backend(), 1, keep_the_order);
}

// Callers that submit again when they are told.
task submit_again(doubler& numbers_of, int times, std::size_t& left)
{
    for (int i = 0; i < times; ++i) {
        const int reply = co_await numbers_of.submit(i);
        BOOST_TEST(reply == 2 * i);
    }
    --left;
}

task serve_callers_that_come_back(scene& s)
{
    diary d;
    doubler numbers_of(s.lock(0), doubling(d));
    std::size_t left = 20;
    for (std::size_t i = 0; i < 20; ++i)
        asio::co_spawn(s.io, submit_again(numbers_of, 10, left), asio::detached);
    while (left != 0)
        co_await pause(1ms);
    BOOST_TEST(d.batches.size() <= 12u);
    const auto stats = s.locker(0).stats();
    BOOST_TEST(stats.handed_over + 2 >= stats.acquired); // the next batch has the same lease
}

BOOST_AUTO_TEST_CASE(callers_that_submit_again_at_once_are_in_the_next_batch)
{
    play(any_backend(), 1, serve_callers_that_come_back);
}

task gather(scene& s)
{
    diary d;
    doubler numbers_of(s.lock(0), doubling(d), {.max_batch = 3, .gather = 50s});
    std::vector<submitted> all(3);
    for (std::size_t i = 0; i < all.size(); ++i) {
        BOOST_TEST(d.batches.empty());
        numbers_of.submit(static_cast<int>(i), all[i].token());
        if (i < 2)
            co_await pause(20ms);
    }
    const auto full = steady::now();
    co_await until_all_done(all);
    BOOST_TEST(d.batches.size() == 1u);
    BOOST_TEST((steady::now() - full < 25s)); // when it was full, not after `gather`

    doubler quick(s.lock(0), doubling(d), {.gather = 30ms});
    const auto begin = steady::now();
    co_await quick.submit(7);
    BOOST_TEST((steady::now() - begin >= 30ms));
    submitted last;
    numbers_of.submit(8, last.token());
    last.cancel(); // its timer does not keep the context running
    co_await until_done(last);
}

BOOST_AUTO_TEST_CASE(the_first_request_waits_for_others)
{
    play(any_backend(), 1, gather);
}

BOOST_AUTO_TEST_CASE(requests_and_replies_may_be_move_only_and_need_no_reply)
{
    play(any_backend(), 1, [](scene& s) -> task {
        using box = std::unique_ptr<int>;
        auto body = [](lease&, std::span<box> all) -> asio::awaitable<std::vector<box>> {
            std::vector<box> replies(
                std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()));
            co_return replies;
        };
        batcher<box, box> boxes(s.lock(0), body);
        auto sent = std::make_unique<int>(5);
        const int* const address = sent.get();
        const box back = co_await boxes.submit(std::move(sent));
        BOOST_TEST(back.get() == address);

        std::size_t served = 0;
        auto count = [&served](lease&, std::span<int> all) -> asio::awaitable<void> {
            served += all.size();
            co_return;
        };
        batcher<int> silent(s.lock(0), count);
        co_await silent.submit(1);
        BOOST_TEST(served == 1u);
        batcher<int> moved(std::move(silent));
        co_await moved.submit(1);
        BOOST_TEST(served == 2u);
    });
}

BOOST_AUTO_TEST_CASE(options_are_checked)
{
    scene s(any_backend());
    diary d;
    for (const batch_options& wrong :
        {batch_options{.max_batch = 0}, batch_options{.max_queued = 0},
            batch_options{.gather = -1ms}, batch_options{.gather = 61s}})
        BOOST_CHECK_THROW(doubler(s.lock(0), doubling(d), wrong), std::invalid_argument);
    s.finish();
}

BOOST_AUTO_TEST_CASE(a_hundred_thousand_requests_at_once_are_all_served)
{
    constexpr int crowd = 100'000;
    scene s(any_backend());
    std::int64_t sum = 0;
    int told = 0, largest = 0;
    auto body = [&](lease&, std::span<int> all) -> asio::awaitable<void> {
        for (const int each : all)
            sum += each;
        largest = std::max(largest, static_cast<int>(all.size()));
        co_return;
    };
    batcher<int> many(s.lock(0), body);
    for (int i = 0; i < crowd; ++i)
        many.submit(i, [&told](error_code ec) { told += ec ? 0 : 1; });
    run_until(s.io, [&] { return told == crowd; });
    BOOST_TEST(sum == std::int64_t(crowd) * (crowd - 1) / 2);
    BOOST_TEST(largest == 256);
    s.finish();
}

task submit_from_a_thread(doubler& shared, std::atomic<int>& wrong)
{
    const auto strand = co_await asio::this_coro::executor;
    for (int i = 0; i < 200; ++i) {
        submitted abandoned;
        shared.submit(i, asio::bind_executor(strand, abandoned.token()));
        const int reply = co_await shared.submit(i);
        wrong += reply == 2 * i ? 0 : 1;
        abandoned.cancel();
        co_await until_done(abandoned);
        wrong += abandoned.completions() == 1 ? 0 : 1;
    }
}

BOOST_AUTO_TEST_CASE(many_threads_may_use_one_batcher)
{
    asio::thread_pool pool(4);
    std::atomic<int> wrong = 0, ended = 0;
    {
        holdfast::locker locker(pool.get_executor(), any_backend());
        doubler shared(holdfast::lock(locker, unique_name()),
            [](lease&, std::span<int> all) -> asio::awaitable<numbers> {
                numbers replies;
                for (const int each : all)
                    replies.push_back(2 * each);
                co_return replies;
            });
        for (int i = 0; i < 8; ++i)
            asio::co_spawn(asio::make_strand(pool), submit_from_a_thread(shared, wrong),
                [&](const std::exception_ptr& error) {
                    wrong += error ? 1 : 0;
                    ++ended;
                });
        while (ended < 8)
            std::this_thread::sleep_for(1ms);
    }
    pool.join();
    BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
