#pragma once

#include "core/journal.hpp"
#include "core/remote_queue.hpp"
#include "core/store_nodes.hpp"
#include "redis/cluster_claims.hpp"
#include "redis/cluster_map.hpp"

#include <string>
#include <vector>

namespace holdfast::redis {

// The queue between processes, at the primary of each claim.
class cluster_queue final : public core::remote_queue {
public:
    cluster_queue(cluster_map& map, const cluster_claims& claims) noexcept
        : map_(map),
          claims_(claims)
    {}

    // core::remote_queue
    bool is_usable() const noexcept override { return map_.shards().keep_queues(); }
    void probe_waiters(core::claim_id which, core::time_point now) override;
    bool is_probing(core::claim_id which) const noexcept override;
    void report_waiters(core::claim_id which, core::time_point now) override;
    bool reports_waiters(core::claim_id which) const noexcept override;
    void leave_open(core::claim_id which) override;

private:
    cluster_map& map_;
    const cluster_claims& claims_;
};

// The primaries of a cluster, as users see them: together, they are the nodes of one store.
class cluster_nodes final : public core::store_nodes {
public:
    cluster_nodes(cluster_map& map, const cluster_claims& claims) noexcept
        : map_(map),
          claims_(claims)
    {}

    // core::store_nodes
    errc cut_off() const noexcept override { return map_.cut_off(); }
    std::vector<node_stats> stats() const override { return map_.stats(); }
    void report_to(core::journal& observers) noexcept override;

    // Tells observers what the shards have noted.
    void tell();

private:
    cluster_map& map_;
    const cluster_claims& claims_;
    core::journal* observers_ = nullptr;
    core::journal notes_; // of the shards, whose tags are claims
};

} // namespace holdfast::redis
