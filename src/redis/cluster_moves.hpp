#pragma once

#include "core/time.hpp"
#include "redis/cluster_claim.hpp"
#include "redis/cluster_map.hpp"

#include <cstdint>

namespace holdfast::redis {

// Moves the claims of a cluster between shards while slots move: from the primary that has lost a
// slot to the next one, and ahead of the slot to the primary that it is on its way to. A claim goes
// ahead only if its own last request was refused with ASK.
class cluster_moves {
public:
    // Both outlive it.
    cluster_moves(cluster_map& map, cluster_claim_table& claims) noexcept
        : map_(map),
          claims_(claims)
    {}

    // A request of the claim is sent to its shard now.
    void note_request(cluster_claim& c) const noexcept;
    // Whether its shard has sent requests elsewhere since then.
    bool was_redirected(const cluster_claim& c) const noexcept;
    // Notes which requests the shards have sent elsewhere, and where to. Held claims become due.
    void note_redirections(core::time_point now);

    // The shard where the next request goes if the claim goes ahead of its slot, or none.
    std::uint32_t shard_ahead(cluster_claim& c, core::time_point now);
    // Whether the connection is still to come: what is asked only once must not be asked before it
    // is there. The claim becomes due again then.
    bool waits_for(std::uint32_t shard, core::claim_id which, core::time_point now);
    // Whether it is ahead of its slot, which `shard` has, and can stay there.
    bool stays_ahead(const cluster_claim& c, std::uint32_t shard) const noexcept;

    // The claim goes on at that shard: its key has moved with its slot, or was replicated. The
    // next answer shows it.
    void adopt(core::claim_id which, std::uint32_t shard);
    // The same for a lease, which asks at once.
    void move_lease(core::claim_id which, std::uint32_t shard, core::time_point now);
    // The key of a lease has gone ahead of its slot, or came back.
    void follow_key(core::claim_id which, core::time_point now);

    // Leaves the connections ahead that no claim uses any more.
    void leave_unused();

private:
    cluster_map& map_;
    cluster_claim_table& claims_;
};

} // namespace holdfast::redis
