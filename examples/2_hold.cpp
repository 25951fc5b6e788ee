// Work that must not continue after its lock: `hold()` acquires, runs the work, and releases on
// every path. If the lease cannot be kept, for example because a majority of the nodes is down, the
// work is cancelled *before* the lease ends, so that it never overlaps with the next holder.
//
//     2_hold redis://127.0.0.1:7001 redis://127.0.0.1:7002 redis://127.0.0.1:7003

#include <holdfast/holdfast.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

// The body is an ordinary coroutine. Each `co_await` in it ends with an exception once the lease is
// about to be lost; the body need not check the lease itself.
asio::awaitable<int> count_stock(int shelves)
{
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor);
    int items = 0;
    for (int shelf = 0; shelf < shelves; ++shelf) {
        timer.expires_after(50ms);
        co_await timer.async_wait(asio::use_awaitable);
        items += 10;
    }
    co_return items;
}

asio::awaitable<void> take_stock(holdfast::locker& locker)
{
    holdfast::lock_options options;
    options.ttl = 2s;   // if this process crashes, others wait no longer than this
    options.wait = 30s; // how long to wait for the lock; see also `holdfast::forever`
    holdfast::lock lock(locker, "stocktaking", options);

    // The lambda only starts the coroutine. A lambda with captures should not be a coroutine
    // itself: its captures are not part of the coroutine.
    auto body = [](holdfast::lease& lease) {
        std::cout << "counting under the lock on \"" << lease.resource() << "\"\n";
        return count_stock(8);
    };
    const int items = co_await lock.hold(body);
    std::cout << items << " items\n";
}

asio::awaitable<void> run(holdfast::locker& locker, int& status)
{
    try {
        co_await take_stock(locker);
        status = 0;
    } catch (const boost::system::system_error& e) {
        if (e.code() == holdfast::errc::lease_lost)
            std::cerr << "stopped in time: the lease could not be kept\n";
        else if (e.code() == holdfast::condition::busy)
            std::cerr << "the lock is held by others; try again later\n";
        else
            std::cerr << e.code().message() << ' ' << describe_nodes(locker.stats()) << '\n';
    }
    co_await locker.close();
}

int main(int argc, char** argv)
try {
    const std::vector<holdfast::endpoint> nodes(argv + 1, argv + argc);
    asio::io_context io;
    holdfast::locker locker(io.get_executor(), holdfast::redlock(nodes));

    int status = 1;
    asio::co_spawn(io, run(locker, status), [](std::exception_ptr error) {
        if (error)
            std::rethrow_exception(error);
    });
    io.run();
    return status;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
