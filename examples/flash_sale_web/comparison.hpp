#pragma once

#include "stockroom.hpp"
#include "strategy.hpp"
#include "worker.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace flash_sale_web {

/// All strategies in turn, for the same time, with the same buyers, servers and stores.
class comparison {
public:
    comparison(asio::any_io_executor executor, stockroom& stock, std::chrono::seconds time_for_each)
        : stock_(stock),
          timer_(std::move(executor)),
          time_(time_for_each)
    {}

    asio::awaitable<void> run(worker& load);

    /// A line of the load's that has a result.
    void hear(const json::object& line);

    bool running() const { return now_.has_value(); }
    /// For the page: each strategy, with its figures if it was measured, and whether it is measured
    /// now.
    json::array describe() const;
    /// For a terminal.
    std::string text() const;
    /// Whether no strategy that promises not to oversell has done so.
    bool kept_promises() const;

private:
    struct figures {
        double orders_per_second = 0;
        microseconds p50{}, p99{};
        std::int64_t refused = 0, unanswered = 0; // orders
        std::int64_t oversold = 0;
    };
    asio::awaitable<figures> measure(worker& load, strategy how);
    asio::awaitable<void> pause(std::chrono::milliseconds time);
    const figures* of(strategy how) const;

    stockroom& stock_;
    asio::steady_timer timer_;
    std::chrono::seconds time_;
    std::optional<strategy> now_;
    std::optional<figures> heard_;
    std::map<strategy, figures> results_;
};

} // namespace flash_sale_web
