// The smallest program: sell one item while no other process, on any machine, sells one.
//
//     1_hello redis://127.0.0.1:7001 redis://127.0.0.1:7002 redis://127.0.0.1:7003
//
// The arguments are independent Redis servers, preferably three or five. All programs that exclude
// each other must be given the same servers.

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
#include <stdexcept>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Stands for your own work: read the stock, write it back.
asio::awaitable<void> deduct_stock()
{
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor, 20ms);
    co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> sell(holdfast::locker& locker)
{
    holdfast::lock lock(locker, "stock:A");          // only a name: no requests yet
    holdfast::lease lease = co_await lock.acquire(); // waits for its turn, up to 10 s
    co_await deduct_stock();                         // the lease renews itself meanwhile
    // 2_hold shows how the work is stopped before a lease is lost.
    if (co_await lease.release() == holdfast::release_outcome::expired)
        throw std::runtime_error("the lease ended before the work: others may have sold meanwhile");
}

asio::awaitable<void> run(holdfast::locker& locker)
{
    co_await sell(locker);
    std::cout << "sold one item under the lock\n";
    co_await locker.close(); // open connections would keep the io_context running
}

int main(int argc, char** argv)
try {
    const std::vector<holdfast::endpoint> nodes(argv + 1, argv + argc);
    asio::io_context io;
    holdfast::locker locker(io.get_executor(), holdfast::redlock(nodes));

    asio::co_spawn(io, run(locker), [](std::exception_ptr error) {
        if (error)
            std::rethrow_exception(error); // out of io.run()
    });
    io.run();
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
