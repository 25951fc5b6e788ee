// lock::hold(), cancelled just as it ends. A mistake here is a use of freed memory, which the
// address sanitizer finds.
#include "contract/backend_contract.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <array>
#include <atomic>
#include <deque>
#include <random>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(hold_cancellation)

constexpr std::size_t callers = 16;
constexpr int rounds = 400; // of each caller

using pool_strand = asio::strand<asio::thread_pool::executor_type>;

constexpr auto any_type = [](std::uint_fast32_t bits) {
    constexpr std::array all{asio::cancellation_type::terminal, asio::cancellation_type::partial,
        asio::cancellation_type::total, asio::cancellation_type::all};
    return all[bits % all.size()];
};

// Whether the result is one of those allowed.
bool expected(const std::exception_ptr& error)
{
    return !error || code_of(error) == aborted;
}

task do_little(lease&)
{
    co_await asio::post(asio::use_awaitable);
}

// Holds its resource repeatedly, on its own strand. It counts the turns of the strand that a hold
// takes, and cancels the next hold after about as many.
class caller {
public:
    caller(asio::thread_pool& pool, holdfast::lock which, unsigned seed)
        : strand_(asio::make_strand(pool)),
          lock_(std::move(which)),
          random_(seed)
    {}

    void start()
    {
        asio::post(strand_, [this] { next(); });
    }

    int completions = 0;
    bool as_expected = true;

private:
    void next()
    {
        if (completions == rounds)
            return;
        auto done = [this, round = completions](const std::exception_ptr& error) {
            as_expected = as_expected && round == completions && expected(error) &&
                          strand_.running_in_this_thread();
            ++completions;
        };
        auto here = asio::bind_executor(strand_, std::move(done));
        lock_.hold(do_little, asio::bind_cancellation_slot(signal_.slot(), std::move(here)));
        const bool cancels = completions % 2 != 0;
        take_turns(completions, 0, cancels ? usual_ + random_() % 6 : never);
    }

    void take_turns(int round, std::uint_fast32_t passed, std::uint_fast32_t cancel_after)
    {
        if (passed >= cancel_after)
            signal_.emit(any_type(random_()));
        const bool over = completions != round;
        if (over && (passed >= cancel_after || cancel_after == never)) {
            usual_ = passed > 4 ? passed - 4 : 0;
            return next();
        }
        asio::post(strand_, [=, this] { take_turns(round, passed + 1, cancel_after); });
    }

    static constexpr std::uint_fast32_t never = UINT32_MAX;
    std::uint_fast32_t usual_ = 0;
    pool_strand strand_;
    holdfast::lock lock_;
    std::mt19937 random_;
    asio::cancellation_signal signal_;
};

BOOST_DATA_TEST_CASE(cancellation_as_the_hold_ends, (std::vector<std::size_t>{1, 2, 4}), threads)
{
    asio::thread_pool pool(threads);
    holdfast::locker locker(pool.get_executor(), any_backend());
    std::deque<caller> all;
    for (unsigned i = 0; i < callers; ++i)
        all.emplace_back(pool, holdfast::lock(locker, "r" + std::to_string(i % 12)), i + 1);
    for (caller& each : all)
        each.start();
    pool.join();
    for (const caller& each : all) {
        BOOST_TEST(each.completions == rounds);
        BOOST_TEST(each.as_expected);
    }
}

task race_a_timer(holdfast::lock lock, unsigned seed, std::atomic<int>& ended)
{
    using namespace asio::experimental::awaitable_operators;
    std::mt19937 random(seed);
    asio::steady_timer timer(co_await asio::this_coro::executor);
    for (int i = 0; i < rounds; ++i) {
        timer.expires_after(std::chrono::microseconds(random() % 200));
        try {
            auto hold = lock.hold(do_little);
            auto time = timer.async_wait(asio::use_awaitable);
            co_await (std::move(hold) || std::move(time));
        } catch (const boost::system::system_error& e) {
            if (e.code() != aborted)
                throw;
        }
        ++ended;
    }
}

BOOST_DATA_TEST_CASE(cancellation_by_a_parallel_timer, (std::vector<std::size_t>{1, 2, 4}), threads)
{
    asio::thread_pool pool(threads);
    holdfast::locker locker(pool.get_executor(), any_backend());
    std::atomic<int> ended = 0, failed = 0;
    for (unsigned i = 0; i < callers; ++i) {
        holdfast::lock lock(locker, "r" + std::to_string(i % 12));
        asio::co_spawn(asio::make_strand(pool), race_a_timer(lock, i + 1, ended),
            [&](const std::exception_ptr& error) { failed += error ? 1 : 0; });
    }
    pool.join();
    BOOST_TEST(ended == int(callers) * rounds);
    BOOST_TEST(failed == 0);
}

// The body moves to another executor and ends there.
BOOST_AUTO_TEST_CASE(the_body_may_end_on_another_executor)
{
    asio::thread_pool pool(2), elsewhere(1);
    holdfast::locker locker(pool.get_executor(), any_backend());
    auto leave = [&elsewhere](lease&) -> task {
        co_await asio::post(asio::bind_executor(elsewhere, asio::use_awaitable));
    };
    std::atomic<int> ended = 0, ended_elsewhere = 0;
    for (int i = 0; i < rounds; ++i) {
        const auto strand = asio::make_strand(pool);
        auto done = [&, strand](const std::exception_ptr& error) {
            ended += error ? 0 : 1;
            ended_elsewhere += strand.running_in_this_thread() ? 0 : 1;
        };
        holdfast::lock lock(locker, "r" + std::to_string(i));
        lock.hold(leave, asio::bind_executor(strand, std::move(done)));
    }
    pool.join();
    elsewhere.join();
    BOOST_TEST(ended == rounds);
    BOOST_TEST(ended_elsewhere == 0);
}

task never_end(lease&)
{
    co_await pause(1h);
}

BOOST_AUTO_TEST_CASE(the_signal_may_outlive_the_context)
{
    asio::cancellation_signal signal;
    const auto kept = std::make_shared<int>();
    {
        asio::io_context io;
        holdfast::locker locker(io.get_executor(), any_backend());
        holdfast::lock(locker, unique_name())
            .hold(never_end,
                asio::bind_cancellation_slot(signal.slot(), [kept](const std::exception_ptr&) {
                    BOOST_ERROR("the handler ran although its context was destroyed");
                }));
        run_until(io, [&] { return locker.stats().held == 1; });
    }
    BOOST_TEST(kept.use_count() == 1);
    signal.emit(asio::cancellation_type::all);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
