#include "contender.hpp"

#include "arrivals.hpp"
#include "timeline.hpp"
#include "usage.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace contention {
namespace {

namespace asio = boost::asio;
using clock = std::chrono::steady_clock; // CLOCK_MONOTONIC: the same in all processes
using std::chrono::microseconds;

std::int64_t nanoseconds_now()
{
    return std::chrono::nanoseconds(clock::now().time_since_epoch()).count();
}

std::uint64_t commands_sent(const holdfast::locker& locker)
{
    std::uint64_t all = 0;
    for (const auto& node : locker.stats().nodes)
        all += node.commands;
    return all;
}

class contender {
public:
    explicit contender(const contender_settings& given) : given_(given)
    {
        holds_.reserve(200'000); // so that it does not grow during the measurement
        if (given.nodes.empty())
            return;
        const std::vector<holdfast::endpoint> nodes(given.nodes.begin(), given.nodes.end());
        holdfast::redlock_options options;
        if (given.fenced) {
            options.fencing = holdfast::fencing::on;
            options.fence.first_deployment = true; // the servers are new
        }
        locker_.emplace(io_.get_executor(), holdfast::redlock(nodes, options));
        lock_.emplace(
            *locker_, given.resource, budget{}.options(std::chrono::seconds(given.limit_s)));
    }

    void run()
    {
        asio::co_spawn(io_, contend(), [](std::exception_ptr error) {
            if (error)
                std::rethrow_exception(error); // out of io.run()
        });
        io_.run();
        report();
    }

private:
    asio::awaitable<void> contend()
    {
        if (locker_)
            co_await connect();
        std::cout << "ready" << std::endl;
        std::int64_t start = 0;
        std::cin >> start; // blocks; there is no other work
        const clock::time_point begin{std::chrono::nanoseconds(start)};
        end_ = begin + std::chrono::milliseconds(given_.length_ms);
        commands_ = locker_ ? commands_sent(*locker_) : 0;
        asio::steady_timer timer(io_, begin);
        co_await timer.async_wait(asio::use_awaitable);

        cpu_ = benchmark::cpu_seconds_now();
        running_ = given_.coroutines;
        for (std::size_t i = 0; i < given_.coroutines; ++i)
            asio::co_spawn(io_, take_turns(), [this](std::exception_ptr error) { finish(error); });
    }

    // Connects to every node and makes every script known there.
    asio::awaitable<void> connect()
    {
        const auto connected = [](const holdfast::node_stats& node) {
            return node.connected;
        };
        const auto limit = clock::now() + std::chrono::seconds(10);
        for (;;) {
            const auto now = locker_->stats();
            if (std::all_of(now.nodes.begin(), now.nodes.end(), connected))
                break;
            if (clock::now() > limit)
                throw std::runtime_error("cannot connect: " + describe_nodes(now));
            asio::steady_timer timer(io_, std::chrono::milliseconds(1));
            co_await timer.async_wait(asio::use_awaitable);
        }
        const holdfast::lock own(*locker_, "contention:own:" + std::to_string(::getpid()));
        holdfast::lease lease = co_await own.acquire();
        co_await lease.release();
    }

    bool again(std::size_t rounds) const
    {
        return given_.rounds == 0 ? clock::now() < end_ : rounds < given_.rounds;
    }

    asio::awaitable<void> take_turns()
    {
        for (std::size_t i = 0; again(i); ++i) {
            if (lock_) {
                const auto ticket = queue_.enter();
                holdfast::lease lease;
                try {
                    lease = co_await lock_->acquire();
                } catch (...) {
                    queue_.leave(ticket); // later arrivals no longer overtake it
                    throw;
                }
                const auto begin = nanoseconds_now();
                queue_.let_in(ticket);
                if (given_.hold_us > 0)
                    co_await pause(given_.hold_us);
                holds_.push_back({begin, nanoseconds_now(), 0});
                co_await lease.release();
            } else {
                const auto begin = nanoseconds_now();
                co_await pause(given_.hold_us);
                holds_.push_back({begin, nanoseconds_now(), 0});
            }
            if (given_.think_us > 0)
                co_await pause(given_.think_us);
        }
    }

    asio::awaitable<void> pause(std::size_t length_us)
    {
        asio::steady_timer timer(io_, microseconds(length_us));
        co_await timer.async_wait(asio::use_awaitable);
    }

    void finish(std::exception_ptr error)
    {
        try {
            if (error)
                std::rethrow_exception(error);
        } catch (const std::exception& e) {
            if (++unfinished_ == 1)
                std::cerr << "contention: a coroutine did not finish: " << e.what() << '\n';
        }
        if (--running_ > 0)
            return;
        cpu_ = benchmark::cpu_seconds_now() - cpu_;
        if (!locker_)
            return;
        commands_ = commands_sent(*locker_) - commands_;
        locker_->close(asio::detached); // otherwise its connections keep the context running
    }

    void report() const
    {
        std::printf("finished\ncpu %.6f\ncommands %llu\novertakings %zu\nunfinished %zu\n", cpu_,
            static_cast<unsigned long long>(commands_), queue_.overtakings(), unfinished_);
        for (const hold& h : holds_)
            std::printf(
                "hold %lld %lld\n", static_cast<long long>(h.begin), static_cast<long long>(h.end));
        std::printf("end\n");
    }

    contender_settings given_;
    asio::io_context io_{1};
    std::optional<holdfast::locker> locker_;
    std::optional<holdfast::lock> lock_;
    arrivals queue_;
    std::vector<hold> holds_;
    clock::time_point end_{};
    double cpu_ = 0;
    std::uint64_t commands_ = 0;
    std::size_t running_ = 0, unfinished_ = 0;
};

} // namespace

int run_contender(const contender_settings& given)
{
    // A process that hangs ends itself.
    ::alarm(static_cast<unsigned>(given.length_ms / 1'000 + 2 * given.limit_s + 30));
    contender one(given);
    one.run();
    return 0;
}

} // namespace contention
