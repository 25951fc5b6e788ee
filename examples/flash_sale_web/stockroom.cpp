#include "stockroom.hpp"

#include "order_book.hpp"

#include <boost/asio/use_awaitable.hpp>

namespace flash_sale_web {
namespace {

constexpr auto insert_item = "INSERT INTO items (initial, stock) VALUES ($1, $1) RETURNING id";

constexpr auto count_items = R"(
    SELECT id, initial, stock, (SELECT count(*) FROM orders WHERE item = items.id)
    FROM items WHERE id = ANY ($1::bigint[]) ORDER BY id)";

} // namespace

stockroom::stockroom(
    asio::any_io_executor executor, const std::string& where, holdfast::test::redis_server& redis)
    : pool_(std::move(executor), where, 1),
      redis_(redis)
{}

asio::awaitable<void> stockroom::make_tables()
{
    const parameters none;
    for (const char* const statement : {table_of_items, table_of_orders, index_of_orders})
        co_await pool_.query(statement, none);
}

asio::awaitable<std::int64_t> stockroom::put(strategy how, std::int64_t initial)
{
    const parameters values{std::to_string(initial)};
    const rows made = co_await pool_.query(insert_item, values);
    const std::int64_t item = made.number(0, 0);
    if (how == strategy::redis)
        redis_.command({"SET", redis_key(item), std::to_string(initial)});
    sold_by_[item] = how;
    co_return item;
}

asio::awaitable<std::vector<round_count>> stockroom::count(const std::vector<std::int64_t>& items)
{
    const parameters values{array_of(items)};
    const rows found = co_await pool_.query(count_items, values);
    std::vector<round_count> all;
    for (std::size_t i = 0; i < found.count(); ++i) {
        round_count one{.item = found.number(i, 0),
            .initial = found.number(i, 1),
            .left = found.number(i, 2),
            .orders = found.number(i, 3)};
        const strategy how = sold_by_.at(one.item);
        one.locked = how != strategy::none;
        if (how == strategy::redis)
            one.left = std::stoll(redis_.command({"GET", redis_key(one.item)}));
        all.push_back(one);
    }
    co_return all;
}

} // namespace flash_sale_web
