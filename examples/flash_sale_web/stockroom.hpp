#pragma once

#include "database.hpp"
#include "statistics.hpp"
#include "strategy.hpp"
#include "support/redis_server.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace flash_sale_web {

/// Fills the stock and counts it, beside the servers that sell.
class stockroom {
public:
    stockroom(asio::any_io_executor executor, const std::string& where,
        holdfast::test::redis_server& redis);

    asio::awaitable<void> make_tables();

    /// A new item that is sold by this strategy. Returns its number.
    asio::awaitable<std::int64_t> put(strategy how, std::int64_t initial);

    /// The state of items, in one transaction. The stock in Redis is read a moment later.
    asio::awaitable<std::vector<round_count>> count(const std::vector<std::int64_t>& items);

private:
    std::string redis_key(std::int64_t item) const { return "stock:" + std::to_string(item); }

    connection_pool pool_;
    holdfast::test::redis_server& redis_;
    std::map<std::int64_t, strategy> sold_by_;
};

} // namespace flash_sale_web
