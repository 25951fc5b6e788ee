#pragma once

#include "core/locker_core.hpp"
#include "verification/simulation/seeded_entropy.hpp"
#include "verification/stores/byte_streams.hpp"
#include "verification/stores/referee.hpp"
#include "verification/stores/zookeeper/ensemble.hpp"
#include "zookeeper/lock_core.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::zookeeper_simulation {

// A process with a whole locker, whose users want locks faster than servers can grant them. Each
// acquires one lock, holds it for a while, and releases it.
class burst_client final : private store_simulation::stream_owner {
public:
    burst_client(world& w, store_simulation::referee& judge, ensemble& servers, int number,
        std::chrono::milliseconds ttl);

    // A user asks now, and holds for so long; core::never - time_point{}: until give_back().
    void acquire(std::string resource, duration hold);
    void give_back();
    void crash();
    void close();

    store_simulation::process& runs() noexcept override { return process_; }
    std::size_t waiting() const noexcept { return waiting_; }
    std::size_t granted() const noexcept { return granted_; }
    std::size_t refused() const noexcept { return refused_; }
    std::size_t lost() const noexcept { return lost_; }
    std::size_t held() const noexcept { return held_; }
    bool is_closed() const noexcept { return closed_; }
    // Of the last grant, in true time.
    time_point last_grant() const noexcept { return last_grant_; }

    static constexpr duration for_good = duration::max();

private:
    struct user {
        std::string resource;
        duration hold{};
        core::slot_id lease = 0; // 0: none
        store_simulation::referee::place belief{};
    };

    std::span<core::connection* const> connections() override { return store_.connections(); }
    std::shared_ptr<store_simulation::byte_link> open(std::size_t server) override;
    double refusal() const override { return 0; }
    void turn() override;

    void perform(const core::effect& e);
    void update_beliefs();
    void release(std::size_t user);
    void wake_later();

    world& world_;
    store_simulation::referee& referee_;
    ensemble& ensemble_;
    store_simulation::process process_;
    simulation::seeded_entropy entropy_;
    zookeeper_store::lock_core store_;
    core::locker_core locker_;
    store_simulation::byte_streams streams_;
    const core::lease_params terms_;
    std::vector<user> users_; // by their tags
    std::vector<std::size_t> holders_;
    std::size_t waiting_ = 0, granted_ = 0, refused_ = 0, lost_ = 0, held_ = 0;
    time_point wakes_at_ = core::never, last_grant_{};
    bool turn_is_due_ = false, closed_ = false;
};

} // namespace holdfast::zookeeper_simulation
