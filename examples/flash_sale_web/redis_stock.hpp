#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace flash_sale_web {

namespace asio = boost::asio;

/// A stock that is a number in a Redis server, under "stock:<item>".
class redis_stock {
public:
    /// `most`: connections at the same time.
    redis_stock(asio::any_io_executor executor, std::uint16_t port, std::size_t most);

    /// A script takes one, if there is one. False: sold out. Every failure is an exception.
    asio::awaitable<bool> take(std::int64_t item);

private:
    using slot = std::shared_ptr<asio::ip::tcp::socket>; // null: not connected

    asio::any_io_executor executor_;
    std::uint16_t port_;
    asio::experimental::channel<void(boost::system::error_code, slot)> free_;
};

} // namespace flash_sale_web
