#include "redis/shard_pool.hpp"

#include <utility>

namespace holdfast::redis {

using core::time_point;

namespace {

// A primary that leaves a request unanswered for so long may have been replaced.
constexpr core::duration longest_silence = std::chrono::seconds(1);

// Slots are moved one after the other, from or to one primary.
constexpr std::size_t most_asking = 16;

} // namespace

shard_pool::shard_pool(node_settings primary, std::optional<core::duration> node_timeout,
    const deployment& used, std::uint64_t jitter_seed)
    : settings_(std::move(primary)),
      node_timeout_(node_timeout),
      used_(used),
      jitter_(jitter_seed),
      first_(*shards_[add(false)].core)
{}

std::uint32_t shard_pool::add(bool asks)
{
    node_settings settings = settings_;
    settings.asking = asks;
    shards_.push_back(
        {.core = std::make_unique<redlock_core>(std::vector<node_settings>{std::move(settings)},
             node_timeout_, jitter_.next(), std::nullopt, used_),
            .asks = asks});
    if (observers_ != nullptr && !asks) // the primary is told of once
        shards_.back().core->nodes().report_to(*observers_);
    return static_cast<std::uint32_t>(shards_.size() - 1);
}

void shard_pool::follow(const slot_table& table, time_point now)
{
    for (entry& each : shards_) {
        if (each.now == use::serving && !each.asks)
            each.now = use::leaving;
    }
    of_primaries_.clear();
    for (const core::address& where : table.primaries())
        of_primaries_.push_back(aimed(where, false, now));
}

std::uint32_t shard_pool::asking(const core::address& where, time_point now)
{
    std::size_t others = 0;
    for (std::uint32_t i = 0; i < shards_.size(); ++i) {
        if (!shards_[i].asks || shards_[i].now != use::serving)
            continue;
        if (same(shards_[i].where, where))
            return i;
        ++others;
    }
    return others < most_asking ? aimed(where, true, now) : none;
}

std::uint32_t shard_pool::aimed(const core::address& where, bool asks, time_point now)
{
    std::uint32_t found = none;
    for (std::uint32_t i = 0; i < shards_.size(); ++i) {
        if (shards_[i].asks != asks)
            continue;
        if (shards_[i].now == use::leaving && same(shards_[i].where, where)) {
            shards_[i].now = use::serving;
            return i;
        }
        if (found == none && shards_[i].now == use::idle &&
            shards_[i].core->only_node().connection().is_parked())
            found = i;
    }
    if (found == none)
        found = add(asks);
    entry& chosen = shards_[found];
    chosen.where = where;
    chosen.now = use::serving;
    chosen.failing = false;
    chosen.core->only_node().connection().aim(where, now);
    return found;
}

bool shard_pool::look(time_point now)
{
    bool doubtful = false;
    for (entry& each : shards_) {
        const node_session& node = each.core->only_node();
        if (each.now == use::leaving &&
            (each.core->cleanup().is_done() || node.now() != reachability::ready)) {
            each.now = use::idle;
            each.core->only_node().connection().park(now);
        }
        if (each.now != use::serving)
            continue;
        if (each.asks) { // the primary may have been replaced; slots that arrive are no doubt
            doubtful = doubtful || node.is_failing();
            continue;
        }
        doubtful = doubtful || node.health().redirections() != each.redirections ||
                   node.is_failing() || !node.answers_within(longest_silence, now);
        each.redirections = node.health().redirections();
        each.failing = node.is_failing();
    }
    return doubtful;
}

bool shard_pool::has_news() const noexcept
{
    return std::any_of(shards_.begin(), shards_.end(), [](const entry& each) {
        const node_session& node = each.core->only_node();
        if (each.now == use::serving && !each.asks)
            return node.health().redirections() != each.redirections ||
                   node.is_failing() != each.failing;
        return each.now == use::leaving && each.core->cleanup().is_done();
    });
}

void shard_pool::report_to(core::journal& observers) noexcept
{
    observers_ = &observers;
    for (entry& each : shards_) {
        if (!each.asks)
            each.core->nodes().report_to(observers);
    }
}

// Other resources can be had as long as one of the primaries can be reached.
errc shard_pool::cut_off() const noexcept
{
    errc reason{};
    for (const std::uint32_t each : of_primaries_) {
        const errc why = shards_[each].core->nodes().cut_off();
        if (why == errc{})
            return why;
        reason = why;
    }
    return reason;
}

bool shard_pool::keep_queues() const noexcept
{
    return std::any_of(shards_.begin(), shards_.end(),
        [](const entry& each) { return each.core->queue().is_usable(); });
}

time_point shard_pool::wake_at() const noexcept
{
    time_point first = core::never;
    for (const entry& each : shards_)
        first = std::min(first, each.core->wake_at());
    return first;
}

void shard_pool::wake(time_point now, time_point heard)
{
    for (entry& each : shards_) {
        if (each.core->wake_at() <= now)
            each.core->wake(now, heard);
    }
}

std::size_t shard_pool::under_way() const noexcept
{
    std::size_t all = 0;
    for (const entry& each : shards_)
        all += each.core->cleanup().under_way();
    return all;
}

void shard_pool::close(time_point now)
{
    for (entry& each : shards_)
        each.core->close(now);
}

std::vector<node_stats> shard_pool::nodes() const
{
    std::vector<node_stats> all;
    for (const std::uint32_t each : of_primaries_)
        all.push_back(shards_[each].core->only_node().stats());
    return all;
}

} // namespace holdfast::redis
