#pragma once

#include "verification/simulation/network.hpp"
#include "verification/simulation/plan.hpp"
#include "verification/simulation/process.hpp"
#include "verification/simulation/server.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace holdfast::simulation {

// Starts the faults of a plan and ends them.
class troublemaker {
public:
    using counts = std::array<std::uint64_t, fault_kinds>;

    troublemaker(surroundings& world, std::vector<std::unique_ptr<server>>& servers,
        std::vector<std::unique_ptr<process>>& processes, std::function<void(process&)> on_started);

    void begin();
    // Ends all faults and starts no more.
    void mend_everything();

    const counts& happened() const noexcept { return counts_; }

private:
    void plan_next();
    void strike();
    void strike_way(fault f);
    void strike_node(fault f);
    void strike_client(fault f);
    void down_and_up(server& node, fault f);
    void restart(process& p);
    void cut_off(const process& p, bool out, bool back);
    nanoseconds some_time();

    surroundings& world_;
    std::vector<std::unique_ptr<server>>& servers_;
    std::vector<std::unique_ptr<process>>& processes_;
    std::function<void(process&)> on_started_;
    std::size_t struck_ = 0; // faults of nodes in turn
    bool over_ = false;
    counts counts_{};
};

} // namespace holdfast::simulation
