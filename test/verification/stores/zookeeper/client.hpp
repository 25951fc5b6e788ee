#pragma once

#include "verification/stores/byte_client.hpp"
#include "verification/stores/zookeeper/ensemble.hpp"
#include "zookeeper/lock_core.hpp"

#include <cstddef>
#include <functional>
#include <memory>

namespace holdfast::zookeeper_simulation {

// What differs from process to process.
struct client_character {
    bool slow_clock = false; // as slow as is allowed
    bool stubborn = false;   // leases are held for a ttl at least
};

// A process that keeps its locks in an ensemble of ZooKeeper servers.
class client final : public store_simulation::byte_client {
public:
    // `on_turn` is called after each turn of it.
    client(world& w, store_simulation::referee& judge, const store_simulation::client_params& p,
        ensemble& servers, const client_character& c, std::function<void()> on_turn);

    // It is cut off from all servers.
    void seclude(duration length);
    // Calls this once, with the number of the server, when so many answers have come; `anew`:
    // on its next connection.
    bool waits_for_answers() const noexcept { return answers_due_ != 0; }
    void after_answers(std::size_t count, bool anew, std::function<void(std::size_t)> what);

    core::backend_core& store() noexcept override { return core_; }

    static std::shared_ptr<const zookeeper_store::lock_settings> settings(
        const ensemble& servers, duration session_timeout);

private:
    std::shared_ptr<store_simulation::byte_link> open(std::size_t server) override;
    double refusal() const override
    {
        return world_.now() < secluded_until_ ? 1 : ensemble_.trouble.refused;
    }
    duration slowest_opening() const override { return ensemble_.trouble.slowest_opening; }
    void heard(std::size_t server) override;
    void check() override { on_turn_(); }

    world& world_;
    ensemble& ensemble_;
    const std::function<void()> on_turn_;
    zookeeper_store::lock_core core_;
    time_point secluded_until_{};
    std::size_t answers_due_ = 0; // until `due_` is called
    bool due_anew_ = false;
    std::function<void(std::size_t)> due_;
};

} // namespace holdfast::zookeeper_simulation
