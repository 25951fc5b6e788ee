#include "comparison.hpp"

#include <boost/asio/use_awaitable.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <stdexcept>

namespace flash_sale_web {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t enough = 10'000'000; // no strategy sells this many
constexpr auto warm_up = 500ms;
constexpr auto settling = 500ms; // for orders that are under way
constexpr auto answer_limit = 10s;

double milliseconds(microseconds time)
{
    return static_cast<double>(time.count()) / 1'000;
}

} // namespace

asio::awaitable<void> comparison::run(worker& load)
{
    results_.clear();
    for (const strategy_text& each : all_strategies) {
        now_ = each.is;
        const figures result = co_await measure(load, each.is);
        results_[each.is] = result;
    }
    now_.reset();
}

asio::awaitable<comparison::figures> comparison::measure(worker& load, strategy how)
{
    const std::int64_t item = co_await stock_.put(how, enough);
    load.tell({{"strategy", text_of(how).name}, {"item", item}, {"next", item}});
    co_await pause(warm_up);
    heard_.reset();
    load.tell({{"measure", true}});
    co_await pause(time_);
    load.tell({{"measure", false}});
    load.tell({{"strategy", text_of(how).name}, {"item", 0}, {"next", 0}}); // nothing is on sale
    const auto deadline = std::chrono::steady_clock::now() + answer_limit;
    while (!heard_) {
        if (std::chrono::steady_clock::now() > deadline)
            throw std::runtime_error("the load generator does not answer");
        co_await pause(10ms);
    }
    co_await pause(settling);
    figures result = *heard_;
    const std::vector<std::int64_t> one{item};
    const std::vector<round_count> counted = co_await stock_.count(one);
    result.oversold = counted.front().oversold();
    co_return result;
}

void comparison::hear(const json::object& line)
{
    heard_ = figures{line.at("orders_per_second").to_number<double>(),
        microseconds(number(line, "p50_us")), microseconds(number(line, "p99_us")),
        number(line, "refused"), number(line, "unanswered"), 0};
}

asio::awaitable<void> comparison::pause(std::chrono::milliseconds time)
{
    timer_.expires_after(time);
    co_await timer_.async_wait(asio::use_awaitable);
}

const comparison::figures* comparison::of(strategy how) const
{
    const auto found = results_.find(how);
    return found == results_.end() ? nullptr : &found->second;
}

json::array comparison::describe() const
{
    json::array all;
    for (const strategy_text& each : all_strategies) {
        json::object row{{"name", each.name}, {"title", each.title}, {"guarantee", each.guarantee},
            {"running", now_ == each.is}};
        if (const figures* const result = of(each.is)) {
            row["orders_per_second"] = result->orders_per_second;
            row["p50_ms"] = milliseconds(result->p50);
            row["p99_ms"] = milliseconds(result->p99);
            row["oversold"] = result->oversold;
        }
        all.push_back(std::move(row));
    }
    return all;
}

std::string comparison::text() const
{
    std::ostringstream table;
    char line[160];
    std::snprintf(line, sizeof line, "%-24s %10s %9s %9s %9s %11s %9s\n", "strategy", "orders/s",
        "p50 ms", "p99 ms", "refused", "unanswered", "oversold");
    table << line;
    for (const strategy_text& each : all_strategies) {
        const figures* const result = of(each.is);
        if (result == nullptr)
            continue;
        std::snprintf(line, sizeof line, "%-24s %10.0f %9.1f %9.1f %9lld %11lld %9lld\n",
            each.title.data(), result->orders_per_second, milliseconds(result->p50),
            milliseconds(result->p99), static_cast<long long>(result->refused),
            static_cast<long long>(result->unanswered), static_cast<long long>(result->oversold));
        table << line;
    }
    table << '\n';
    for (const strategy_text& each : all_strategies)
        table << each.title << ": " << each.guarantee << '\n';
    return table.str();
}

bool comparison::kept_promises() const
{
    return std::all_of(all_strategies.begin(), all_strategies.end(), [this](const auto& each) {
        const figures* const result = of(each.is);
        return result == nullptr || !each.never_oversells || result->oversold == 0;
    });
}

} // namespace flash_sale_web
