#include "zookeeper/servers.hpp"

#include <utility>

namespace holdfast::zookeeper_store {

servers::servers(const ensemble_settings& settings, servers_owner& owner, std::uint64_t jitter_seed)
    : settings_(settings),
      owner_(owner),
      rotation_(
          settings.servers.size(), {settings.reconnect_min, settings.reconnect_max}, jitter_seed)
{
    channel_owner& self = *this; // a private base
    for (const server_address& each : settings.servers) {
        channels_.push_back(std::make_unique<channel>(settings, each, self));
        core::connection* served = channels_.back().get();
        if (settings.tls) {
            layers_.push_back(settings.tls->wrap(*served, {}));
            served = layers_.back().get();
        }
        connections_.push_back(served);
    }
}

void servers::fail(errc why, std::string reason, core::time_point now)
{
    if (is_up())
        current().fail(why, std::move(reason), now);
}

void servers::begin_again(core::time_point now)
{
    if (!active_)
        return;
    current().stop();
    active_ = false;
    if (std::exchange(told_up_, false))
        owner_.on_down(now);
}

void servers::note_success() noexcept
{
    rotation_.worked();
    current().record().worked();
}

// A server that stands still may take the connection, and not answer.
void servers::wake(core::time_point now, core::time_point heard)
{
    if (active_ && current().opening_ends() <= heard) {
        ++current().record().stats().timeouts;
        current().fail(errc::no_reply, "no answer in time", now);
    }
    if (active_ || now < rotation_.next_at() || !current().is_idle())
        return;
    active_ = true;
    current().start(now);
}

void servers::close() noexcept
{
    active_ = false;
    rotation_.stop();
    for (const auto& each : channels_)
        each->stop();
}

std::vector<node_stats> servers::stats() const
{
    std::vector<node_stats> all;
    for (const auto& each : channels_)
        all.push_back(each->record().told(each->is_ready(), !each->is_idle()));
    return all;
}

void servers::note(event::type kind, event_level level, channel& which, core::time_point now)
{
    if (journal_ == nullptr)
        return;
    const node_stats& stats = which.record().stats();
    journal_->note({.kind = kind,
                       .level = level,
                       .node = stats.address,
                       .error = stats.last_error,
                       .text = stats.reason},
        now);
}

void servers::on_ready(channel& which, core::time_point now)
{
    which.record().worked();
    note(event::type::node_up, event_level::info, which, now);
    told_up_ = true;
    owner_.on_up(now);
}

void servers::on_failed(channel& which, core::time_point now)
{
    if (!active_ || &which != &current())
        return;
    active_ = false;
    const errc why = which.record().trouble();
    const bool hopeless = make_error_code(why) == condition::misconfigured;
    note(event::type::node_down, hopeless ? event_level::error : event_level::warning, which, now);
    const bool round_over = rotation_.failed(why, now);
    if (std::exchange(told_up_, false))
        owner_.on_down(now);
    if (round_over)
        owner_.on_cut_off(why, now);
}

} // namespace holdfast::zookeeper_store
