#include "redis/cluster_core.hpp"

#include <utility>

namespace holdfast::redis {

using core::backend_event;
using core::time_point;

cluster_core::cluster_core(std::vector<core::address> seeds, node_settings member,
    std::optional<core::duration> node_timeout, const deployment& used, std::uint64_t jitter_seed)
    : jitter_(jitter_seed),
      about_(used.about),
      map_(std::move(seeds), std::move(member), node_timeout, used, jitter_, claims_),
      claims_(map_, jitter_),
      queue_(map_, claims_),
      nodes_(map_, claims_)
{}

void cluster_core::watch(std::uint64_t tag, std::string_view resource, time_point now)
{
    const std::uint32_t shard = map_.shard_of(map_.slot_for(resource));
    if (shard != shard_pool::none)
        map_.shards()[shard].watch(tag, resource, now);
}

std::optional<backend_event> cluster_core::next_event()
{
    if (auto event = claims_.next_of_shards())
        return event;
    nodes_.tell();
    return claims_.next();
}

void cluster_core::wake(time_point now, time_point heard)
{
    map_.wake(now, heard);
    claims_.wake(now);
}

} // namespace holdfast::redis
