#pragma once

#include "order_book.hpp"
#include "redis_stock.hpp"
#include "strategy.hpp"

#include <holdfast/batch.hpp>
#include <holdfast/endpoint.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/locker.hpp>
#include <holdfast/redlock.hpp>

#include <boost/json/object.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace flash_sale_web {

namespace json = boost::json;

/// What a server of the shop is told by its parent.
struct shop_settings {
    std::vector<holdfast::endpoint> nodes;
    std::string database;         ///< a connection string of libpq
    std::uint16_t stock_port = 0; ///< of the Redis server that has a stock
    std::chrono::microseconds thinking{0};
};

/// Options of the backend for fenced locks, the same in all processes of the sale.
holdfast::redlock_options fenced(bool first_deployment);

/// Sells items, by any strategy.
class shop {
public:
    shop(asio::any_io_executor executor, const shop_settings& given);

    /// Never throws: a failure is an outcome, and `figures()` has the last reason.
    asio::awaitable<outcome> sell(strategy how, order mine);

    /// At the next order that is about to write under the lock, or without one: calls `tell`, and
    /// waits a moment before the write. So a parent that wants to freeze this process can do it
    /// where it does most harm.
    void announce_next_write(std::function<void()> tell) { tell_ = std::move(tell); }

    /// Counts and states, for the parent.
    json::object figures() const;
    /// For Prometheus.
    std::string metrics() const;

private:
    asio::awaitable<outcome> try_to_sell(strategy how, order mine);
    asio::awaitable<outcome> take(order mine);
    asio::awaitable<outcome> take_locked(order mine);
    asio::awaitable<outcome> take_in_hold(order mine);
    asio::awaitable<outcome> take_fenced(order mine);
    asio::awaitable<outcome> take_in_batch(order mine);
    asio::awaitable<outcome> take_from_redis(order mine);
    asio::awaitable<std::vector<outcome>> serve(
        std::int64_t item, holdfast::lease& under, std::span<std::int64_t> buyers);
    asio::awaitable<void> think();

    std::chrono::microseconds thinking_;
    order_book book_;
    redis_stock redis_;
    holdfast::locker plain_, fenced_;
    std::map<std::int64_t, holdfast::batcher<std::int64_t, outcome>> lines_; // of buyers, by item
    std::function<void()> tell_;                                             // once
    std::array<std::uint64_t, 4> counts_{};                                  // by outcome
    std::string reason_;                                                     // of the last failure
};

} // namespace flash_sale_web
