// An HTTP server that sells a stock: POST /orders/<item> takes one of it, under a lock whose holder
// the stock's server checks (fencing). Any number of these servers may run beside each other.
//
//     4_order_server [--first-deployment] PORT redis://127.0.0.1:6379 redis://127.0.0.1:7001 …
//
// The first Redis server stores the stock ("stock:<item>"), the others store the locks. Port 0: any
// free port, which is printed. GET /metrics is a page for Prometheus. SIGTERM and SIGINT end the
// server: requests under way are answered.

#include <holdfast/holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using namespace std::chrono_literals;

using request = http::request<http::string_body>;
using response = http::response<http::string_body>;

// Sends one command to the stock's server on a connection of its own, and returns the first line of
// the reply. Ends after two seconds, with an error. Stands for your own Redis client.
asio::awaitable<std::string> send(tcp::endpoint server, std::string command)
{
    beast::tcp_stream stream(co_await asio::this_coro::executor);
    stream.expires_after(2s);
    co_await stream.async_connect(server, asio::use_awaitable);
    const auto bytes = asio::buffer(command);
    co_await asio::async_write(stream, bytes, asio::use_awaitable);
    std::string reply;
    auto input = asio::dynamic_buffer(reply);
    const auto size = co_await asio::async_read_until(stream, input, "\r\n", asio::use_awaitable);
    reply.resize(size - 2);
    co_return reply;
}

