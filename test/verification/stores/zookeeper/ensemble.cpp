#include "verification/stores/zookeeper/ensemble.hpp"

#include "verification/stores/zookeeper/reign.hpp"
#include "verification/stores/zookeeper/server.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::zookeeper_simulation {

ensemble::ensemble(world& w, const ensemble_settings& s) : world_(w), settings_(s)
{
    for (std::size_t i = 0; i < s.servers; ++i)
        servers_.push_back(std::make_unique<server>(
            world_, *this, i, s.fast_clocks ? 1.004 : 0.996 + 0.008 * world_.random.fraction()));
}

// What is under way between servers keeps the reign alive.
ensemble::~ensemble()
{
    if (current_)
        current_->end();
}

void ensemble::begin()
{
    elect();
}

void ensemble::freeze(std::size_t server, duration length)
{
    at(server).freeze_until(world_.now() + length);
}

void ensemble::isolate(std::size_t server, duration length)
{
    at(server).isolate_until(world_.now() + length);
}

void ensemble::cut_clients(std::size_t server, duration length)
{
    at(server).cut_clients_until(world_.now() + length);
}

void ensemble::crash(std::size_t server, duration length)
{
    at(server).crash(length);
}

std::size_t ensemble::leader() const noexcept
{
    return current_->leader();
}

void ensemble::change_leader()
{
    if (current_->is_over() || size() == 1)
        return;
    server& leads = at(current_->leader());
    current_->end();
    leads.lose_leader();
}

void ensemble::split(duration length)
{
    if (current_->is_over() || size() == 1)
        return;
    isolate(leader(), length);
    for (std::size_t i = 0; i < size(); ++i) {
        if (i != leader() && at(i).follows(*current_)) {
            current_->leave(i);
            at(i).lose_leader();
        }
    }
}

void ensemble::turn_clients_away(std::size_t server, duration length)
{
    at(server).turn_clients_away_until(world_.now() + length);
}

void ensemble::commit(log_entry e)
{
    std::vector<test::zookeeper_tree::event> nobody;
    truth_.apply(e.change, nobody);
    log_.push_back(std::move(e));
    if (on_commit)
        on_commit(log_.back().change);
}

bool ensemble::is_able(std::size_t i) const
{
    const server& s = *servers_[i];
    return !s.is_crashed() && s.runs_from() <= world_.now() &&
           (size() == 1 || s.isolated_until() <= world_.now());
}

void ensemble::seek(server& who)
{
    if (!is_able(who.number()))
        return;
    if (!current_->is_over() && is_able(current_->leader())) {
        current_->join(who.number());
        return who.follow(current_);
    }
    std::size_t looking = 0;
    for (std::size_t i = 0; i < size(); ++i)
        looking += at(i).is_looking() && is_able(i);
    if (looking >= quorum())
        elect();
}

// Those that look for a leader have one at once. What the last one has proposed may be kept, but
// nothing of it without all that was before.
void ensemble::elect()
{
    if (current_) {
        const auto rest = current_->depose();
        const std::size_t kept = world_.random.below(rest.size() + 1);
        for (std::size_t i = 0; i < kept; ++i)
            commit({rest[i].change, 0, 0});
    }
    std::vector<std::size_t> able;
    for (std::size_t i = 0; i < size(); ++i) {
        if (at(i).is_looking() && is_able(i))
            able.push_back(i);
    }
    const std::size_t first = able[world_.random.below(able.size())];
    current_ = std::make_shared<reign>(world_, *this, first, ++epoch_);
    at(first).follow(current_);
    for (const std::size_t each : able) {
        if (each == first)
            continue;
        current_->join(each);
        at(each).follow(current_);
    }
    current_->begin();
}

duration ensemble::session_timeout(duration wanted) const
{
    const duration longest =
        settings_.longest_session != duration(0) ? settings_.longest_session : 20 * settings_.tick;
    return std::clamp(wanted, 2 * settings_.tick, longest);
}

duration ensemble::peer_delay()
{
    return world_.random.of_any_size(50us, trouble.slowest_peers);
}

duration ensemble::disk_delay()
{
    return world_.random.of_any_size(50us, settings_.slowest_disk);
}

std::int64_t ensemble::clock_ms() const
{
    return settings_.first_ms +
           std::chrono::duration_cast<std::chrono::milliseconds>(world_.now().time_since_epoch())
               .count();
}

} // namespace holdfast::zookeeper_simulation
