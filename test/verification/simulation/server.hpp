#pragma once

#include "redis/dialect/fence_settings.hpp"
#include "support/redis_model.hpp"
#include "verification/simulation/clocks.hpp"
#include "verification/simulation/costs.hpp"
#include "verification/simulation/network.hpp"
#include "verification/simulation/witness.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace holdfast::simulation {

// One node: the model of a Redis server, its clock, and the faults of its process.
class server final : public listener {
public:
    // The data that a restarted process still has.
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
    // By no more in total than was allowed, so that the clocks of nodes do not differ too much.
    void set_clock_forward(nanoseconds by) noexcept
    {
        by = std::min(by, may_go_forward_);
        may_go_forward_ -= by;
        clock_.step(by);
    }
    void allow_forward(nanoseconds in_all) noexcept { may_go_forward_ = in_all; }
    // Has an effect only once, so that the time by which keys live longer is bounded.
    void set_clock_back(nanoseconds by) noexcept
    {
        clock_.step(-std::exchange(may_go_back_, 0) * by);
    }
    // Deletes expired keys, as a real server does from time to time.
    void expire();
    // Gives the node the record and the registers that it would have after long use with these
    // settings.
    void remember(const redis::fence_settings& terms);
    void flush();
    void lose_locks();
    void take_snapshot() { snapshot_ = model_.contents(); }
    void forget_scripts() noexcept { model_.forget_scripts(); }
    // Without subscriptions clients cannot be notified of their turn, so the node keeps no queue.
    void forbid_subscriptions() noexcept { forbids_subscriptions_ = true; }
    void set_trouble(test::redis_model::trouble what) noexcept { model_.state = what; }

    bool up() const noexcept override { return up_; }
    bool frozen() const noexcept override { return frozen_; }
    void on_bytes(
        test::redis_model::session& session, std::string_view bytes, std::string& replies) override;

    processor& thread() noexcept override { return thread_; }
    std::size_t reads_at_once() const noexcept override { return costs_.reads_at_once; }

    // Reports each command to `trace`.
    void tell(std::function<void(const std::string&)> trace) { trace_ = std::move(trace); }

    // See witness.
    void check_places(nanoseconds since) const;
    // The number of keys of locks and queues that are still there.
    std::size_t keys() const;
    std::string describe_keys() const;

private:
    std::string next_run_id();
    void execute(std::string_view command); // outside of any client's session
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
