#pragma once

#include "core/backend.hpp"
#include "core/backoff.hpp"
#include "redis/collaborators.hpp"
#include "redis/dialect/dialect.hpp"
#include "redis/dialect/fence_settings.hpp"
#include "redis/life_cycle.hpp"
#include "redis/pool/node_pool.hpp"
#include "redis/reply_router.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::redis {

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
        std::uint64_t jitter_seed, const std::optional<fence_settings>& fence = {});

    core::claim_id attempt(std::uint64_t tag, std::string_view resource,
        const core::owner_token& token, const core::claim_params& params,
        core::time_point now) override;
    void abandon(core::claim_id id, core::time_point now) override;
    errc pending_error(core::claim_id id) const noexcept override;
    bool queues() const noexcept override { return nodes_.keep_queues(); }
    bool can_transfer(core::claim_id id) const noexcept override;
    std::optional<std::uint64_t> transfer(core::claim_id id, std::uint64_t tag) override;
    void renew(std::span<const core::claim_id> claims, bool again, core::time_point now) override;
    void probe_waiters(core::claim_id id, core::time_point now) override;
    bool probing_waiters(core::claim_id id) const noexcept override;
    void leave_open(core::claim_id id) override;
    void release(core::claim_id id, core::time_point now) override;
    void watch(std::uint64_t tag, std::string_view resource, core::time_point now) override;
    core::duration patience(core::duration ttl) const noexcept override;
    core::duration longest_ttl() const noexcept override { return dialect_->longest_ttl(); }

    std::optional<core::backend_event> next_event() override;
    core::time_point wake_at() const noexcept override;
    using backend_core::wake;
    void wake(core::time_point now, core::time_point heard) override;
    std::span<core::connection* const> connections() noexcept override
    {
        return nodes_.connections();
    }
    std::size_t cleaning_up() const noexcept override { return parts_.deletions.under_way(); }
    void close(core::time_point now) override { nodes_.close(now); }
    std::vector<node_stats> nodes() const override { return nodes_.stats(); }

private:
    core::jitter jitter_;
    const std::string channel_;
    core::ring<core::backend_event> events_;
    reply_router router_;
    node_pool nodes_;
    const std::unique_ptr<dialect> dialect_;
    collaborators parts_;
    life_cycle life_;
};

} // namespace holdfast::redis
