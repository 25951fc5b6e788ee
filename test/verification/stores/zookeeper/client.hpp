#pragma once

#include "verification/stores/byte_client.hpp"
#include "verification/stores/zookeeper/ensemble.hpp"
#include "zookeeper/lock_core.hpp"

#include <cstddef>
#include <functional>
#include <memory>

namespace holdfast::zookeeper_simulation {

// A process that keeps its locks in an ensemble of ZooKeeper servers.
class client final : public store_simulation::byte_client {
public:
    // `on_turn` is called after each turn of it.
    client(world& w, store_simulation::referee& judge, const store_simulation::client_params& p,
        ensemble& servers, std::function<void()> on_turn);

    core::backend_core& store() noexcept override { return core_; }

private:
    std::shared_ptr<store_simulation::byte_link> open(std::size_t server) override;
    double refusal() const override { return ensemble_.trouble.refused; }
    void check() override { on_turn_(); }

    world& world_;
    ensemble& ensemble_;
    const std::function<void()> on_turn_;
    zookeeper_store::lock_core core_;
};

} // namespace holdfast::zookeeper_simulation
