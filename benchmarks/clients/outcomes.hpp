#pragma once

#include "held_leases.hpp"
#include "quantiles.hpp"
#include "usage.hpp"

#include <holdfast/error.hpp>

#include <boost/json/object.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace benchmark {

// Counts the outcomes of acquires under load.
class outcomes {
public:
    using clock = std::chrono::steady_clock;

    // No `error`: granted.
    void count(const holdfast::error_code& error, clock::duration took)
    {
        if (error)
            ++errors_[error.value()];
        else
            acquire_ms_.push_back(std::chrono::duration<float, std::milli>(took).count());
    }

    std::uint64_t granted() const { return acquire_ms_.size(); }

    // Adds the outcomes to the printed figures.
    void add_to(boost::json::object& figures)
    {
        boost::json::object errors;
        for (const auto& [value, times] : errors_)
            errors[holdfast::error_category().message(value)] = times;
        figures["granted"] = granted();
        figures["errors"] = errors;
        add_quantiles(figures, "acquire_ms", acquire_ms_);
    }

private:
    std::map<int, std::uint64_t> errors_;
    std::vector<float> acquire_ms_; // of granted acquires
};

// Leases that are held during a measurement: whether they are kept, and how close to their end they
// came.
class bystanders {
public:
    explicit bystanders(holdfast::locker& locker, const std::string& prefix)
        : leases_(locker, prefix + "held:", std::chrono::seconds(10))
    {}

    boost::asio::awaitable<void> acquire(std::size_t count)
    {
        count_ = count;
        co_await leases_.acquire(count);
        since_ = std::chrono::steady_clock::now();
    }

    // Must be called regularly.
    void look() { shortest_rest_ = std::min(shortest_rest_, leases_.shortest_rest()); }

    void add_to(boost::json::object& figures) const
    {
        if (count_ == 0)
            return;
        const std::chrono::duration<double> held = std::chrono::steady_clock::now() - since_;
        figures["held"] = count_;
        figures["held_seconds"] = held.count();
        figures["lost"] = leases_.lost();
        figures["shortest_rest_ms"] = shortest_rest_.count();
    }

private:
    held_leases leases_;
    std::size_t count_ = 0;
    std::chrono::steady_clock::time_point since_{}; // when all were acquired
    std::chrono::milliseconds shortest_rest_{std::chrono::hours(1)};
};

} // namespace benchmark
