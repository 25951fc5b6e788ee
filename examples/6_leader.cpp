// One process that leads, and another one when it fails. Start it several times: one of them works,
// and when it has done its share, or is killed, the next one goes on.
//
//     6_leader redis://127.0.0.1:7001 redis://127.0.0.1:7002 redis://127.0.0.1:7003

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
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Each `co_await` in it ends with an exception once this process must not lead any more.
asio::awaitable<int> process_a_batch()
{
    asio::steady_timer timer(co_await asio::this_coro::executor);
    int processed = 0;
    while (processed < 5) {
        timer.expires_after(100ms);
        co_await timer.async_wait(asio::use_awaitable);
        ++processed;
    }
    co_return processed;
}

asio::awaitable<void> lead(holdfast::locker& locker)
{
    holdfast::election_options options;
    options.healthy = [] {
        return true;
    }; // for example: whether the disk has room
    const holdfast::election office(locker, "batches", {.ttl = 5s}, options);

    auto body = [](holdfast::lease&) {
        std::cout << "leading" << std::endl;
        return process_a_batch();
    };
    const int processed = co_await office.run(body);
    std::cout << processed << " processed\n";
}

asio::awaitable<void> run(holdfast::locker& locker, int& status)
{
    try {
        co_await lead(locker);
        status = 0;
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
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
