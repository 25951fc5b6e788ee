#include "order_book.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <string>
#include <utility>

namespace flash_sale_web {

const char* const table_of_items = R"(
    CREATE TABLE items (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        initial bigint NOT NULL,
        stock bigint NOT NULL,
        fence bigint NOT NULL DEFAULT 0))"; // the largest token that was seen

const char* const table_of_orders = R"(
    CREATE TABLE orders (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        item bigint NOT NULL,
        buyer bigint NOT NULL,
        at timestamptz NOT NULL DEFAULT now()))";

const char* const index_of_orders = "CREATE INDEX ON orders (item)";

namespace {

constexpr auto read_stock = "SELECT stock FROM items WHERE id = $1";

constexpr auto write_stock = R"(
    WITH taken AS (UPDATE items SET stock = $3 WHERE id = $1 RETURNING id)
    INSERT INTO orders (item, buyer) SELECT id, $2::bigint FROM taken)";

constexpr auto read_stock_fenced = R"(
    UPDATE items SET fence = $2 WHERE id = $1 AND fence <= $2 RETURNING stock)";

constexpr auto write_stock_fenced = R"(
    WITH taken AS (
        UPDATE items SET stock = $3, fence = $4 WHERE id = $1 AND fence <= $4 RETURNING id)
    INSERT INTO orders (item, buyer) SELECT id, $2::bigint FROM taken RETURNING id)";

constexpr auto write_batch_fenced = R"(
    WITH taken AS (
        UPDATE items SET stock = $3, fence = $4 WHERE id = $1 AND fence <= $4 RETURNING id)
    INSERT INTO orders (item, buyer)
        SELECT id, buyer FROM taken, unnest($2::bigint[]) AS buyer RETURNING id)";

constexpr auto read_stock_locked = "SELECT stock FROM items WHERE id = $1 FOR UPDATE";

constexpr auto take_if_left = R"(
    WITH taken AS (
        UPDATE items SET stock = stock - 1 WHERE id = $1 AND stock > 0 RETURNING id)
    INSERT INTO orders (item, buyer) SELECT id, $2::bigint FROM taken RETURNING id)";

constexpr auto record_order = "INSERT INTO orders (item, buyer) VALUES ($1, $2)";

} // namespace

order_book::order_book(asio::any_io_executor executor, std::string where, std::size_t most)
    : pool_(std::move(executor), std::move(where), most)
{}

asio::awaitable<std::int64_t> order_book::read(order mine)
{
    const parameters item{std::to_string(mine.item)};
    const rows found = co_await pool_.query(read_stock, item);
    co_return found.number(0, 0);
}

asio::awaitable<void> order_book::write(order mine, std::int64_t left)
{
    const parameters values{
        std::to_string(mine.item), std::to_string(mine.buyer), std::to_string(left)};
    co_await pool_.query(write_stock, values);
}

asio::awaitable<std::optional<std::int64_t>> order_book::read(order mine, std::uint64_t token)
{
    const parameters values{std::to_string(mine.item), std::to_string(token)};
    const rows found = co_await pool_.query(read_stock_fenced, values);
    if (found.empty())
        co_return std::nullopt;
    co_return found.number(0, 0);
}

asio::awaitable<bool> order_book::write(order mine, std::int64_t left, std::uint64_t token)
{
    const parameters values{std::to_string(mine.item), std::to_string(mine.buyer),
        std::to_string(left), std::to_string(token)};
    const rows written = co_await pool_.query(write_stock_fenced, values);
    co_return !written.empty();
}

asio::awaitable<bool> order_book::write(std::int64_t item, const std::vector<std::int64_t>& buyers,
    std::int64_t left, std::uint64_t token)
{
    const parameters values{
        std::to_string(item), array_of(buyers), std::to_string(left), std::to_string(token)};
    const rows written = co_await pool_.query(write_batch_fenced, values);
    co_return !written.empty();
}

asio::awaitable<outcome> order_book::take_locked(order mine, std::chrono::microseconds thinking)
{
    const parameters none, item{std::to_string(mine.item)};
    // If this ends early, the connection is closed, and the database ends the transaction.
    const connection_pool::loan lent = co_await pool_.borrow();
    co_await lent->query("BEGIN", none);
    const rows found = co_await lent->query(read_stock_locked, item);
    const std::int64_t left = found.number(0, 0);
    if (left > 0) {
        const auto executor = co_await asio::this_coro::executor;
        asio::steady_timer timer(executor, thinking);
        co_await timer.async_wait(asio::use_awaitable);
        const parameters values{
            std::to_string(mine.item), std::to_string(mine.buyer), std::to_string(left - 1)};
        co_await lent->query(write_stock, values);
    }
    co_await lent->query("COMMIT", none);
    co_return left > 0 ? outcome::sold : outcome::sold_out;
}

asio::awaitable<outcome> order_book::take_at_once(order mine)
{
    const parameters values{std::to_string(mine.item), std::to_string(mine.buyer)};
    const rows taken = co_await pool_.query(take_if_left, values);
    co_return taken.empty() ? outcome::sold_out : outcome::sold;
}

asio::awaitable<void> order_book::record(order mine)
{
    const parameters values{std::to_string(mine.item), std::to_string(mine.buyer)};
    co_await pool_.query(record_order, values);
}

} // namespace flash_sale_web
