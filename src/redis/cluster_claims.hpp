#pragma once

#include "core/backoff.hpp"
#include "core/claim.hpp"
#include "core/owner_token.hpp"
#include "core/ring.hpp"
#include "redis/cluster_claim.hpp"
#include "redis/cluster_map.hpp"
#include "redis/cluster_moves.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace holdfast::redis {

// The claims of a locker in a cluster. Each is one of the shard that has the slot of its key, and
// follows the slot: a lease goes on at the shard that has taken its key over, an attempt is made
// again there.
class cluster_claims final : public cluster_map_owner {
public:
    cluster_claims(cluster_map& map, core::jitter& jitter) noexcept
        : map_(map),
          jitter_(jitter),
          moves_(map, claims_)
    {}

    // As for core::backend_core.
    core::claim_id begin(std::uint64_t tag, std::string_view resource,
        const core::owner_token& token, const core::claim_params& params, core::time_point now);
    void abandon(core::claim_id which, core::time_point now);
    errc pending_error(core::claim_id which) const noexcept;
    void transfer(core::claim_id which, std::uint64_t tag) { claims_[which].at.tag = tag; }
    void renew(std::span<const core::claim_id> claims, bool again, core::time_point now);
    void release(core::claim_id which, core::time_point now);

    // Where a claim is. None if it has ended.
    std::optional<cluster_claim::place> find(core::claim_id which) const noexcept;

    // The events of the shards, and then those of claims that are at no shard.
    std::optional<core::backend_event> next_of_shards();
    std::optional<core::backend_event> next();

    core::time_point wake_at() const noexcept { return claims_.due.earliest(); }
    void wake(core::time_point now);

    // cluster_map_owner
    void on_map(core::time_point now) override;
    void on_no_map(core::time_point now) override;

private:
    using stage = cluster_claim::stage;

    void start(core::claim_id which, core::time_point now);
    void pause(core::claim_id which, core::time_point now);
    void refuse(core::claim_id which, errc reason);
    void on_due(core::claim_id which, core::time_point now);
    void release_at(core::claim_id which, std::uint32_t shard, core::time_point now);
    void follow_slot(core::claim_id which, core::time_point now);
    std::optional<core::backend_event> outside(core::backend_event event);

    cluster_map& map_;
    core::jitter& jitter_;
    cluster_claim_table claims_;
    cluster_moves moves_;
    core::ring<core::backend_event> events_;            // of claims that are at no shard
    core::time_point now_ = core::long_ago;             // of the last call
    std::vector<std::vector<core::claim_id>> renewals_; // by shard
};

} // namespace holdfast::redis
