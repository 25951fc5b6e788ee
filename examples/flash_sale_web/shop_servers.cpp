#include "shop_servers.hpp"

#include "server.hpp"
#include "spawn.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/array.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace flash_sale_web {
namespace {

using namespace std::chrono_literals;

constexpr auto order_limit = 4s; // for a server that does not sell now

std::int64_t figure_of(const json::object& figures, const char* name)
{
    return figures.contains(name) ? number(figures, name) : 0;
}

} // namespace

shop_servers::shop_servers(
    asio::io_context& io, std::size_t count, const shop_settings& given, refusal_handler refused)
    : io_(io),
      refused_(std::move(refused))
{
    for (std::size_t i = 0; i < count; ++i) {
        member& one = *servers_.emplace_back(std::make_unique<member>(io));
        one.process = std::make_unique<worker>(io.get_executor(), "server", server_settings(given),
            [this, i](const json::object& line) { hear(i, line); });
    }
}

void shop_servers::hear(std::size_t server, const json::object& line)
{
    member& one = *servers_.at(server);
    if (line.contains("port")) {
        one.port = static_cast<std::uint16_t>(number(line, "port"));
        return;
    }
    if (line.contains("at_write")) {
        if (one.awaits_write)
            one.timer.cancel();
        return;
    }
    const std::int64_t more = figure_of(line, "refused") - figure_of(one.figures, "refused");
    one.figures = line;
    if (more > 0)
        refused_(server, more);
}

asio::awaitable<std::vector<std::uint16_t>> shop_servers::ports()
{
    asio::steady_timer timer(io_);
    std::vector<std::uint16_t> all;
    for (const auto& each : servers_) {
        while (each->port == 0) {
            timer.expires_after(5ms);
            co_await timer.async_wait(asio::use_awaitable);
        }
        all.push_back(each->port);
    }
    co_return all;
}

bool shop_servers::any_frozen() const
{
    return std::any_of(
        servers_.begin(), servers_.end(), [](const auto& each) { return each->frozen; });
}

bool shop_servers::freeze(
    std::size_t server, std::chrono::milliseconds time, std::function<void()> thawed)
{
    member& one = *servers_.at(server);
    if (one.frozen)
        return false;
    one.frozen = true;
    asio::co_spawn(io_, keep_frozen(one, time, std::move(thawed)), rethrow);
    return true;
}

asio::awaitable<void> shop_servers::keep_frozen(
    member& one, std::chrono::milliseconds time, std::function<void()> thawed)
{
    const auto token = asio::experimental::as_tuple(asio::use_awaitable);
    one.process->tell({{"announce_next_write", true}});
    one.awaits_write = true;
    one.timer.expires_after(order_limit);
    co_await one.timer.async_wait(token); // hear() may end it
    one.awaits_write = false;
    one.process->process().pause();
    one.timer.expires_after(time);
    co_await one.timer.async_wait(token);
    one.process->process().resume();
    one.frozen = false;
    thawed();
}

std::int64_t shop_servers::sum(const char* figure) const
{
    std::int64_t all = 0;
    for (const auto& each : servers_)
        all += figure_of(each->figures, figure);
    return all;
}

shop_servers::opinion shop_servers::of_node(std::size_t node) const
{
    opinion result;
    for (const auto& each : servers_) {
        const json::value* const nodes = each->figures.if_contains("nodes");
        if (nodes == nullptr)
            continue;
        const json::object& seen = nodes->as_array().at(node).as_object();
        if (seen.at("connected").as_bool())
            ++result.connected;
        if (seen.at("quarantined").as_bool())
            ++result.quarantined;
        if (!seen.at("reason").as_string().empty())
            result.reason = std::string(seen.at("reason").as_string());
    }
    return result;
}

json::array shop_servers::describe() const
{
    json::array all;
    for (const auto& each : servers_) {
        json::object one{{"port", each->port}, {"frozen", each->frozen},
            {"pid", each->process->process().pid()}};
        for (const char* const name : {"waiting", "held", "sold", "refused", "failed", "lost"})
            one[name] = figure_of(each->figures, name);
        if (const json::value* const reason = each->figures.if_contains("reason"))
            one["reason"] = *reason;
        all.push_back(std::move(one));
    }
    return all;
}

} // namespace flash_sale_web
