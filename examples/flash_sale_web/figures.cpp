#include "figures.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace flash_sale_web {
namespace {

using namespace std::chrono_literals;

constexpr auto point_interval = 500ms;

std::int64_t wall_clock_ms()
{
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

} // namespace

void figures::hear(const json::object& line)
{
    load_ = line;
    if (sale_.comparing()) // the sale pauses
        sold_ = rate_meter(rate_window);
    sold_.add(std::chrono::steady_clock::now(), static_cast<std::uint64_t>(number(line, "sold")));
}

asio::awaitable<void> figures::draw()
{
    asio::steady_timer timer(co_await asio::this_coro::executor);
    for (;;) {
        const bool locked = sale_.sold_by() != strategy::none;
        points_.push_back({wall_clock_ms(), sold_.per_second(), locked});
        ++last_point_;
        if (points_.size() > most_points)
            points_.pop_front();
        timer.expires_after(point_interval);
        co_await timer.async_wait(asio::use_awaitable);
    }
}

json::object figures::now(feed_position& seen) const
{
    const round_count& round = sale_.round();
    json::object all{{"time_ms", wall_clock_ms()}, {"strategy", text_of(sale_.sold_by()).name},
        {"comparing", sale_.comparing()}, {"orders_per_second", sold_.per_second()},
        {"round", json::object{{"number", sale_.round_number()}, {"initial", round.initial},
                      {"left", round.left}}},
        {"waiting", servers_.sum("waiting")}, {"leases", servers_.sum("held")},
        {"granted", servers_.sum("granted")}, {"handed_over", servers_.sum("handed_over")},
        {"refused", servers_.sum("refused")}, {"lost", servers_.sum("lost")},
        {"with_lock", totals(true)}, {"without_lock", totals(false)}, {"load", load_},
        {"nodes", describe_nodes()}, {"servers", servers_.describe()},
        {"strategies", strategies_.describe()}, {"news", news_.since(seen.news)},
        {"points", points_since(seen.points)}};
    seen.news = news_.last();
    seen.points = last_point_;
    return all;
}

json::object figures::totals(bool locked) const
{
    const ledger::totals all = sale_.books().of(locked);
    return {{"orders", all.orders}, {"oversold", all.oversold}, {"rounds", all.rounds}};
}

json::array figures::describe_nodes() const
{
    json::array all;
    for (std::size_t i = 0; i < nodes_.count(); ++i) {
        const shop_servers::opinion seen = servers_.of_node(i);
        const char* state = "connecting";
        if (nodes_.of(i) == lock_nodes::state::killed)
            state = "down";
        else if (nodes_.of(i) == lock_nodes::state::cut)
            state = "cut off";
        else if (seen.quarantined > 0)
            state = "in quarantine";
        else if (seen.connected == servers_.count())
            state = "up";
        all.push_back(json::object{{"address", nodes_.address(i)}, {"state", state},
            {"connected", seen.connected}, {"reason", seen.reason}});
    }
    return all;
}

json::array figures::points_since(std::uint64_t seen) const
{
    const auto fresh = std::min<std::uint64_t>(last_point_ - seen, points_.size());
    json::array all;
    for (auto i = points_.end() - static_cast<std::ptrdiff_t>(fresh); i != points_.end(); ++i)
        all.push_back(json::object{{"time_ms", i->time_ms},
            {"orders_per_second", i->orders_per_second}, {"locked", i->locked}});
    return all;
}

} // namespace flash_sale_web
