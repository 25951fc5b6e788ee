#include "report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace flash_sale {
namespace {

constexpr std::size_t reasons_kept = 3;
constexpr std::string_view closing_word = "end";

template <class Value>
void row(const std::string& name, const Value& value, const std::string& remark = {})
{
    std::cout << "  " << std::left << std::setw(34) << name << std::right << std::setw(10) << value
              << "  " << remark << '\n';
}

std::string milliseconds(std::chrono::microseconds time)
{
    std::ostringstream text;
    text << std::fixed << std::setprecision(1) << static_cast<double>(time.count()) / 1'000.0;
    return text.str();
}

} // namespace

std::string buyer_line(outcome what, std::chrono::microseconds wait, const std::string& why)
{
    return std::to_string(static_cast<unsigned>(what)) + ' ' + std::to_string(wait.count()) + ' ' +
           why + '\n';
}

std::string closing_line(const lock_work& done)
{
    return std::string(closing_word) + ' ' + std::to_string(done.attempts) + ' ' +
           std::to_string(done.handed_over) + ' ' + std::to_string(done.node_commands) + '\n';
}

void tally::add(std::string_view line)
{
    std::istringstream words{std::string(line)};
    std::string kind;
    std::uint64_t number = 0;
    if (!(words >> kind >> number))
        throw std::runtime_error("unexpected output of a worker: " + std::string(line));
    if (kind == closing_word) {
        lock_work done;
        if (!(words >> done.handed_over >> done.node_commands))
            throw std::runtime_error("unexpected output of a worker: " + std::string(line));
        work_.attempts += number;
        work_.handed_over += done.handed_over;
        work_.node_commands += done.node_commands;
        return;
    }

    const auto index = std::stoul(kind);
    ++counts_.at(index);
    const auto what = static_cast<outcome>(index);
    if (what == outcome::sold) {
        last_order_ = std::chrono::steady_clock::now();
        if (count(outcome::sold) == 1)
            first_order_ = last_order_;
    }
    if (what != outcome::gave_up)
        waits_us_.push_back(static_cast<std::uint32_t>(number));
    std::string why;
    std::getline(words >> std::ws, why);
    if (!why.empty() && reasons_.size() < reasons_kept)
        reasons_.push_back(why);
}

std::size_t tally::served() const
{
    std::size_t all = 0;
    for (const auto some : counts_)
        all += some;
    return all;
}

double tally::orders_per_second() const
{
    const std::chrono::duration<double> time = last_order_ - first_order_;
    const auto sold = static_cast<double>(count(outcome::sold));
    return time.count() > 0 ? (sold - 1) / time.count() : 0;
}

std::chrono::microseconds tally::wait(double share) const
{
    if (waits_us_.empty())
        return {};
    auto sorted = waits_us_;
    std::sort(sorted.begin(), sorted.end());
    const auto rank = std::ceil(share * static_cast<double>(sorted.size()));
    const auto index = std::max<std::size_t>(static_cast<std::size_t>(rank), 1) - 1;
    return std::chrono::microseconds(sorted[std::min(index, sorted.size() - 1)]);
}

verdict::verdict(long stock_before, long stock_after, long recorded_orders)
    : sold(recorded_orders),
      oversold(std::max(0L, recorded_orders - stock_before)),
      lost_updates(recorded_orders - (stock_before - stock_after))
{}

std::string verdict::text() const
{
    return "sold=" + std::to_string(sold) + " oversold=" + std::to_string(oversold) +
           " lost_updates=" + std::to_string(lost_updates);
}

void print_table(const settings& wanted, const tally& told, const verdict& truth,
    const node_losses& losses, const freeze& frozen)
{
    const auto confirmed = static_cast<long>(told.count(outcome::sold));
    const auto written = std::to_string(truth.sold - confirmed) + " of them took effect";
    std::ostringstream rate;
    rate << std::fixed << std::setprecision(0) << told.orders_per_second();
    std::ostringstream commands;
    commands << std::fixed << std::setprecision(1)
             << static_cast<double>(told.work().node_commands) /
                    static_cast<double>(std::max(confirmed, 1L));

    std::cout << '\n';
    row("orders", confirmed, "for " + std::to_string(wanted.stock) + " items");
    row("orders in doubt", told.count(outcome::in_doubt),
        told.count(outcome::in_doubt) ? written : "");
    row("buyers who found it sold out", told.count(outcome::sold_out));
    row("orders/s", rate.str());
    if (wanted.lock) {
        row("buyers who gave up", told.count(outcome::gave_up));
        row("wait for the lock, p50", milliseconds(told.wait(0.50)), "ms");
        row("wait for the lock, p99", milliseconds(told.wait(0.99)), "ms");
        row("transfers from buyer to buyer", told.work().handed_over);
        row("attempts at the lock nodes", told.work().attempts);
        row("node commands per order", commands.str());
        row("leases lost", told.count(outcome::lost) + told.count(outcome::in_doubt) +
                               told.count(outcome::refused));
        row("faults of lock nodes", losses.killed + losses.paused,
            "in " + std::to_string(wanted.nodes) + ": " + std::to_string(losses.killed) +
                " killed" + (losses.restarted ? " and started again, " : ", ") +
                std::to_string(losses.paused) + " paused for a while");
        if (wanted.freeze)
            row("processes frozen with the lock", frozen.processes,
                std::to_string(frozen.orders_meanwhile) + " orders of others meanwhile");
        if (wanted.fenced)
            row("orders refused as stale", told.count(outcome::refused));
    }
    for (const auto& reason : told.reasons())
        std::cout << "  a buyer gave up: " << reason << '\n';
    std::cout << '\n';
}

progress::progress() : terminal_(::isatty(STDOUT_FILENO) == 1) {}

std::chrono::milliseconds progress::interval() const
{
    return terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(1'000);
}

void progress::update(const std::string& text)
{
    if (terminal_)
        std::cout << "\r\033[K" << text << std::flush;
    else if (text != last_)
        std::cout << text << std::endl;
    drawn_ = terminal_;
    last_ = text;
}

void progress::say(const std::string& text)
{
    finish();
    std::cout << text << std::endl;
}

void progress::finish()
{
    if (drawn_)
        std::cout << "\r\033[K" << std::flush;
    drawn_ = false;
}

} // namespace flash_sale
