#pragma once

#include "usage.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

namespace benchmark {

// Starts a coroutine. An exception leaves `io.run()`.
inline void start(boost::asio::io_context& io, boost::asio::awaitable<void> work)
{
    boost::asio::co_spawn(io, std::move(work), [](std::exception_ptr error) {
        if (error)
            std::rethrow_exception(error);
    });
}

// Runs a coroutine to its end.
inline void run_to_end(boost::asio::io_context& io, boost::asio::awaitable<void> work)
{
    start(io, std::move(work));
    io.run();
}

// A number of coroutines that repeat the same work until the measurement is over. Each of them runs
// `while (go_on()) { work; finish_one(); }` and then calls `leave()`.
class closed_loop {
public:
    struct figures {
        std::uint64_t done;
        double seconds, cpu_seconds;
    };

    bool go_on() const noexcept { return !stopping_; }
    std::uint64_t total() const noexcept { return done_; } // before, in and after the measured time
    void finish_one() noexcept { ++done_; }
    void leave() noexcept { --running_; }

    // `one(i)` is the i-th coroutine.
    template <class One>
    void begin(boost::asio::io_context& io, std::size_t concurrency, One one)
    {
        running_ = concurrency;
        for (std::size_t i = 0; i < concurrency; ++i)
            start(io, one(i));
    }

    // What is done in a time that begins after the warm-up. Ends when all coroutines have left.
    boost::asio::awaitable<figures> measure(
        std::chrono::milliseconds warm_up, std::chrono::milliseconds length)
    {
        boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, warm_up);
        co_await timer.async_wait(boost::asio::use_awaitable);
        const auto begin = std::chrono::steady_clock::now();
        const double cpu_begin = cpu_seconds_now();
        const std::uint64_t before = done_;
        timer.expires_after(length);
        co_await timer.async_wait(boost::asio::use_awaitable);
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
        const figures all{done_ - before, passed.count(), cpu_seconds_now() - cpu_begin};
        stopping_ = true;
        while (running_ != 0) {
            timer.expires_after(std::chrono::milliseconds(1));
            co_await timer.async_wait(boost::asio::use_awaitable);
        }
        co_return all;
    }

private:
    std::uint64_t done_ = 0;
    std::size_t running_ = 0;
    bool stopping_ = false;
};

} // namespace benchmark
