#include "redis/cluster_parts.hpp"

#include <utility>

namespace holdfast::redis {

using core::claim_id;
using core::time_point;

void cluster_queue::probe_waiters(claim_id which, time_point now)
{
    const auto at = claims_.find(which);
    map_.shards()[at->shard].queue().probe_waiters(at->inner, now);
}

bool cluster_queue::is_probing(claim_id which) const noexcept
{
    const auto at = claims_.find(which);
    return at && at->inner != 0 && map_.shards()[at->shard].queue().is_probing(at->inner);
}

void cluster_queue::report_waiters(claim_id which, time_point now)
{
    const auto at = claims_.find(which);
    if (at && at->inner != 0)
        map_.shards()[at->shard].queue().report_waiters(at->inner, now);
}

bool cluster_queue::reports_waiters(claim_id which) const noexcept
{
    const auto at = claims_.find(which);
    return at && at->inner != 0 && map_.shards()[at->shard].queue().reports_waiters(at->inner);
}

void cluster_queue::leave_open(claim_id which)
{
    const auto at = claims_.find(which);
    map_.shards()[at->shard].queue().leave_open(at->inner);
}

void cluster_nodes::report_to(core::journal& observers) noexcept
{
    observers_ = &observers;
    notes_ = observers; // empty, with the same wishes
    map_.shards().report_to(notes_);
}

void cluster_nodes::tell()
{
    if (observers_ == nullptr)
        return;
    while (auto noted = notes_.next_event())
        observers_->note(std::move(noted->what), noted->at);
    while (auto mark = notes_.next_mark()) {
        const auto at = claims_.find(mark->claim);
        if (!at)
            continue;
        mark->claim = at->tag;
        if (at->shard != shard_pool::none)
            mark->node = static_cast<std::uint32_t>(map_.shards().position(at->shard));
        observers_->mark(*mark);
    }
}

} // namespace holdfast::redis
