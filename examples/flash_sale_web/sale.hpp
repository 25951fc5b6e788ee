#pragma once

#include "comparison.hpp"
#include "news.hpp"
#include "statistics.hpp"
#include "stockroom.hpp"
#include "worker.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace flash_sale_web {

/// One round after the other: when an item is sold out, the next one is on sale.
class sale {
public:
    sale(asio::any_io_executor executor, stockroom& stock, comparison& strategies, news& log,
        std::int64_t stock_of_a_round);

    /// Sells, counts, and compares strategies when it is asked to. Does not end.
    asio::awaitable<void> run(worker& load);

    /// From the next count on, in a new round.
    void sell_by(strategy how) { wanted_ = how; }
    strategy sold_by() const { return wanted_; }
    void compare() { compare_ = true; }
    bool comparing() const { return compare_; }

    const ledger& books() const { return ledger_; }
    const round_count& round() const { return round_; } ///< the one on sale
    std::int64_t round_number() const { return number_; }

private:
    struct open_round {
        std::int64_t item;
        bool sold_out = false, told = false;
        std::optional<instant> ended{};
    };
    asio::awaitable<void> begin(worker& load);
    asio::awaitable<void> advance(worker& load);
    asio::awaitable<std::int64_t> put_round();
    asio::awaitable<void> count();
    void end_round(bool sold_out);
    void follow_up(open_round& each, const round_count& seen, instant now);
    void offer(worker& load);

    stockroom& stock_;
    comparison& strategies_;
    news& news_;
    asio::steady_timer timer_;
    std::int64_t initial_;
    strategy wanted_ = strategy::fenced, how_ = strategy::fenced;
    bool compare_ = false;
    std::int64_t item_ = 0, next_ = 0, number_ = 0;
    round_count round_;
    std::vector<open_round> open_;
    ledger ledger_;
};

} // namespace flash_sale_web
