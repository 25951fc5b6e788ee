#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

// Counting and measuring. Values only: no clock, no I/O.
namespace flash_sale_web {

using instant = std::chrono::steady_clock::time_point;
using std::chrono::microseconds;

/// Durations, and which share of them was how long.
class latencies {
public:
    void add(microseconds value) { all_.push_back(value); }
    std::size_t count() const { return all_.size(); }

    /// The shortest duration that this share of all durations does not exceed (nearest rank). 0 if
    /// there are none. `share` is more than 0 and at most 1.
    microseconds quantile(double share) const;

private:
    std::vector<microseconds> all_;
};

/// The durations of the last seconds.
class recent_latencies {
public:
    explicit recent_latencies(microseconds window) : window_(window) {}
    void add(instant now, microseconds value);
    latencies at(instant now);

private:
    void forget(instant now);

    microseconds window_;
    std::deque<std::pair<instant, microseconds>> all_;
};

/// How quickly a count grows.
class rate_meter {
public:
    explicit rate_meter(microseconds window) : window_(window) {}
    /// `total` never becomes smaller.
    void add(instant now, std::uint64_t total);
    /// Per second, over the window, or over the shorter time since the first total. 0 at first.
    double per_second() const;

private:
    microseconds window_;
    std::deque<std::pair<instant, std::uint64_t>> seen_; // at least as long as the window
};

/// When orders begin that come at a given rate, however long the shop takes to answer. An order
/// that begins late still counts from the time when it was due; so a shop that stands still does
/// not make its own figures better.
class pace {
public:
    pace(unsigned per_second, instant start);
    /// When the next order is due.
    instant next();
    /// Forgets orders that are overdue.
    void restart(instant now) { due_ = now; }

private:
    std::chrono::steady_clock::duration interval_;
    instant due_;
};

/// One round of the sale, as the database has it.
struct round_count {
    std::int64_t item = 0;
    bool locked = true; ///< sold under the lock
    std::int64_t initial = 0;
    std::int64_t left = 0;
    std::int64_t orders = 0;

    /// Orders for which no item was taken from the stock: those buyers get nothing.
    std::int64_t oversold() const { return orders - (initial - left); }
};

/// The rounds of a sale together, with and without the lock apart.
class ledger {
public:
    struct totals {
        std::int64_t orders = 0, oversold = 0, rounds = 0;
    };

    /// Adds a round, or replaces what is known of it. Not for a settled round.
    void update(const round_count& round);
    /// No more orders for this round: it need not be counted again.
    void settle(std::int64_t item);

    totals of(bool locked) const;

private:
    static void add(totals& to, const round_count& round);

    std::map<std::int64_t, round_count> open_;
    totals with_, without_; // of settled rounds
};

} // namespace flash_sale_web
