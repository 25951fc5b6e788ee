#include "redis/cluster_map.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

using core::time_point;

cluster_map::cluster_map(std::vector<core::address> seeds, node_settings member,
    std::optional<core::duration> node_timeout, const deployment& used, core::jitter& jitter,
    cluster_map_owner& owner)
    : key_prefix_(used.key_prefix),
      name_(used.about.name),
      member_(std::move(member)),
      owner_(owner),
      search_(std::move(seeds), member_, static_cast<slots_search_owner&>(*this), jitter.next()),
      shards_(member_, node_timeout, used, jitter.next())
{
    connections_.push_back(&search_.connection());
    list_connections();
    search_.want(core::long_ago);
}

// New shards come last.
void cluster_map::list_connections()
{
    for (std::size_t i = connections_.size() - 1; i < shards_.size(); ++i)
        connections_.push_back(shards_[static_cast<std::uint32_t>(i)].connections().front());
}

std::uint32_t cluster_map::slot_for(std::string_view resource) const
{
    if (key_prefix_.empty())
        return slot_of(resource);
    return slot_of(key_prefix_ + std::string(resource));
}

std::uint32_t cluster_map::asking(const core::address& where, time_point now)
{
    const std::uint32_t shard = shards_.asking(where, now);
    list_connections();
    return shard;
}

void cluster_map::on_table(time_point now)
{
    shards_.follow(search_.table(), now);
    list_connections();
    owner_.on_map(now);
}

void cluster_map::on_no_table(time_point now)
{
    search_.want(now); // the locker may make no attempt while nothing can be reached
    if (!is_known())
        owner_.on_no_map(now);
}

errc cluster_map::cut_off() const noexcept
{
    if (is_known())
        return shards_.cut_off();
    if (!search_.has_failed())
        return errc{};
    const error_code why = search_.why_not().code;
    return why == condition::misconfigured && why.category() == error_category()
               ? static_cast<errc>(why.value())
               : errc::unreachable;
}

std::vector<node_stats> cluster_map::stats() const
{
    std::vector<node_stats> all = shards_.nodes();
    if (is_known() && !search_.has_failed())
        return all;
    node_stats& missing = all.emplace_back();
    missing.address = missing.name = name_;
    missing.last_error = search_.why_not().code;
    missing.reason =
        search_.has_failed() ? search_.why_not().text : "no member has told the slots yet";
    return all;
}

time_point cluster_map::wake_at() const noexcept
{
    if (shards_.has_news())
        return core::long_ago;
    return std::min(search_.wake_at(), shards_.wake_at());
}

void cluster_map::wake(time_point now, time_point heard)
{
    search_.wake(now);
    shards_.wake(now, heard);
    if (shards_.look(now))
        search_.want(now);
}

void cluster_map::close(time_point now)
{
    search_.shut();
    shards_.close(now);
}

} // namespace holdfast::redis
