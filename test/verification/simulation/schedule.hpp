#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace holdfast::simulation {

using nanoseconds = std::chrono::nanoseconds;

// True time, which no part of the simulated world can read, and the planned actions. Actions due at
// the same instant run in the order in which they were planned.
class schedule {
public:
    nanoseconds now() const noexcept { return now_; }

    void at(nanoseconds when, std::function<void()> action)
    {
        if (free_.empty()) {
            free_.push_back(actions_.size());
            actions_.emplace_back();
        }
        actions_[free_.back()] = std::move(action);
        plans_.push_back({std::max(when, now_), ++number_, free_.back()});
        free_.pop_back();
        std::push_heap(plans_.begin(), plans_.end(), later);
    }

    void after(nanoseconds delay, std::function<void()> action)
    {
        at(now_ + delay, std::move(action));
    }

    // Runs the actions that are due before `end`, or until `enough()`.
    template <class Predicate>
    void run_until(nanoseconds end, Predicate enough)
    {
        while (!plans_.empty() && plans_.front().when < end && !enough()) {
            std::pop_heap(plans_.begin(), plans_.end(), later);
            const plan next = plans_.back();
            plans_.pop_back();
            now_ = next.when;
            const std::function<void()> action = std::move(actions_[next.action]);
            free_.push_back(next.action);
            action();
        }
        if (!enough())
            now_ = std::max(now_, end);
    }

    std::uint64_t planned() const noexcept { return number_; }

private:
    struct plan {
        nanoseconds when{};
        std::uint64_t number = 0;
        std::size_t action = 0; // index
    };

    static bool later(const plan& a, const plan& b) noexcept
    {
        return a.when != b.when ? a.when > b.when : a.number > b.number;
    }

    std::vector<plan> plans_; // a heap
    std::vector<std::function<void()>> actions_;
    std::vector<std::size_t> free_; // places in actions_
    nanoseconds now_{0};
    std::uint64_t number_ = 0;
};

} // namespace holdfast::simulation
