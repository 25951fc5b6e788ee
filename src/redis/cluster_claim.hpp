#pragma once

#include "core/claim.hpp"
#include "core/connection.hpp"
#include "core/owner_token.hpp"
#include "core/slot_map.hpp"
#include "core/timer_queue.hpp"
#include "redis/shard_pool.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace holdfast::redis {

// A claim of a locker in a cluster.
struct cluster_claim {
    enum class stage : std::uint8_t {
        waiting, // for the table, or for the end of a pause: no shard is asked
        asking,
        held, // due, if a renewal was sent elsewhere
        releasing,
        looking, // a release was not confirmed: has the slot another primary?
    };
    // Where it is, and which tag it has.
    struct place {
        std::uint64_t tag = 0;
        std::uint32_t shard = shard_pool::none;
        core::claim_id inner = 0; // at the shard; 0 if it is at none
    };

    stage now = stage::waiting;
    std::uint8_t tries = 0;
    bool queued = false; // which has been reported
    std::uint32_t slot = 0;
    std::uint64_t redirections = 0; // of its shard, when its request was sent
    place at{};
    std::string resource;
    core::owner_token token{};
    core::claim_params params{};
    core::validity valid{};
    // Where the next request goes, since the slot is on its way there. Only if our own last
    // request was refused with it: for others, the old primary may still have the key.
    std::optional<core::address> ask_at{};
    core::time_point looks_until{};
    std::uint32_t home = shard_pool::none; // at an asking shard: the shard that has the slot
};

// All claims, and when the next step of each is due.
struct cluster_claim_table {
    core::slot_map<cluster_claim> all;
    core::timer_queue due;

    cluster_claim* find(core::claim_id id) noexcept { return all.find(id); }
    const cluster_claim* find(core::claim_id id) const noexcept { return all.find(id); }
    cluster_claim& operator[](core::claim_id id) noexcept { return all[id]; }

    void wake_at(core::claim_id id, core::time_point when) { due.set(core::slot_index(id), when); }
    void do_not_wake(core::claim_id id) noexcept { due.erase(core::slot_index(id)); }
    void give_back(core::claim_id id)
    {
        do_not_wake(id);
        all.give_back(id);
    }
};

} // namespace holdfast::redis
