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

/// The token of a lease, if it has one.
using fence = std::optional<std::uint64_t>;

/// The shop's server has seen a later holder of the lock, and has changed nothing.
struct stale_token : std::runtime_error {
    using runtime_error::runtime_error;
};

/// One connection to the shop's own Redis server, where the stock is a plain number.
///
/// Intentionally there is no way to decrement the stock in one step: a sale reads it, thinks, and
/// writes it back, as with a store that has no such operation. If the client is fenced, the server
/// compares tokens at each read and write. Every failure is an exception.
class stock_client {
public:
    stock_client(asio::any_io_executor executor, std::uint16_t port, bool fenced);

    /// Connects, and closes an earlier connection first. Also needed after a cancelled call, whose
    /// reply may still arrive.
    asio::awaitable<void> connect();

    asio::awaitable<long> read(fence token);

    /// Writes the stock and, in the same transaction, one record of the order. So all writes that
    /// took effect can be counted at the end.
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
