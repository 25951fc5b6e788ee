#pragma once

#include "core/backoff.hpp"
#include "core/connection.hpp"
#include "redis/node/slots_search.hpp"
#include "redis/shard_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

class cluster_map_owner {
public:
    // Slots may have other shards than before.
    virtual void on_map(core::time_point now) = 0;
    // All members have been asked in vain, and no slot has ever had a shard.
    virtual void on_no_map(core::time_point now) = 0;

protected:
    ~cluster_map_owner() = default;
};

// Knows which shard has which slot, and follows the members of the cluster in that.
class cluster_map final : private slots_search_owner {
public:
    // `member`: the settings of the connections to all members, without the address. The owner is
    // not called before the first wake().
    cluster_map(std::vector<core::address> seeds, node_settings member,
        std::optional<core::duration> node_timeout, const deployment& used, core::jitter& jitter,
        cluster_map_owner& owner);

    // Whether a member has told the slots.
    bool is_known() const noexcept { return search_.has_table(); }
    // The slots may have moved.
    void want(core::time_point now) noexcept { search_.want(now); }
    // How long the search for the slots may take before an attempt fails.
    core::duration longest_search() const noexcept { return member_.connect_timeout; }

    std::uint32_t slot_for(std::string_view resource) const;
    // The shard that has the slot, or shard_pool::none: also if the slots are not known.
    std::uint32_t shard_of(std::uint32_t slot) const noexcept
    {
        return shards_.of_primary(search_.table().owner_of(slot));
    }
    // As for the shards, of which there may be one more then.
    std::uint32_t asking(const core::address& where, core::time_point now);
    shard_pool& shards() noexcept { return shards_; }
    const shard_pool& shards() const noexcept { return shards_; }

    // As for core::store_nodes.
    errc cut_off() const noexcept;
    std::vector<node_stats> stats() const;

    // As for core::backend_core.
    core::time_point wake_at() const noexcept;
    void wake(core::time_point now, core::time_point heard);
    std::span<core::connection* const> connections() const noexcept { return connections_; }
    void close(core::time_point now);

private:
    // slots_search_owner
    void on_table(core::time_point now) override;
    void on_no_table(core::time_point now) override;

    void list_connections();

    const std::string key_prefix_, name_;
    const node_settings member_;
    cluster_map_owner& owner_;
    slots_search search_;
    shard_pool shards_;
    std::vector<core::connection*> connections_;
};

} // namespace holdfast::redis
