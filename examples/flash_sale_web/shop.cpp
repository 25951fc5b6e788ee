#include "shop.hpp"

#include <holdfast/metrics.hpp>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/array.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <utility>

namespace flash_sale_web {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t connections = 16; // of each server, to each store

constexpr std::size_t most_lines = 8; // older items are sold out

constexpr auto time_to_be_frozen = 200ms;

// Short, so that a frozen or crashed server does not stop the sale for long.
holdfast::lock_options terms()
{
    holdfast::lock_options options;
    options.ttl = 2s;
    options.wait = 4s;
    options.handoff_limit = 16; // the processes take turns often: no buyer waits for long
    return options;
}

std::string resource_of(order mine)
{
    return "item:" + std::to_string(mine.item);
}

holdfast::redlock_options plain()
{
    holdfast::redlock_options options;
    options.client_name = "flash-sale";
    options.silence_timeout = 2s; // a node that is cut off is given up soon
    return options;
}

} // namespace

holdfast::redlock_options fenced(bool first_deployment)
{
    holdfast::redlock_options options = plain();
    options.fencing = holdfast::fencing::on;
    options.fence.first_deployment = first_deployment;
    options.fence.quarantine = 4s; // longer than any ttl here
    return options;
}

shop::shop(asio::any_io_executor executor, const shop_settings& given)
    : thinking_(given.thinking),
      book_(executor, given.database, connections),
      redis_(executor, given.stock_port, connections),
      plain_(executor, holdfast::redlock(given.nodes, plain())),
      fenced_(executor, holdfast::redlock(given.nodes, fenced(false)))
{}

asio::awaitable<outcome> shop::sell(strategy how, order mine)
{
    outcome result = outcome::failed;
    try {
        result = co_await try_to_sell(how, mine);
    } catch (const std::exception& e) {
        reason_ = e.what();
    }
    ++counts_.at(static_cast<std::size_t>(result));
    co_return result;
}

asio::awaitable<outcome> shop::try_to_sell(strategy how, order mine)
{
    switch (how) {
    case strategy::none:
        co_return co_await take(mine);
    case strategy::lock:
        co_return co_await take_locked(mine);
    case strategy::hold:
        co_return co_await take_in_hold(mine);
    case strategy::fenced:
        co_return co_await take_fenced(mine);
    case strategy::batch:
        co_return co_await take_in_batch(mine);
    case strategy::for_update:
        co_return co_await book_.take_locked(mine, thinking_);
    case strategy::atomic:
        co_return co_await book_.take_at_once(mine);
    case strategy::redis:
        co_return co_await take_from_redis(mine);
    }
    co_return outcome::failed;
}

// Two servers that read the same number here sell the same item, unless a lock keeps one out.
asio::awaitable<outcome> shop::take(order mine)
{
    const std::int64_t left = co_await book_.read(mine);
    if (left <= 0)
        co_return outcome::sold_out;
    co_await think();
    co_await book_.write(mine, left - 1);
    co_return outcome::sold;
}

asio::awaitable<outcome> shop::take_locked(order mine)
{
    const holdfast::lock lock(plain_, resource_of(mine), terms());
    const holdfast::lease lease = co_await lock.acquire();
    co_return co_await take(mine);
}

asio::awaitable<outcome> shop::take_in_hold(order mine)
{
    const holdfast::lock lock(plain_, resource_of(mine), terms());
    auto body = [this, mine](holdfast::lease&) {
        return take(mine);
    };
    auto held = lock.hold(body);
    co_return co_await std::move(held);
}

asio::awaitable<outcome> shop::take_fenced(order mine)
{
    const holdfast::lock lock(fenced_, resource_of(mine), terms());
    const holdfast::lease lease = co_await lock.acquire();
    const std::uint64_t token = lease.fence().value();
    const std::optional<std::int64_t> left = co_await book_.read(mine, token);
    if (!left)
        co_return outcome::refused;
    if (*left <= 0)
        co_return outcome::sold_out;
    co_await think();
    const bool written = co_await book_.write(mine, *left - 1, token);
    co_return written ? outcome::sold : outcome::refused;
}

asio::awaitable<outcome> shop::take_in_batch(order mine)
{
    auto line = lines_.find(mine.item);
    if (line == lines_.end()) {
        if (lines_.size() >= most_lines)
            lines_.erase(lines_.begin());
        const holdfast::lock lock(fenced_, resource_of(mine), terms());
        auto body = [this, item = mine.item](
                        holdfast::lease& lease, std::span<std::int64_t> buyers) {
            return serve(item, lease, buyers);
        };
        line = lines_.try_emplace(mine.item, lock, body).first;
    }
    auto served = line->second.submit(mine.buyer);
    co_return co_await std::move(served);
}

// Many orders for what one costs.
asio::awaitable<std::vector<outcome>> shop::serve(
    std::int64_t item, holdfast::lease& under, std::span<std::int64_t> buyers)
{
    const std::uint64_t token = under.fence().value();
    const order any{item};
    const std::optional<std::int64_t> left = co_await book_.read(any, token);
    if (!left)
        co_return std::vector<outcome>(buyers.size(), outcome::refused);
    std::vector<outcome> replies(buyers.size(), outcome::sold_out);
    const auto lucky =
        std::min(buyers.size(), static_cast<std::size_t>(std::max<std::int64_t>(*left, 0)));
    if (lucky == 0)
        co_return replies;
    co_await think();
    const std::vector<std::int64_t> first(
        buyers.begin(), buyers.begin() + static_cast<std::ptrdiff_t>(lucky));
    const auto rest = *left - static_cast<std::int64_t>(lucky);
    const bool written = co_await book_.write(item, first, rest, token);
    std::fill_n(replies.begin(), lucky, written ? outcome::sold : outcome::refused);
    co_return replies;
}

asio::awaitable<outcome> shop::take_from_redis(order mine)
{
    const bool taken = co_await redis_.take(mine.item);
    if (taken)
        co_await book_.record(mine);
    co_return taken ? outcome::sold : outcome::sold_out;
}

// Stands for what a shop does in between: a price, a limit for each buyer, a payment.
asio::awaitable<void> shop::think()
{
    auto time = thinking_;
    if (const auto tell = std::exchange(tell_, nullptr)) {
        tell();
        time += time_to_be_frozen;
    }
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor, time);
    co_await timer.async_wait(asio::use_awaitable);
}

json::object shop::figures() const
{
    const holdfast::locker_stats a = plain_.stats(), b = fenced_.stats();
    json::array nodes;
    for (const holdfast::node_stats& node : b.nodes) {
        const bool quarantined = node.reason.starts_with("in quarantine");
        nodes.push_back(json::object{
            {"connected", node.connected}, {"quarantined", quarantined}, {"reason", node.reason}});
    }
    const auto count = [this](outcome what) {
        return counts_.at(static_cast<std::size_t>(what));
    };
    return {{"waiting", a.waiting + b.waiting}, {"held", a.held + b.held},
        {"granted", a.acquired + b.acquired}, {"handed_over", a.handed_over + b.handed_over},
        {"lost", a.lost + b.lost}, {"sold", count(outcome::sold)},
        {"refused", count(outcome::refused)}, {"failed", count(outcome::failed)},
        {"reason", reason_}, {"nodes", std::move(nodes)}};
}

std::string shop::metrics() const
{
    const std::array<holdfast::labelled_stats, 2> all{
        {{"plain", plain_.stats()}, {"fenced", fenced_.stats()}}};
    return holdfast::to_prometheus(all);
}

} // namespace flash_sale_web
