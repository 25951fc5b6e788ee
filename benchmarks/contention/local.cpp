#include "local.hpp"

#include "arrivals.hpp"
#include "usage.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <stdexcept>

namespace contention {
namespace {

namespace asio = boost::asio;
using clock = std::chrono::steady_clock;
using token_channel = asio::experimental::channel<void(boost::system::error_code)>;

// The data that the coroutines of one run share.
struct crowd {
    asio::io_context io{1};
    std::size_t waiters = 0, rounds = 0, running = 0, inside = 0;
    std::chrono::microseconds hold{};
    arrivals queue;
    clock::time_point begin{}, end{};
    double cpu_begin = 0;
    local_result result;
    std::function<void()> close = [] {
    };

    void enter(std::size_t ticket)
    {
        queue.let_in(ticket);
        if (++inside != 1)
            ++result.overlaps;
    }

    void leave()
    {
        --inside;
        ++result.turns;
    }

    void finish(std::exception_ptr error)
    {
        try {
            if (error)
                std::rethrow_exception(error);
        } catch (const std::exception& e) {
            if (++result.unfinished == 1)
                result.failure = e.what();
        }
        if (--running == 0) {
            end = clock::now();
            result.cpu_seconds = benchmark::cpu_seconds_now() - cpu_begin;
            close();
        }
    }
};

asio::awaitable<void> work(crowd& all)
{
    asio::steady_timer timer(all.io, all.hold);
    co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> take_turns(const holdfast::lock& lock, crowd& all)
{
    for (std::size_t i = 0; i < all.rounds; ++i) {
        const auto ticket = all.queue.enter();
        holdfast::lease lease;
        try {
            lease = co_await lock.acquire();
        } catch (...) {
            all.queue.leave(ticket); // later arrivals no longer overtake it
            throw;
        }
        all.enter(ticket);
        if (all.hold.count() > 0)
            co_await work(all);
        all.leave();
        co_await lease.release();
    }
}

asio::awaitable<void> take_turns(token_channel& token, unlock how, crowd& all)
{
    for (std::size_t i = 0; i < all.rounds; ++i) {
        const auto ticket = all.queue.enter();
        co_await token.async_receive(asio::use_awaitable);
        all.enter(ticket);
        if (all.hold.count() > 0)
            co_await work(all);
        all.leave();
        const boost::system::error_code none;
        if (how == unlock::send)
            co_await token.async_send(none, asio::use_awaitable);
        else if (!token.try_send(none))
            throw std::logic_error("there were two tokens");
    }
}

// Starts all coroutines, and returns when all of them wait.
template <class Start>
asio::awaitable<void> gather(crowd& all, Start start)
{
    for (std::size_t i = 0; i < all.waiters; ++i)
        asio::co_spawn(all.io, start(), [&all](std::exception_ptr error) { all.finish(error); });
    while (all.queue.entered() < all.waiters)
        co_await asio::post(asio::use_awaitable);
    all.cpu_begin = benchmark::cpu_seconds_now();
    all.begin = clock::now();
}

asio::awaitable<void> let_go(const holdfast::lock& lock, crowd& all)
{
    holdfast::lease first = co_await lock.acquire();
    const auto start = [&] {
        return take_turns(lock, all);
    };
    co_await gather(all, std::cref(start));
    co_await first.release();
}

asio::awaitable<void> let_go(token_channel& token, unlock how, crowd& all)
{
    const auto start = [&, how] {
        return take_turns(token, how, all);
    };
    co_await gather(all, std::cref(start));
    token.try_send(boost::system::error_code());
}

void rethrow(std::exception_ptr error)
{
    if (error)
        std::rethrow_exception(error); // out of io.run()
}

local_result conclude(crowd& all)
{
    all.result.seconds = std::chrono::duration<double>(all.end - all.begin).count();
    all.result.overtakings = all.queue.overtakings();
    return all.result;
}

void prepare(crowd& all, const settings& wanted)
{
    all.waiters = all.running = wanted.waiters;
    all.rounds = wanted.rounds;
    all.hold = wanted.hold;
}

} // namespace

local_result run_holdfast(
    const std::vector<holdfast::endpoint>& nodes, const settings& wanted, budget allowed)
{
    crowd all;
    prepare(all, wanted);
    holdfast::locker locker(all.io.get_executor(), holdfast::redlock(nodes));
    all.close = [&] {
        locker.close(asio::detached);
    };
    const holdfast::lock lock(locker, "contention:local", allowed.options(wanted.limit));
    asio::co_spawn(all.io, let_go(lock, all), rethrow);
    all.io.run();
    all.result.attempts = locker.stats().attempts;
    return conclude(all);
}

local_result run_channel(const settings& wanted, unlock how)
{
    crowd all;
    prepare(all, wanted);
    token_channel token(all.io, 1);
    asio::co_spawn(all.io, let_go(token, how, all), rethrow);
    all.io.run();
    return conclude(all);
}

} // namespace contention
