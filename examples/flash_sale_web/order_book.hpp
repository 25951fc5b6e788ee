#pragma once

#include "database.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace flash_sale_web {

/// What became of an order.
enum class outcome : std::uint8_t {
    sold,
    sold_out,
    refused, ///< a later holder of the lock was there: nothing was written
    failed,  ///< no lock, or no database: nothing was written, or the server cannot tell
};

struct order {
    std::int64_t item = 0;
    std::int64_t buyer = 0;
};

/// The stock and the orders in PostgreSQL. Each call is one transaction, of one statement unless it
/// says otherwise; so a server that is frozen between two calls holds nothing in the database.
///
/// Throws `database_error`.
class order_book {
public:
    /// `most`: connections at the same time.
    order_book(asio::any_io_executor executor, std::string where, std::size_t most);

    /// What is left.
    asio::awaitable<std::int64_t> read(order mine);
    /// Writes what is left, and the order.
    asio::awaitable<void> write(order mine, std::int64_t left);

    /// The same under a fencing token, which the row remembers. The first access of a holder shuts
    /// out those before it. Nothing: the row has a larger token.
    asio::awaitable<std::optional<std::int64_t>> read(order mine, std::uint64_t token);
    /// False: the row has a larger token, and nothing was written.
    asio::awaitable<bool> write(order mine, std::int64_t left, std::uint64_t token);
    /// The same, with an order for each buyer. Precondition: at least one buyer.
    asio::awaitable<bool> write(std::int64_t item, const std::vector<std::int64_t>& buyers,
        std::int64_t left, std::uint64_t token);

    /// One transaction that locks the row, thinks, and writes.
    asio::awaitable<outcome> take_locked(order mine, std::chrono::microseconds thinking);
    /// One statement.
    asio::awaitable<outcome> take_at_once(order mine);
    /// The order alone; the stock is elsewhere.
    asio::awaitable<void> record(order mine);

private:
    connection_pool pool_;
};

/// The tables, for an empty database.
extern const char* const table_of_items;
extern const char* const table_of_orders;
extern const char* const index_of_orders;

} // namespace flash_sale_web
