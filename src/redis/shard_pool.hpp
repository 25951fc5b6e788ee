#pragma once

#include "core/backoff.hpp"
#include "core/journal.hpp"
#include "redis/node/slot_table.hpp"
#include "redis/redlock_core.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace holdfast::redis {

// One core for each primary of a cluster. A core whose primary is gone is used again for another
// one, so there are as many cores as there were primaries at once.
class shard_pool final : public core::store_cleanup {
public:
    static constexpr std::uint32_t none = UINT32_MAX;

    // `primary`: the settings of each, without the address.
    shard_pool(node_settings primary, std::optional<core::duration> node_timeout,
        const deployment& used, std::uint64_t jitter_seed);

    std::size_t size() const noexcept { return shards_.size(); }
    redlock_core& operator[](std::uint32_t shard) noexcept { return *shards_[shard].core; }
    const redlock_core& operator[](std::uint32_t shard) const noexcept
    {
        return *shards_[shard].core;
    }
    // Always there, and never changes its settings.
    const redlock_core& first() const noexcept { return first_; }

    // These are the primaries from now on. The shards of others keep their claims until look().
    void follow(const slot_table& table, core::time_point now);
    // The shard of the primary with this index in the table, or `none`.
    std::uint32_t of_primary(std::uint16_t index) const noexcept
    {
        return index < of_primaries_.size() ? of_primaries_[index] : none;
    }

    // The shard that asks the primary at this address for slots that are on their way to it: on a
    // connection of its own, since each request there is announced by ASKING. `none` if there are
    // too many of them.
    std::uint32_t asking(const core::address& where, core::time_point now);
    bool is_asking(std::uint32_t shard) const noexcept
    {
        return shard != none && shards_[shard].asks;
    }
    // If it is an asking shard: it is closed as soon as it has cleaned up.
    void leave_asking(std::uint32_t shard) noexcept
    {
        if (is_asking(shard) && shards_[shard].now == use::serving)
            shards_[shard].now = use::leaving;
    }

    // Whether the table may be out of date: a shard has refused requests because of their slot, has
    // failed, or is silent. Closes the connections that are no longer needed.
    bool look(core::time_point now);
    // Whether there is something new for look().
    bool has_news() const noexcept;

    void report_to(core::journal& observers) noexcept;
    // As for the parts of core::backend_core.
    errc cut_off() const noexcept;
    bool keep_queues() const noexcept;
    core::time_point wake_at() const noexcept;
    void wake(core::time_point now, core::time_point heard);
    void close(core::time_point now);
    // core::store_cleanup
    std::size_t under_way() const noexcept override;
    // Of the primaries, in the order of the table.
    std::vector<node_stats> nodes() const;
    // The place of a shard in nodes().
    std::size_t position(std::uint32_t shard) const noexcept
    {
        return static_cast<std::size_t>(
            std::find(of_primaries_.begin(), of_primaries_.end(), shard) - of_primaries_.begin());
    }

private:
    enum class use : std::uint8_t { idle, serving, leaving };
    struct entry {
        std::unique_ptr<redlock_core> core;
        core::address where{};
        use now = use::idle;
        std::uint64_t redirections = 0; // as look() has seen it
        bool failing = false;           // the same
        bool asks = false;              // see asking()
    };

    std::uint32_t aimed(const core::address& where, bool asks, core::time_point now);
    std::uint32_t add(bool asks);

    const node_settings settings_;
    const std::optional<core::duration> node_timeout_;
    const deployment used_;
    core::jitter jitter_;
    core::journal* observers_ = nullptr;
    std::vector<entry> shards_;
    std::vector<std::uint32_t> of_primaries_; // by the index in the table
    const redlock_core& first_;
};

} // namespace holdfast::redis
