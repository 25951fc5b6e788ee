#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace flash_sale {

namespace asio = boost::asio;

/// The token of a lease, where there are tokens.
using fence = std::optional<std::uint64_t>;

/// The shop's server has seen a later holder of the lock, and has done nothing.
struct stale_token : std::runtime_error {
    using runtime_error::runtime_error;
};

/// One connection to the shop's own Redis server, where the stock is a plain number.
///
/// On purpose there is no way to decrement it in one step: a sale reads it, thinks, and writes it
/// back, as programs do whose store knows no better. If it is fenced, the server compares tokens
/// whenever it reads or writes. Every failure is an exception.
class stock_client {
public:
    stock_client(asio::any_io_executor executor, std::uint16_t port, bool fenced);

    /// Drops the connection if there is one. Needed after a call that was cancelled, too: its reply
    /// may still come.
    asio::awaitable<void> connect();

    asio::awaitable<long> read(fence token);

    /// Writes the stock and, in the same transaction, one record of the order, so that every write
    /// that ever took effect can be counted at the end.
    asio::awaitable<void> write(long left, std::string buyer, fence token);

private:
    asio::awaitable<void> write_at_once(long left, std::string buyer);
    asio::awaitable<void> send(std::string text);
    asio::awaitable<std::string> line();

    asio::ip::tcp::socket socket_;
    std::uint16_t port_;
    bool fenced_;
    std::string received_;
};

inline constexpr const char* stock_key = "stock:A";
inline constexpr const char* orders_key = "orders:A";
inline constexpr const char* fence_key = "stock:A:fence"; // the largest token seen

} // namespace flash_sale
