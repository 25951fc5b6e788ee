#pragma once

#include "zookeeper/claim_course.hpp"
#include "zookeeper/lookups.hpp"
#include "zookeeper/store_answers.hpp"
#include "zookeeper/store_parts.hpp"

#include <algorithm>
#include <memory>

namespace holdfast::zookeeper_store {

// The store of locks in ZooKeeper. Implements the seam with its collaborators.
class lock_core final : public core::backend_core {
public:
    lock_core(std::shared_ptr<const lock_settings> settings, std::uint64_t jitter_seed);

    core::claim_id attempt(std::uint64_t tag, std::string_view resource,
        const core::owner_token& token, const core::claim_params& terms,
        core::time_point now) override;
    void abandon(core::claim_id id, core::time_point now) override;
    errc pending_error(core::claim_id id) const noexcept override;
    bool can_transfer(core::claim_id id) const noexcept override;
    std::optional<std::uint64_t> transfer(core::claim_id id, std::uint64_t tag) override;
    void renew(std::span<const core::claim_id> claims, bool again, core::time_point now) override;
    void release(core::claim_id id, core::time_point now) override;
    // Long enough for a heartbeat that proves an extension: at most 7/12 of a session's timeout,
    // less where the ttl is shorter than that. Servers grant no timeout below two of their ticks,
    // each of 2 s as a rule.
    core::duration patience(core::duration ttl) const noexcept override
    {
        constexpr core::duration shortest_granted = std::chrono::seconds(4);
        return std::min(ttl, std::max<core::duration>(
                                 settings_->ensemble.session_timeout, shortest_granted)) *
               6 / 10;
    }

    std::optional<core::backend_event> next_event() override { return course_.next_event(); }
    core::time_point wake_at() const noexcept override;
    using backend_core::wake;
    void wake(core::time_point now, core::time_point heard) override;
    std::span<core::connection* const> connections() noexcept override
    {
        return servers_.connections();
    }
    void close(core::time_point now) override;
    const core::store_info& about() const noexcept override { return info_; }
    core::remote_queue& queue() noexcept override { return parts_.queue; }
    core::store_nodes& nodes() noexcept override { return parts_.nodes; }
    core::store_cleanup& cleanup() noexcept override { return parts_.end; }
    core::inspector* inspection() noexcept override { return &lookups_; }

    // How many claims wait for changes of nodes.
    std::size_t watches() const noexcept { return watched_.count(); }

private:
    core::time_point answer_due() const noexcept;
    void renew(claim& c, core::claim_id id, bool again, core::time_point now);

    const core::store_info info_{.name = "ZooKeeper", .promise = guarantee::consensus};
    const std::shared_ptr<const lock_settings> settings_;
    const node_paths paths_;
    claim_table claims_;
    session session_;
    watched_nodes watched_;
    store_answers answers_;
    servers servers_;
    requester requester_;
    session_keeper keeper_;
    latecomers latecomers_;
    claim_course course_;
    lookups lookups_;
    store_parts parts_;
};

} // namespace holdfast::zookeeper_store
