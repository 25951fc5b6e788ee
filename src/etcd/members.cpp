#include "etcd/members.hpp"

#include <utility>

namespace holdfast::etcd_store {

members::members(const cluster_settings& settings, members_owner& owner, std::uint64_t jitter_seed)
    : settings_(settings),
      owner_(owner),
      rotation_(
          settings.members.size(), {settings.reconnect_min, settings.reconnect_max}, jitter_seed)
{
    channel_owner& self = *this; // a private base
    for (const member_address& each : settings.members) {
        channels_.push_back(std::make_unique<channel>(settings, each, self));
        core::connection* served = channels_.back().get();
        if (each.secure) {
            layers_.push_back(settings.tls->wrap(*served, {}));
            served = layers_.back().get();
        }
        connections_.push_back(served);
    }
}

void members::fail(errc why, std::string reason, core::time_point now)
{
    if (is_up())
        current().fail(why, std::move(reason), now);
}

void members::note_success() noexcept
{
    rotation_.worked();
    current().record().worked();
}

// A member that stands still may take the connection, and not answer.
void members::wake(core::time_point now, core::time_point heard)
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

void members::close() noexcept
{
    active_ = false;
    rotation_.stop();
    for (const auto& each : channels_)
        each->stop();
}

std::vector<node_stats> members::stats() const
{
    std::vector<node_stats> all;
    for (const auto& each : channels_)
        all.push_back(each->record().told(each->is_ready(), !each->is_idle()));
    return all;
}

void members::on_ready(channel& which, core::time_point now)
{
    if (journal_ != nullptr)
        journal_->note({.kind = event::type::node_up,
                           .level = event_level::info,
                           .node = which.record().stats().address},
            now);
    told_up_ = true;
    owner_.on_up(now);
}

void members::on_failed(channel& which, core::time_point now)
{
    if (!active_ || &which != &current())
        return;
    active_ = false;
    core::member_record& record = which.record();
    const errc why = record.trouble();
    const bool hopeless = make_error_code(why) == condition::misconfigured;
    if (journal_ != nullptr)
        journal_->note({.kind = event::type::node_down,
                           .level = hopeless ? event_level::error : event_level::warning,
                           .node = record.stats().address,
                           .error = record.stats().last_error,
                           .text = record.stats().reason},
            now);
    const bool round_over = rotation_.failed(why, now);
    if (std::exchange(told_up_, false))
        owner_.on_down(now);
    if (round_over)
        owner_.on_cut_off(why, now);
}

void members::on_arrival(const wire::arrival& what, core::time_point now)
{
    owner_.on_arrival(what, now);
}

} // namespace holdfast::etcd_store
