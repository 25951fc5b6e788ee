// Locks in etcd: two processes, or a process and `etcdctl lock nightly`, exclude each other.
//
//     7_etcd http://127.0.0.1:2379
//
// The arguments are members of one cluster. The locks are the same as those of etcd's own clients
// with the same names.

#include <holdfast/etcd.hpp>
#include <holdfast/holdfast.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

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
        co_await write_report(lease.fence().value()); // in etcd, each lease has a token
    };
    auto held = lock.hold(body); // releases on every path
    co_await std::move(held);
    co_await locker.close(); // also gives the session in etcd back
}

int main(int argc, char** argv)
try {
    const std::vector<std::string> members(argv + 1, argv + argc);
    asio::io_context io;
    holdfast::locker locker(io.get_executor(), holdfast::etcd(members));

    asio::co_spawn(io, run(locker), [](std::exception_ptr error) {
        if (error)
            std::rethrow_exception(error); // out of io.run()
    });
    io.run();
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
