#pragma once

#include "core/backend.hpp"
#include "core/backoff.hpp"
#include "redis/cluster_claims.hpp"
#include "redis/cluster_map.hpp"
#include "redis/cluster_parts.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace holdfast::redis {

// A Redis Cluster: a Redlock core for each primary, and each claim at the one that has the slot of
// its key. The primaries are independent of each other; only one of them votes on a claim.
// Implements the seam with the claims and the map of slots.
class cluster_core final : public core::backend_core {
public:
    // `member`: the settings of the connections to all members, without the address.
    cluster_core(std::vector<core::address> seeds, node_settings member,
        std::optional<core::duration> node_timeout, const deployment& used,
        std::uint64_t jitter_seed);

    core::claim_id attempt(std::uint64_t tag, std::string_view resource,
        const core::owner_token& token, const core::claim_params& params,
        core::time_point now) override
    {
        return claims_.begin(tag, resource, token, params, now);
    }
    void abandon(core::claim_id id, core::time_point now) override { claims_.abandon(id, now); }
    errc pending_error(core::claim_id id) const noexcept override
    {
        return claims_.pending_error(id);
    }
    std::optional<std::uint64_t> transfer(core::claim_id id, std::uint64_t tag) override
    {
        claims_.transfer(id, tag);
        return std::nullopt;
    }
    void renew(std::span<const core::claim_id> claims, bool again, core::time_point now) override
    {
        claims_.renew(claims, again, now);
    }
    void release(core::claim_id id, core::time_point now) override { claims_.release(id, now); }
    void watch(std::uint64_t tag, std::string_view resource, core::time_point now) override;
    core::duration patience(core::duration ttl) const noexcept override
    {
        return map_.shards().first().patience(ttl);
    }

    std::optional<core::backend_event> next_event() override;
    core::time_point wake_at() const noexcept override
    {
        return std::min(map_.wake_at(), claims_.wake_at());
    }
    using backend_core::wake;
    void wake(core::time_point now, core::time_point heard) override;
    std::span<core::connection* const> connections() noexcept override
    {
        return map_.connections();
    }
    void close(core::time_point now) override { map_.close(now); }
    const core::store_info& about() const noexcept override { return about_; }

    core::remote_queue& queue() noexcept override { return queue_; }
    core::store_nodes& nodes() noexcept override { return nodes_; }
    core::store_cleanup& cleanup() noexcept override { return map_.shards(); }

private:
    core::jitter jitter_;
    const core::store_info about_;
    cluster_map map_;
    cluster_claims claims_;
    cluster_queue queue_;
    cluster_nodes nodes_;
};

} // namespace holdfast::redis
