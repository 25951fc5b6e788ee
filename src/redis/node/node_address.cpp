#include "redis/node/node_address.hpp"

#include <utility>

namespace holdfast::redis {

node_address::node_address(
    const node_settings& settings, connection_schedule& schedule, node_address_owner& owner)
    : settings_(settings),
      schedule_(schedule),
      owner_(owner),
      name_(settings.name),
      where_(settings.where)
{
    primary_search_owner& self = *this;
    if (settings_.sentinels)
        search_ = std::make_unique<primary_search>(*settings_.sentinels, self);
}

void node_address::aim(core::address where)
{
    name_ = in_words(where);
    where_ = std::move(where);
    aimed_ = true;
}

void node_address::search_if_due(core::time_point now)
{
    if (schedule_.now() != connection_schedule::phase::searching)
        return;
    if (!search_ && aimed_)
        schedule_.found(now);
    else if (!search_)
        schedule_.search_until(core::never); // until aim()
    else if (!search_->under_way())
        schedule_.search_until(search_->begin(now, now + settings_.connect_timeout));
}

std::optional<failure> node_address::on_overdue(core::time_point now)
{
    if (search_->settle(now))
        return std::nullopt;
    if (now >= search_->end())
        return search_->why_not();
    schedule_.search_until(search_->end());
    return std::nullopt;
}

void node_address::stop() noexcept
{
    if (search_)
        search_->stop();
}

void node_address::proved_right() noexcept
{
    if (search_)
        search_->proved_right();
}

std::span<core::connection* const> node_address::sentinels() const noexcept
{
    return search_ ? search_->connections() : std::span<core::connection* const>();
}

void node_address::on_found(core::address where, core::time_point now)
{
    name_ = settings_.name + " at " + in_words(where);
    where_ = std::move(where);
    schedule_.found(now);
}

} // namespace holdfast::redis
