// Locks in ZooKeeper: two processes exclude each other, and so does Curator's InterProcessMutex on
// the path /locks/nightly.
//
//     9_zookeeper zookeeper://127.0.0.1:2181/locks
//
// The argument names the servers of one ensemble, and the folder of the locks.

#include <holdfast/holdfast.hpp>
#include <holdfast/zookeeper.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <stdexcept>

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Stands for your own work. A store that compares tokens refuses a holder that comes too late.
asio::awaitable<void> write_report(std::uint64_t token)
{
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor, 20ms);
    co_await timer.async_wait(asio::use_awaitable);
    std::cout << "wrote the report with token " << token << '\n';
}

asio::awaitable<void> run(holdfast::locker& locker)
{
    holdfast::lock lock(locker, "nightly");
    auto body = [](holdfast::lease& lease) -> asio::awaitable<void> {
        co_await write_report(lease.fence().value()); // in ZooKeeper, each lease has a token
    };
    auto held = lock.hold(body); // releases on every path
    co_await std::move(held);
    co_await locker.close(); // also ends the session
}

int main(int argc, char** argv)
try {
    if (argc != 2)
        throw std::runtime_error("usage: 9_zookeeper zookeeper://host:port[,host:port]/folder");
    holdfast::zookeeper_options options;
    options.session_timeout = 10s; // how long the locks of this process outlive a crash
    asio::io_context io;
    holdfast::locker locker(io.get_executor(), holdfast::zookeeper(argv[1], options));

    asio::co_spawn(io, run(locker), [](std::exception_ptr error) {
        if (error)
            std::rethrow_exception(error); // out of io.run()
    });
    io.run();
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
