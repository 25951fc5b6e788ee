#pragma once

#include "core/backend.hpp"
#include "core/backoff.hpp"
#include "redis/claim_ends.hpp"
#include "redis/collaborators.hpp"
#include "redis/dialect/dialect.hpp"
#include "redis/dialect/fence_settings.hpp"
#include "redis/life_cycle.hpp"
#include "redis/pool/node_pool.hpp"
#include "redis/reply_router.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::redis {

// How the nodes are used.
struct deployment {
    std::string key_prefix{}; // of every key
    bool in_cluster = false;  // the only node is one primary of a cluster
    core::store_info about{};
    bool client_record = true; // it tells who it is, once it has been introduced
};

// The Redlock algorithm over sessions with independent nodes, with or without fencing tokens.
// Implements the seam with the life cycle and its collaborators.
//
// All requests of a claim to a node use the same connection, in order: a deletion never overtakes
// the SET that it cleans up after. A SET is repeated only to a node that has refused it.
//
// Between processes, attempts wait for their turn in a queue at one node, the queue node of the
// resource: a release there hands the key off to the next client, which then asks the other nodes.
// Safety never depends on the queue: a lease is what a majority has granted, and the queue node has
// granted only once it has confirmed that its key is ours.
class redlock_core final : public core::backend_core {
public:
    // Precondition: 1 to max_nodes nodes. `node_timeout`: none means the default, which depends on
    // the ttl. `fence`: in fenced mode.
    redlock_core(std::vector<node_settings> nodes, std::optional<core::duration> node_timeout,
        std::uint64_t jitter_seed, const std::optional<fence_settings>& fence = std::nullopt,
        const deployment& used = deployment());

    core::claim_id attempt(std::uint64_t tag, std::string_view resource,
        const core::owner_token& token, const core::claim_params& params,
        core::time_point now) override;
    void abandon(core::claim_id id, core::time_point now) override;
    errc pending_error(core::claim_id id) const noexcept override;
    bool can_transfer(core::claim_id id) const noexcept override;
    std::optional<std::uint64_t> transfer(core::claim_id id, std::uint64_t tag) override;
    void renew(std::span<const core::claim_id> claims, bool again, core::time_point now) override;
    void release(core::claim_id id, core::time_point now) override;
    void watch(std::uint64_t tag, std::string_view resource, core::time_point now) override;
    core::duration patience(core::duration ttl) const noexcept override;

    std::optional<core::backend_event> next_event() override;
    core::time_point wake_at() const noexcept override;
    using backend_core::wake;
    void wake(core::time_point now, core::time_point heard) override;
    std::span<core::connection* const> connections() noexcept override
    {
        return nodes_.connections();
    }
    void close(core::time_point now) override { nodes_.close(now); }
    const core::store_info& about() const noexcept override { return about_; }

    core::remote_queue& queue() noexcept override { return parts_.probe; }
    core::store_nodes& nodes() noexcept override { return parts_.observer; }
    core::store_cleanup& cleanup() noexcept override { return parts_.last; }
    core::inspector* inspection() noexcept override { return &parts_.people; }

    // Of one primary of a cluster: the only node, which can be another one with time, and the
    // claims, which can follow their slot.
    node_session& only_node() noexcept { return nodes_[0]; }
    life_cycle& claims() noexcept { return life_; }
    redirected_claims& redirected() noexcept { return parts_.redirected; }

private:
    core::jitter jitter_;
    const client_settings self_;
    core::store_info about_;
    core::ring<core::backend_event> events_;
    reply_router router_;
    node_pool nodes_;
    const std::unique_ptr<dialect> dialect_;
    collaborators parts_;
    claim_ends ends_;
    life_cycle life_;
};

} // namespace holdfast::redis
