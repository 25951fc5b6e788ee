#include "stock.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <holdfast/guarded_write.hpp>

#include <array>
#include <initializer_list>
#include <utility>

namespace flash_sale {
namespace {

std::string command(std::initializer_list<std::string_view> words)
{
    std::string text = "*" + std::to_string(words.size()) + "\r\n";
    for (const auto word : words) {
        text += "$" + std::to_string(word.size()) + "\r\n";
        text.append(word).append("\r\n");
    }
    return text;
}

// The Lua script that writes an order after the token was accepted.
constexpr std::string_view order_script = "redis.call('set',KEYS[2],ARGV[2]) "
                                          "return redis.call('rpush',KEYS[3],ARGV[3])";

} // namespace

stock_client::stock_client(asio::any_io_executor executor, std::uint16_t port, bool fenced)
    : socket_(std::move(executor)),
      port_(port),
      fenced_(fenced)
{}

asio::awaitable<void> stock_client::connect()
{
    boost::system::error_code ignored;
    socket_.close(ignored);
    received_.clear();
    const asio::ip::tcp::endpoint server(asio::ip::address_v4::loopback(), port_);
    co_await socket_.async_connect(server, asio::use_awaitable);
    socket_.set_option(asio::ip::tcp::no_delay(true));
}

asio::awaitable<long> stock_client::read(fence token)
{
    // The guarded read stores the token as well: from here on, no earlier holder can write.
    auto request = fenced_ ? holdfast::guarded_get(fence_key, token, stock_key).encoded()
                           : command({"GET", stock_key});
    co_await send(std::move(request));
    const auto length = co_await line();
    if (length == "$-1")
        throw std::runtime_error("the shop has no stock");
    const auto number = co_await line();
    co_return std::stol(number);
}

asio::awaitable<void> stock_client::write(long left, std::string buyer, fence token)
{
    if (!fenced_) {
        co_await write_at_once(left, std::move(buyer));
        co_return;
    }
    const auto guarded = holdfast::guarded_run(
        fence_key, token, order_script, {stock_key, orders_key}, {std::to_string(left), buyer});
    co_await send(guarded.encoded());
    co_await line(); // the number of orders
}

asio::awaitable<void> stock_client::write_at_once(long left, std::string buyer)
{
    auto request = command({"MULTI"}) + command({"SET", stock_key, std::to_string(left)}) +
                   command({"RPUSH", orders_key, buyer}) + command({"EXEC"});
    co_await send(std::move(request));
    const std::array<std::string_view, 5> expected{"+OK", "+QUEUED", "+QUEUED", "*2", "+OK"};
    for (const auto wanted : expected) {
        const auto reply = co_await line();
        if (reply != wanted)
            throw std::runtime_error("the shop's server answers: " + reply);
    }
    co_await line(); // the number of orders
}

asio::awaitable<void> stock_client::send(std::string text)
{
    const auto bytes = asio::buffer(text);
    co_await asio::async_write(socket_, bytes, asio::use_awaitable);
}

asio::awaitable<std::string> stock_client::line()
{
    auto input = asio::dynamic_buffer(received_);
    const auto size = co_await asio::async_read_until(socket_, input, "\r\n", asio::use_awaitable);
    auto text = received_.substr(0, size - 2);
    received_.erase(0, size);
    if (text.starts_with("-" + std::string(holdfast::fenced_error)))
        throw stale_token(text);
    if (text.front() == '-')
        throw std::runtime_error("the shop's server answers: " + text);
    co_return text;
}

} // namespace flash_sale
