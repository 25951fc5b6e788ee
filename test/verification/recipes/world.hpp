#pragma once

#include "core/time.hpp"
#include "verification/simulation/dice.hpp"

#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::recipe_simulation {

using namespace std::chrono_literals;
using core::duration;
using core::time_point;
using simulation::dice;

// True time, what is going to happen, and the one source of randomness. The seed determines all.
class world {
public:
    using event = std::function<void()>;

    explicit world(std::uint64_t seed) : random(seed) {}

    time_point now() const noexcept { return now_; }
    void at(time_point when, event what) { events_.push({when, ++count_, std::move(what)}); }
    void after(duration delay, event what) { at(now_ + delay, std::move(what)); }

    // Lets things happen until `end`.
    void run_until(time_point end)
    {
        while (!events_.empty() && events_.top().when <= end) {
            // The event may add others.
            const event what = std::move(const_cast<entry&>(events_.top()).what);
            now_ = std::max(now_, events_.top().when);
            events_.pop();
            what();
        }
        now_ = end;
    }

    void violation(std::string what) { violations.push_back(std::move(what)); }

    dice random;
    std::vector<std::string> violations;

private:
    struct entry {
        time_point when;
        std::uint64_t number;
        event what;
        bool operator<(const entry& other) const noexcept
        {
            return when != other.when ? when > other.when : number > other.number;
        }
    };
    time_point now_{};
    std::uint64_t count_ = 0;
    std::priority_queue<entry> events_;
};

} // namespace holdfast::recipe_simulation
