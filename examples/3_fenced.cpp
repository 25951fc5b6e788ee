// For work where two holders at once would do harm: each lease has a fencing token, larger than
// those before it. The server that stores the stock refuses a token smaller than one that it has
// seen. So a process that was paused past the end of its lease can do no harm when it continues.
//
//     3_fenced [--first-deployment] redis://127.0.0.1:6379 redis://127.0.0.1:7001 …
//
// The first server stores the stock, the others store the lock. --first-deployment is for nodes
// that have never stored a lock. Without it, new nodes are in quarantine first, like a restarted
// node that may have forgotten its grants.

#include <holdfast/holdfast.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Stands for your own Redis client: sends bytes, returns the first line of the reply.
class shop {
public:
    explicit shop(asio::any_io_executor executor) : socket_(std::move(executor)) {}

    asio::awaitable<void> connect(holdfast::endpoint server)
    {
        const asio::ip::tcp::endpoint there(asio::ip::make_address(server.host()), server.port());
        co_await socket_.async_connect(there, asio::use_awaitable);
    }

    asio::awaitable<std::string> send(std::string request)
    {
        const auto bytes = asio::buffer(request);
        co_await asio::async_write(socket_, bytes, asio::use_awaitable);
        std::string reply;
        auto input = asio::dynamic_buffer(reply);
        const auto size =
            co_await asio::async_read_until(socket_, input, "\r\n", asio::use_awaitable);
        reply.resize(size - 2);
        co_return reply;
    }

private:
    asio::ip::tcp::socket socket_;
};

holdfast::redlock_options fenced(bool first_deployment)
{
    holdfast::redlock_options options;
    options.fencing = holdfast::fencing::on;
    options.fence.quarantine = 60s; // longer than any ttl; the same in all clients
    options.fence.first_deployment = first_deployment;
    return options;
}

asio::awaitable<void> sell(holdfast::locker& locker, shop& server)
{
    holdfast::lock lock(locker, "stock:A");
    holdfast::lease lease = co_await lock.acquire();
    const auto take = holdfast::guarded_take("stock:A:fence", lease.fence(), "stock:A", 1);
    const std::string reply = co_await server.send(take.encoded());
    if (reply.starts_with('-')) // "-FENCED …": another holder was granted the lock meanwhile
        throw std::runtime_error(reply);
    if (reply == ":-1")
        std::cout << "sold out\n";
    else
        std::cout << "left: " << reply.substr(1) << ", token: " << *lease.fence() << '\n';
    co_await lease.release();
}

asio::awaitable<void> run(holdfast::locker& locker, holdfast::endpoint store)
{
    shop server(locker.get_executor());
    co_await server.connect(store);
    const std::string set = co_await server.send("SET stock:A 10\r\n");
    if (set != "+OK")
        throw std::runtime_error(set);
    co_await sell(locker, server);
    co_await sell(locker, server);
    co_await locker.close();
}

int main(int argc, char** argv)
try {
    std::vector<std::string> urls(argv + 1, argv + argc);
    const bool first = !urls.empty() && urls.front() == "--first-deployment";
    urls.erase(urls.begin(), urls.begin() + (first ? 1 : 0));
    if (urls.size() < 2)
        throw std::invalid_argument("usage: 3_fenced [--first-deployment] STOCK NODE [NODE...]");
    const holdfast::endpoint store(urls.at(0));
    const std::vector<holdfast::endpoint> nodes(urls.begin() + 1, urls.end());

    asio::io_context io;
    holdfast::locker locker(io.get_executor(), holdfast::redlock(nodes, fenced(first)));
    asio::co_spawn(io, run(locker, store), [](std::exception_ptr error) {
        if (error)
            std::rethrow_exception(error);
    });
    io.run();
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
