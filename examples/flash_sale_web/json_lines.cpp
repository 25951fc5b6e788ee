#include "json_lines.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/as_tuple.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

namespace flash_sale_web {

asio::awaitable<void> read_json_lines(
    asio::posix::stream_descriptor& from, std::function<void(const json::object&)> handle)
{
    std::string received;
    auto input = asio::dynamic_buffer(received);
    const auto token = asio::experimental::as_tuple(asio::use_awaitable);
    for (;;) {
        const auto [ec, size] = co_await asio::async_read_until(from, input, '\n', token);
        if (ec)
            co_return;
        const json::value line = json::parse(std::string_view(received).substr(0, size - 1));
        handle(line.as_object());
        received.erase(0, size);
    }
}

void print_json_line(const json::object& what)
{
    std::cout << json::serialize(what) << std::endl;
    if (!std::cout)
        std::exit(1);
}

std::int64_t number(const json::object& from, const char* name)
{
    return from.at(name).to_number<std::int64_t>();
}

} // namespace flash_sale_web
