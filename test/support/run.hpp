#pragma once

#include "support/print.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;
using task = asio::awaitable<void>;

/// A completion token that returns the operation's error code as a value.
inline constexpr auto no_throw = asio::experimental::as_tuple(asio::use_awaitable);

/// A test that takes longer is considered to hang.
inline constexpr auto hang_limit = 60s;

inline task pause(steady::duration length)
{
    asio::steady_timer timer(co_await asio::this_coro::executor, length);
    co_await timer.async_wait(asio::use_awaitable);
}

/// Runs handlers of `io` until `done()`. Fails the test if that takes too long.
template <class Done>
void run_until(asio::io_context& io, Done done, steady::duration limit = hang_limit)
{
    const auto deadline = steady::now() + limit;
    io.restart();
    while (!done()) {
        if (io.run_one_until(deadline) != 0)
            continue;
        const bool idle = io.stopped();
        BOOST_FAIL((idle ? "no work is left that could end the wait" : "the wait does not end"));
    }
}

/// Runs coroutines on `io` concurrently until all have ended. Throws the first exception of one of
/// them.
inline void run(asio::io_context& io, std::vector<task> all)
{
    std::size_t open = all.size();
    std::exception_ptr error;
    for (task& each : all)
        asio::co_spawn(io, std::move(each), [&](const std::exception_ptr& failed) {
            --open;
            error = error ? error : failed;
        });
    run_until(io, [&] { return open == 0 || error; });
    if (error)
        std::rethrow_exception(error);
}

inline void run(asio::io_context& io, task work)
{
    std::vector<task> all;
    all.push_back(std::move(work));
    run(io, std::move(all));
}

/// Runs the remaining work, and fails the test if that does not end soon.
inline void expect_no_work_left(asio::io_context& io, steady::duration limit = 10s)
{
    io.restart();
    io.run_for(limit);
    BOOST_TEST(io.stopped(), "work is left over after all lockers were closed");
}

/// A name that no other test uses.
inline std::string unique_name()
{
    static std::size_t count = 0;
    return "test:" + std::to_string(++count);
}

/// Some lockers on one backend, like separate processes, and a resource for them.
class scene {
    std::optional<asio::io_context> own_;

public:
    explicit scene(
        const backend& store, std::size_t lockers = 1, const locker_options& options = {})
        : own_(std::in_place),
          io(*own_)
    {
        add(store, lockers, options);
    }
    /// Beside other scenes.
    scene(asio::io_context& shared, const backend& store, std::size_t lockers) : io(shared)
    {
        add(store, lockers, {});
    }

    holdfast::locker& locker(std::size_t which = 0) { return all_.at(which); }
    holdfast::lock lock(std::size_t which, const lock_options& options = {})
    {
        return holdfast::lock(locker(which), resource, options);
    }

    /// Closes all lockers.
    void close()
    {
        std::size_t open = all_.size();
        for (auto& each : all_)
            each.close([&](error_code ec) {
                BOOST_TEST(!ec, ec.message());
                --open;
            });
        run_until(
            io, [&] { return open == 0; }, 30s);
    }

    /// Closes all lockers, and expects that no work is left.
    void finish()
    {
        close();
        expect_no_work_left(io);
    }

    asio::io_context& io;
    const std::string resource = unique_name();

private:
    void add(const backend& store, std::size_t lockers, const locker_options& options)
    {
        while (all_.size() < lockers)
            all_.emplace_back(io.get_executor(), store, options);
    }

    std::deque<holdfast::locker> all_;
};

/// Runs `work(scene&)` on some lockers, closes them, and expects that no work is left.
template <class Work>
void play(const backend& store, std::size_t lockers, Work work)
{
    scene s(store, lockers);
    run(s.io, work(s));
    s.finish();
}

} // namespace holdfast::test
