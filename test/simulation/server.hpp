#pragma once

#include "redis/fence_settings.hpp"
#include "simulation/clocks.hpp"
#include "simulation/costs.hpp"
#include "simulation/network.hpp"
#include "simulation/witness.hpp"
#include "support/redis_model.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace holdfast::simulation {

// One node: the model of a Redis server, its clock, and what can happen to its process.
class server final : public listener {
public:
    // What a process that starts again still knows.
    enum class memory : std::uint8_t { everything, nothing, a_snapshot };

    server(std::size_t number, schedule& time, network& net, referee& judge, wall_clock clock,
        std::uint64_t run);

    std::size_t number() const noexcept { return number_; }

    void work_costs(const node_costs& costs) noexcept { costs_ = costs; }

    void freeze() noexcept
    {
        frozen_ = true;
        thread_.stand_still();
    }
    void thaw();
    void crash(bool host_too);
    void restart(memory what);
    // No further in all than was allowed, so that the clocks of nodes do not get too far apart.
    void set_clock_forward(nanoseconds by) noexcept
    {
        by = std::min(by, may_go_forward_);
        may_go_forward_ -= by;
        clock_.step(by);
    }
    void allow_forward(nanoseconds in_all) noexcept { may_go_forward_ = in_all; }
    // Once only: what a key gains in life by it is bounded.
    void set_clock_back(nanoseconds by) noexcept
    {
        clock_.step(-std::exchange(may_go_back_, 0) * by);
    }
    // Throws expired keys out, as a real server does now and then without being asked.
    void expire();
    // As if clients of these terms had used it for long.
    void remember(const redis::fence_settings& terms);
    void flush();
    void lose_locks();
    void take_snapshot() { snapshot_ = model_.contents(); }
    void forget_scripts() noexcept { model_.forget_scripts(); }
    // Clients cannot be told that their turn has come, so it keeps no queue for them.
    void forbid_subscriptions() noexcept { forbids_subscriptions_ = true; }
    void set_trouble(test::redis_model::trouble what) noexcept { model_.state = what; }

    bool up() const noexcept override { return up_; }
    bool frozen() const noexcept override { return frozen_; }
    void on_bytes(
        test::redis_model::session& session, std::string_view bytes, std::string& replies) override;

    processor& thread() noexcept override { return thread_; }
    std::size_t reads_at_once() const noexcept override { return costs_.reads_at_once; }

    // Tells `trace` of each command.
    void tell(std::function<void(const std::string&)> trace) { trace_ = std::move(trace); }

    // How many keys of locks and queues it would still find.
    std::size_t keys() const;
    std::string describe_keys() const;

private:
    std::string next_run_id();
    void execute(std::string_view command); // of nobody's
    void note(test::redis_model::arguments command) const;
    nanoseconds cost_of(test::redis_model::arguments command) const;
    std::chrono::milliseconds wall() const { return clock_.show(time_.now()); }

    const std::size_t number_;
    schedule& time_;
    network& network_;
    processor thread_;
    node_costs costs_;
    witness witness_;
    std::function<void(const std::string&)> trace_;
    wall_clock clock_;
    std::uint64_t run_;
    std::string run_id_;
    test::redis_model model_;
    test::redis_model::data snapshot_;
    bool up_ = true, frozen_ = false, forbids_subscriptions_ = false;
    int may_go_back_ = 1;
    nanoseconds may_go_forward_ = nanoseconds::max();
};

} // namespace holdfast::simulation
