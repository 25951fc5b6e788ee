#include "server.hpp"

#include "json_lines.hpp"
#include "shop.hpp"
#include "spawn.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/system/system_error.hpp>

#include <unistd.h>

#include <charconv>
#include <chrono>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

namespace flash_sale_web {
namespace {

namespace http = boost::beast::http;
using asio::ip::tcp;
using namespace std::chrono_literals;

using request = http::request<http::string_body>;
using response = http::response<http::string_body>;

struct wanted_order {
    strategy how{};
    order what;
};

std::optional<std::int64_t> whole_number(std::string_view text)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0)
        return std::nullopt;
    return value;
}

// "/orders/fenced/12/345".
std::optional<wanted_order> parse_order(std::string_view target)
{
    constexpr std::string_view prefix = "/orders/";
    if (!target.starts_with(prefix))
        return std::nullopt;
    target.remove_prefix(prefix.size());
    const auto first = target.find('/'), second = target.rfind('/');
    if (first == target.npos || first == second)
        return std::nullopt;
    const auto how = strategy_named(target.substr(0, first));
    const auto item = whole_number(target.substr(first + 1, second - first - 1));
    const auto buyer = whole_number(target.substr(second + 1));
    if (!how || !item || !buyer)
        return std::nullopt;
    return wanted_order{*how, {*item, *buyer}};
}

class order_server {
public:
    explicit order_server(shop& owner) : shop_(owner) {}

    // Serves one connection until the client closes it.
    asio::awaitable<void> serve(tcp::socket client)
    {
        try {
            boost::beast::flat_buffer buffer;
            for (bool more = true; more;) {
                request asked;
                co_await http::async_read(client, buffer, asked, asio::use_awaitable);
                response reply = co_await handle(asked);
                more = reply.keep_alive();
                co_await http::async_write(client, reply, asio::use_awaitable);
            }
        } catch (const boost::system::system_error&) {
            // The client is gone, or does not speak HTTP.
        }
    }

private:
    asio::awaitable<response> handle(const request& asked)
    {
        const std::string target(asked.target());
        if (asked.method() == http::verb::get && target == "/metrics")
            co_return answer(asked, http::status::ok, shop_.metrics());
        const auto wanted = parse_order(target);
        if (asked.method() != http::verb::post || !wanted)
            co_return answer(
                asked, http::status::not_found, "POST /orders/<strategy>/<item>/<buyer>\n");
        const outcome result = co_await shop_.sell(wanted->how, wanted->what);
        switch (result) {
        case outcome::sold:
            co_return answer(asked, http::status::ok, "sold\n");
        case outcome::sold_out:
            co_return answer(asked, http::status::conflict, "sold out\n");
        case outcome::refused:
        case outcome::failed:
            break;
        }
        co_return answer(asked, http::status::service_unavailable, "try again\n");
    }

    static response answer(const request& to, http::status status, std::string text)
    {
        response reply(status, to.version());
        reply.set(http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
        reply.keep_alive(to.keep_alive());
        reply.body() = std::move(text);
        reply.prepare_payload();
        return reply;
    }

    shop& shop_;
};

asio::awaitable<void> accept(tcp::acceptor& acceptor, order_server& server)
{
    for (;;) {
        tcp::socket client = co_await acceptor.async_accept(asio::use_awaitable);
        client.set_option(tcp::no_delay(true));
        asio::co_spawn(acceptor.get_executor(), server.serve(std::move(client)), asio::detached);
    }
}

void obey(shop& owner, const json::object& command)
{
    if (command.contains("announce_next_write"))
        owner.announce_next_write([] { print_json_line({{"at_write", true}}); });
}

asio::awaitable<void> report(asio::any_io_executor executor, const shop& from)
{
    asio::steady_timer timer(executor);
    for (;;) {
        print_json_line(from.figures());
        timer.expires_after(200ms);
        co_await timer.async_wait(asio::use_awaitable);
    }
}

shop_settings parse(const std::string& given)
{
    const json::value all = json::parse(given);
    const json::object& from = all.as_object();
    shop_settings result;
    for (const json::value& node : from.at("nodes").as_array())
        result.nodes.emplace_back(std::string(node.as_string()));
    result.database = std::string(from.at("database").as_string());
    result.stock_port = static_cast<std::uint16_t>(number(from, "stock_port"));
    result.thinking = std::chrono::microseconds(number(from, "think_us"));
    return result;
}

} // namespace

std::string server_settings(const shop_settings& from)
{
    json::array nodes;
    for (const holdfast::endpoint& node : from.nodes)
        nodes.emplace_back("redis://" + node.address());
    return json::serialize(json::object{{"nodes", std::move(nodes)}, {"database", from.database},
        {"stock_port", from.stock_port}, {"think_us", from.thinking.count()}});
}

int run_server(const std::string& given)
{
    asio::io_context io(1);
    shop owner(io.get_executor(), parse(given));
    order_server server(owner);
    tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
    print_json_line({{"port", acceptor.local_endpoint().port()}});
    asio::co_spawn(io, accept(acceptor, server), rethrow);
    asio::co_spawn(io, report(io.get_executor(), owner), rethrow);

    asio::posix::stream_descriptor input(io, ::dup(STDIN_FILENO));
    const auto hear = [&owner](const json::object& command) {
        obey(owner, command);
    };
    asio::co_spawn(io, read_json_lines(input, hear), rethrow);
    io.run();
    return 0;
}

} // namespace flash_sale_web
