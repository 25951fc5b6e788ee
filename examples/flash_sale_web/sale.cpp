#include "sale.hpp"

#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace flash_sale_web {
namespace {

using namespace std::chrono_literals;

constexpr auto count_interval = 250ms;
constexpr auto told_after = 2s;     // orders under way at the end of a round are counted by then
constexpr auto settled_after = 30s; // longer than a server is frozen

} // namespace

sale::sale(asio::any_io_executor executor, stockroom& stock, comparison& strategies, news& log,
    std::int64_t stock_of_a_round)
    : stock_(stock),
      strategies_(strategies),
      news_(log),
      timer_(std::move(executor)),
      initial_(stock_of_a_round)
{}

asio::awaitable<void> sale::run(worker& load)
{
    co_await begin(load);
    for (;;) {
        timer_.expires_after(count_interval);
        co_await timer_.async_wait(asio::use_awaitable);
        co_await count();
        if (compare_) {
            end_round(false);
            co_await strategies_.run(load);
            compare_ = false;
            news_.add(news::kind::info, "The strategies have been compared. The sale goes on.");
            co_await begin(load);
        } else if (wanted_ != how_) {
            end_round(false);
            co_await begin(load);
        } else if (round_.left <= 0) {
            co_await advance(load);
        }
    }
}

asio::awaitable<void> sale::begin(worker& load)
{
    how_ = wanted_;
    item_ = co_await put_round();
    next_ = co_await put_round();
    offer(load);
}

asio::awaitable<void> sale::advance(worker& load)
{
    end_round(true);
    item_ = next_;
    next_ = co_await put_round();
    offer(load);
}

asio::awaitable<std::int64_t> sale::put_round()
{
    const std::int64_t item = co_await stock_.put(how_, initial_);
    open_.push_back({item});
    co_return item;
}

// The buyers go to the next item by themselves; by then another one is next.
void sale::offer(worker& load)
{
    ++number_;
    round_ = {
        .item = item_, .locked = how_ != strategy::none, .initial = initial_, .left = initial_};
    load.tell({{"strategy", text_of(how_).name}, {"item", item_}, {"next", next_}});
}

void sale::end_round(bool sold_out)
{
    for (open_round& each : open_) {
        if (each.item == item_ || (!sold_out && each.item == next_)) {
            each.ended = std::chrono::steady_clock::now();
            each.sold_out = sold_out;
        }
    }
}

asio::awaitable<void> sale::count()
{
    std::vector<std::int64_t> items;
    for (const open_round& each : open_)
        items.push_back(each.item);
    const std::vector<round_count> counted = co_await stock_.count(items);
    const instant now = std::chrono::steady_clock::now();
    for (const round_count& seen : counted) {
        if (seen.item != item_ && seen.orders == 0)
            continue; // it was never on sale, or is not yet
        ledger_.update(seen);
        if (seen.item == item_)
            round_ = seen;
        const auto found = std::find_if(open_.begin(), open_.end(),
            [&seen](const open_round& each) { return each.item == seen.item; });
        follow_up(*found, seen, now);
    }
    std::erase_if(open_, [&](const open_round& each) {
        const bool over = each.ended && *each.ended + settled_after < now;
        if (over)
            ledger_.settle(each.item);
        return over;
    });
}

void sale::follow_up(open_round& each, const round_count& seen, instant now)
{
    if (!each.ended || each.told || *each.ended + told_after > now)
        return;
    each.told = true;
    const std::string text =
        std::to_string(seen.initial - seen.left) +
        (each.sold_out ? " items are sold out, to " : " items were sold, to ") +
        std::to_string(seen.orders) + " buyers";
    if (seen.oversold() != 0)
        news_.add(news::kind::harm,
            text + ": " + std::to_string(seen.oversold()) + " of them get nothing.");
    else if (each.sold_out)
        news_.add(news::kind::info, text + ".");
}

} // namespace flash_sale_web