response answer(const request& to, http::status status, std::string text)
{
    response r(status, to.version());
    r.set(http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
    r.keep_alive(to.keep_alive());
    r.body() = std::move(text) + '\n';
    r.prepare_payload();
    return r;
}

class order_server {
public:
    order_server(holdfast::locker& locker, tcp::endpoint stock) : locker_(locker), stock_(stock) {}

    // Serves one connection until the client closes it, or is silent for too long, or stop() is
    // called.
    asio::awaitable<void> serve(tcp::socket socket)
    {
        beast::tcp_stream client(std::move(socket));
        try {
            beast::flat_buffer buffer;
            for (bool more = true; more && !stopping_;) {
                request order;
                idle_.insert(&client);
                client.expires_after(30s);
                co_await http::async_read(client, buffer, order, asio::use_awaitable);
                idle_.erase(&client);
                response reply = co_await handle(order);
                reply.keep_alive(order.keep_alive() && !stopping_);
                more = reply.keep_alive();
                client.expires_after(5s);
                co_await http::async_write(client, reply, asio::use_awaitable);
            }
        } catch (const boost::system::system_error&) {
            // The client is gone or silent, or does not speak HTTP, or the server stops.
        }
        idle_.erase(&client);
    }

    // Requests under way are answered; connections without one are closed.
    void stop()
    {
        stopping_ = true;
        for (beast::tcp_stream* const client : idle_)
            client->cancel();
    }

private:
    asio::awaitable<response> handle(const request& order)
    {
        const std::string prefix = "/orders/", target(order.target());
        if (order.method() == http::verb::get && target == "/metrics")
            co_return answer(order, http::status::ok, holdfast::to_prometheus(locker_.stats()));
        if (order.method() != http::verb::post || !target.starts_with(prefix))
            co_return answer(order, http::status::not_found, "POST /orders/<item>");
        co_return co_await sell(order, "stock:" + target.substr(prefix.size()));
    }

    asio::awaitable<response> sell(const request& order, std::string stock)
    {
        boost::system::error_code failed;
        bool asked = false; // then one may have been taken
        try {
            holdfast::lock_options options;
            options.wait = 2s; // no buyer waits longer
            holdfast::lock lock(locker_, stock, options);
            holdfast::lease lease = co_await lock.acquire();
            const auto take = holdfast::guarded_take(stock + ":fence", lease.fence(), stock, 1);
            asked = true;
            const std::string left = co_await send(stock_, take.encoded());
            // The answer below does not need the lock: it is released in the background.
            lease = {};
            if (left == ":-1")
                co_return answer(order, http::status::conflict, "sold out");
            if (left.starts_with(':'))
                co_return answer(order, http::status::ok, "left: " + left.substr(1));
            if (!left.starts_with("-" + std::string(holdfast::fenced_error))) {
                std::cerr << "the stock's server: " << left << '\n'; // its set-up is wrong
                co_return answer(order, http::status::internal_server_error, "nothing was sold");
            }
            // Another server was granted the lock meanwhile. Nothing was taken.
            co_return answer(order, http::status::service_unavailable, "try again");
        } catch (const boost::system::system_error& e) {
            failed = e.code();
        } catch (const std::invalid_argument&) {
            co_return answer(order, http::status::bad_request, "no such item");
        }
        std::cerr << failed.message() << "; " << describe_nodes(locker_.stats()) << '\n';
        // The answer of the stock's server is missing. To order again could buy a second one.
        if (asked)
            co_return answer(order, http::status::internal_server_error, "it may be sold");
        co_return answer(order, http::status::service_unavailable, "try again");
    }

    holdfast::locker& locker_;
    tcp::endpoint stock_;
    std::set<beast::tcp_stream*> idle_; // wait for their next request
    bool stopping_ = false;
};

asio::awaitable<void> accept(tcp::acceptor& acceptor, order_server& server)
{
    asio::steady_timer pause(acceptor.get_executor());
    while (acceptor.is_open()) {
        auto [failed, client] = co_await acceptor.async_accept(asio::as_tuple(asio::use_awaitable));
        if (!failed) {
            // serve() catches what a client can cause.
            asio::co_spawn(
                acceptor.get_executor(), server.serve(std::move(client)), asio::detached);
        } else if (acceptor.is_open()) { // for example too many open files: that passes
            std::cerr << "accept: " << failed.message() << '\n';
            pause.expires_after(100ms);
            co_await pause.async_wait(asio::use_awaitable);
        }
    }
}

asio::awaitable<void> stop_on_signal(
    tcp::acceptor& acceptor, order_server& server, holdfast::locker& locker)
{
    asio::signal_set signals(acceptor.get_executor(), SIGINT, SIGTERM);
    co_await signals.async_wait(asio::use_awaitable);
    acceptor.close();
    server.stop();
    co_await locker.drain(5s); // holders finish, no request begins
    co_await locker.close();
}

tcp::endpoint look_up(asio::io_context& io, const holdfast::endpoint& server)
{
    tcp::resolver resolver(io);
    return *resolver.resolve(server.host(), std::to_string(server.port())).begin();
}

void rethrow(std::exception_ptr error)
{
    if (error)
        std::rethrow_exception(error); // out of io.run()
}

int main(int argc, char** argv)
try {
    std::vector<std::string> words(argv + 1, argv + argc);
    const bool first = !words.empty() && words.front() == "--first-deployment";
    words.erase(words.begin(), words.begin() + (first ? 1 : 0));
    if (words.size() < 3)
        throw std::invalid_argument(
            "usage: 4_order_server [--first-deployment] PORT STOCK NODE [NODE...]");
    const auto port = static_cast<unsigned short>(std::stoi(words.at(0)));
    const holdfast::endpoint stock(words.at(1));
    const std::vector<holdfast::endpoint> nodes(words.begin() + 2, words.end());

    holdfast::redlock_options options;
    options.fencing = holdfast::fencing::on;
    options.fence.first_deployment = first;

    asio::io_context io(1);
    holdfast::locker locker(io.get_executor(), holdfast::redlock(nodes, options));
    order_server server(locker, look_up(io, stock));
    tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), port});
    std::cout << "listening on port " << acceptor.local_endpoint().port() << std::endl;

    asio::co_spawn(io, accept(acceptor, server), rethrow);
    asio::co_spawn(io, stop_on_signal(acceptor, server, locker), rethrow);
    io.run();
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
}
