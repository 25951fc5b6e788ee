#pragma once

#include "verification/recipes/world.hpp"

#include <utility>
#include <vector>

namespace holdfast::recipe_simulation {

// A process: its clock, which runs at a rate of its own, its pauses and its crash. While it is
// paused, nothing is delivered to it; it gets all of that when it goes on.
class process {
public:
    // `rate`: how fast its clock runs, 1 is right.
    process(world& w, int n, double rate) : number(n), world_(w), rate_(rate) {}
    process(const process&) = delete;
    process& operator=(const process&) = delete;

    // By its own clock.
    time_point now() const noexcept { return shown_at(world_.now()); }
    time_point true_time(time_point shown) const noexcept
    {
        return shown == core::never ? core::never : time_point(scaled(shown, 1 / rate_));
    }

    // Makes a call in this process, when it runs.
    void deliver(world::event what)
    {
        if (crashed_)
            return;
        if (paused_)
            missed_.push_back(std::move(what));
        else
            what();
    }
    // As above, at a time of its own clock, or just after it.
    void deliver_at(time_point shown, world::event what)
    {
        world_.at(true_time(shown) + 1us, [this, what = std::move(what)] { deliver(what); });
    }

    bool runs() const noexcept { return !crashed_ && !paused_; }
    bool crashed() const noexcept { return crashed_; }
    // Whether it has run without a pause for so long.
    bool has_run_for(duration length) const noexcept
    {
        return runs() && world_.now() - resumed_ >= length;
    }

    void crash() { crashed_ = true; }
    void pause_for(duration length)
    {
        if (paused_)
            return;
        paused_ = true;
        world_.after(length, [this] {
            paused_ = false;
            resumed_ = world_.now();
            for (const auto& what : std::exchange(missed_, {}))
                deliver(what);
        });
    }

    const int number;

private:
    static duration scaled(time_point t, double factor) noexcept
    {
        return duration(
            static_cast<std::int64_t>(static_cast<double>(t.time_since_epoch().count()) * factor));
    }
    time_point shown_at(time_point when) const noexcept { return time_point(scaled(when, rate_)); }

    world& world_;
    const double rate_;
    bool paused_ = false, crashed_ = false;
    time_point resumed_{};
    std::vector<world::event> missed_;
};

} // namespace holdfast::recipe_simulation
