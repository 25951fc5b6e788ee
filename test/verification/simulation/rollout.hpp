#pragma once

#include "verification/simulation/process.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace holdfast::simulation {

// Replaces processes at random times, as a deployment does: a process is told to end, drains its
// locker, closes it, ends, and starts again.
class rollout {
public:
    rollout(surroundings& world, std::vector<std::unique_ptr<process>>& processes,
        std::function<void(process&)> on_started);

    void begin();
    void end() noexcept { over_ = true; }                         // what has begun goes on
    std::uint64_t replaced() const noexcept { return replaced_; } // processes

private:
    void plan_next();
    void replace(process& p);
    void go_on(process& p);
    void finish(process& p);
    core::duration some_time();

    surroundings& world_;
    std::vector<std::unique_ptr<process>>& processes_;
    std::function<void(process&)> on_started_;
    std::uint64_t replaced_ = 0;
    bool over_ = false;
};

} // namespace holdfast::simulation
