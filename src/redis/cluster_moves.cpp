#include "redis/cluster_moves.hpp"

#include <span>
#include <vector>

namespace holdfast::redis {

using core::claim_id;
using core::time_point;

namespace {

// How often to look whether a connection is there.
constexpr core::duration connecting_pause = std::chrono::milliseconds(5);

} // namespace

void cluster_moves::note_request(cluster_claim& c) const noexcept
{
    c.redirections = map_.shards()[c.at.shard].only_node().health().redirections();
}

bool cluster_moves::was_redirected(const cluster_claim& c) const noexcept
{
    return map_.shards()[c.at.shard].only_node().health().redirections() != c.redirections;
}

void cluster_moves::note_redirections(time_point now)
{
    for (std::uint32_t shard = 0; shard < map_.shards().size(); ++shard) {
        while (const auto said = map_.shards()[shard].redirected().next()) {
            cluster_claim* const c = claims_.find(said->tag);
            if (c == nullptr || c->at.shard != shard || c->at.inner != said->claim)
                continue; // of an earlier try
            c->ask_at.reset();
            if (said->where.asks)
                c->ask_at = said->where.to;
            if (c->now == cluster_claim::stage::held)
                claims_.wake_at(said->tag, now);
        }
    }
}

std::uint32_t cluster_moves::shard_ahead(cluster_claim& c, time_point now)
{
    if (!c.ask_at)
        return shard_pool::none;
    const std::uint32_t shard = map_.asking(*c.ask_at, now);
    c.home = map_.shard_of(c.slot);
    return shard;
}

bool cluster_moves::waits_for(std::uint32_t shard, claim_id which, time_point now)
{
    const node_session& node = map_.shards()[shard].only_node();
    if (node.now() == reachability::ready || node.is_failing())
        return false;
    claims_.wake_at(which, now + connecting_pause);
    return true;
}

bool cluster_moves::stays_ahead(const cluster_claim& c, std::uint32_t shard) const noexcept
{
    return map_.shards().is_asking(c.at.shard) && shard == c.home &&
           !map_.shards()[c.at.shard].only_node().is_failing();
}

void cluster_moves::adopt(claim_id which, std::uint32_t shard)
{
    cluster_claim& c = claims_[which];
    c.at.shard = shard;
    c.at.inner =
        map_.shards()[shard].claims().adopt(which, c.resource, c.token, c.params, c.valid.asked);
}

void cluster_moves::move_lease(claim_id which, std::uint32_t shard, time_point now)
{
    const cluster_claim& c = claims_[which];
    map_.shards()[c.at.shard].claims().disown(c.at.inner);
    adopt(which, shard);
    map_.shards()[shard].renew(std::span(&c.at.inner, 1), true, now);
}

void cluster_moves::follow_key(claim_id which, time_point now)
{
    cluster_claim& c = claims_[which];
    const std::uint32_t ahead = shard_ahead(c, now);
    if (ahead != shard_pool::none) {
        if (waits_for(ahead, which, now))
            return;
        if (map_.shards()[ahead].only_node().now() != reachability::ready)
            return; // it cannot be reached; the next renewal tells again
        c.ask_at.reset();
        if (ahead != c.at.shard)
            move_lease(which, ahead, now);
        return;
    }
    c.ask_at.reset();
    const std::uint32_t home = map_.shard_of(c.slot);
    if (!map_.shards().is_asking(c.at.shard) || home == shard_pool::none || home == c.at.shard)
        return;
    // The locker's next renewal is soon enough: the members may contradict each other.
    map_.shards()[c.at.shard].claims().disown(c.at.inner);
    adopt(which, home);
}

void cluster_moves::leave_unused()
{
    std::vector<bool> in_use(map_.shards().size());
    for (std::uint32_t index = 0; index < claims_.all.capacity(); ++index) {
        const cluster_claim* const c = claims_.find(claims_.all.id_at(index));
        if (c != nullptr && c->ask_at)
            return; // it waits for one
        if (c != nullptr && c->at.shard != shard_pool::none)
            in_use[c->at.shard] = true;
    }
    for (std::uint32_t shard = 0; shard < in_use.size(); ++shard) {
        if (!in_use[shard])
            map_.shards().leave_asking(shard);
    }
}

} // namespace holdfast::redis
