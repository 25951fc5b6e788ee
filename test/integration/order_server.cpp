// The example server of the guide (examples/4_order_server.cpp), as its clients see it.

#include "support/child_process.hpp"
#include "support/redis_server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::test {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

// One HTTP connection that stays open.
class http_client {
public:
    explicit http_client(std::uint16_t port) : socket_(io_)
    {
        socket_.connect({asio::ip::address_v4::loopback(), port});
    }

    http::response<http::string_body> post(const std::string& target)
    {
        return ask(http::verb::post, target);
    }

    http::response<http::string_body> get(const std::string& target)
    {
        return ask(http::verb::get, target);
    }

private:
    http::response<http::string_body> ask(http::verb verb, const std::string& target)
    {
        http::request<http::empty_body> request(verb, target, 11);
        request.set(http::field::host, "localhost");
        http::write(socket_, request);
        http::response<http::string_body> response;
        http::read(socket_, buffer_, response);
        return response;
    }

    asio::io_context io_;
    tcp::socket socket_;
    boost::beast::flat_buffer buffer_;
};

struct order_server {
    explicit order_server(const std::vector<redis_server>& servers)
        : process([&] {
              std::vector<std::string> words{HOLDFAST_ORDER_SERVER, "--first-deployment", "0"};
              for (const auto& url : urls(servers))
                  words.push_back(url);
              return words;
          }())
    {
        const std::string line = process.read_line();
        port = static_cast<std::uint16_t>(std::stoul(line.substr(line.rfind(' ') + 1)));
    }

    child_process process;
    std::uint16_t port = 0;
};

} // namespace

BOOST_AUTO_TEST_SUITE(order_servers)

BOOST_AUTO_TEST_CASE(two_servers_sell_a_stock_exactly)
{
    auto servers = start_servers(4);
    BOOST_TEST(servers.front().command({"SET", "stock:pen", "20"}) == "OK");
    order_server first(servers), second(servers);

    constexpr std::size_t buyers = 8, orders = 5; // for each buyer: twice the stock in all
    std::vector<std::size_t> sold(buyers), refused(buyers);
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < buyers; ++i)
            threads.emplace_back([&, i] {
                http_client client(i % 2 == 0 ? first.port : second.port);
                for (std::size_t n = 0; n < orders; ++n) {
                    const auto result = client.post("/orders/pen").result();
                    sold[i] += result == http::status::ok;
                    refused[i] += result == http::status::conflict;
                }
            });
    }
    std::size_t all_sold = 0, all_refused = 0;
    for (std::size_t i = 0; i < buyers; ++i) {
        all_sold += sold[i];
        all_refused += refused[i];
    }
    BOOST_TEST(all_sold == 20u);
    BOOST_TEST(all_refused == 20u);
    BOOST_TEST(servers.front().command({"GET", "stock:pen"}) == "0");
}

BOOST_AUTO_TEST_CASE(other_requests_are_refused_and_the_connection_goes_on)
{
    auto servers = start_servers(2);
    order_server server(servers);
    http_client client(server.port);
    BOOST_TEST(client.post("/").result_int() == 404u);
    BOOST_TEST(client.get("/metrics").body().find("\nholdfast_held 0\n") != std::string::npos);
    BOOST_TEST(client.post("/orders/" + std::string(600, 'x')).result_int() == 400u);
    BOOST_TEST(client.post("/orders/none").result_int() == 409u); // no stock
}

// To order again is right only if nothing was taken, and somebody else was first.
BOOST_AUTO_TEST_CASE(trouble_with_the_stock_is_no_lost_race)
{
    auto servers = start_servers(2);
    redis_server& stock = servers.front();
    order_server server(servers);
    http_client client(server.port);
    BOOST_TEST(stock.command({"SET", "stock:pen", "many"}) == "OK");
    BOOST_TEST(client.post("/orders/pen").body() == "nothing was sold\n");
    BOOST_TEST(stock.command({"SET", "stock:pen", "5"}) == "OK");
    // As if another server had been granted the lock meanwhile.
    BOOST_TEST(stock.command({"SET", "stock:pen:fence", "9007199254740991"}) == "OK");
    BOOST_TEST(client.post("/orders/pen").body() == "try again\n");
    BOOST_TEST(stock.command({"GET", "stock:pen"}) == "5");
    stock.kill();
    BOOST_TEST(client.post("/orders/pen").body() == "it may be sold\n");
}

BOOST_AUTO_TEST_CASE(a_signal_ends_the_server_and_nothing_stays_locked)
{
    auto servers = start_servers(2);
    BOOST_TEST(servers.front().command({"SET", "stock:pen", "5"}) == "OK");
    order_server server(servers);
    http_client idle(server.port);
    BOOST_TEST(idle.post("/orders/pen").body() == "left: 4\n");
    server.process.ask_to_end();
    BOOST_TEST(server.process.wait() == 0);
    BOOST_TEST(servers.back().command({"EXISTS", "hf:l:stock:pen"}) == "0");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace holdfast::test
