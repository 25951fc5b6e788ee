#pragma once

#include "etcd/lock_core.hpp"
#include "verification/stores/byte_client.hpp"
#include "verification/stores/etcd/cluster.hpp"

#include <cstddef>
#include <memory>

namespace holdfast::etcd_simulation {

// A process that keeps its locks in a cluster of etcd.
class client final : public store_simulation::byte_client {
public:
    client(world& w, store_simulation::referee& judge, const store_simulation::client_params& p,
        cluster& servers);

    core::backend_core& store() noexcept override { return core_; }

private:
    std::shared_ptr<store_simulation::byte_link> open(std::size_t member) override;
    double refusal() const override { return cluster_.trouble.refused; }
    time_point opens_from(std::size_t member) const override { return cluster_.opens_from(member); }

    world& world_;
    cluster& cluster_;
    etcd_store::lock_core core_;
};

} // namespace holdfast::etcd_simulation
