#pragma once

#include "comparison.hpp"
#include "lock_nodes.hpp"
#include "news.hpp"
#include "page_server.hpp"
#include "sale.hpp"
#include "shop_servers.hpp"
#include "statistics.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>

namespace flash_sale_web {

/// Puts together what the page shows.
class figures {
public:
    figures(const lock_nodes& nodes, const shop_servers& servers, const sale& selling,
        const comparison& strategies, const news& log)
        : nodes_(nodes),
          servers_(servers),
          sale_(selling),
          strategies_(strategies),
          news_(log)
    {}

    /// A line of the load's with its counts.
    void hear(const json::object& line);

    /// The figures now, and the news and points of the chart that were not seen before.
    json::object now(feed_position& seen) const;

    /// Makes a point of the chart twice a second. Does not end.
    asio::awaitable<void> draw();

private:
    struct point {
        std::int64_t time_ms;
        double orders_per_second;
        bool locked;
    };
    static constexpr std::size_t most_points = 240;
    static constexpr std::chrono::seconds rate_window{1};

    json::array describe_nodes() const;
    json::array points_since(std::uint64_t seen) const;
    json::object totals(bool locked) const;

    const lock_nodes& nodes_;
    const shop_servers& servers_;
    const sale& sale_;
    const comparison& strategies_;
    const news& news_;
    json::object load_;
    rate_meter sold_{rate_window};
    std::deque<point> points_;
    std::uint64_t last_point_ = 0;
};

} // namespace flash_sale_web
