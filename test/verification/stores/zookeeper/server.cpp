#include "verification/stores/zookeeper/server.hpp"

#include "verification/stores/zookeeper/connection.hpp"
#include "verification/stores/zookeeper/reign.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace holdfast::zookeeper_simulation {

namespace wire = zookeeper_store::wire;

server::server(world& w, ensemble& all, std::size_t number, double clock_rate)
    : world_(w),
      all_(all),
      number_(number),
      rate_(clock_rate)
{}

time_point server::clock() const noexcept
{
    const auto now = static_cast<double>(world_.now().time_since_epoch().count());
    return time_point(duration(static_cast<std::int64_t>(now * rate_)));
}

bool server::leads() const noexcept
{
    return reign_ && reign_->leader() == number_;
}

std::shared_ptr<connection> server::accept()
{
    const std::uint64_t id = ++connections_made_;
    return connections_[id] = std::make_shared<connection>(*this, id);
}

void server::forget(const connection& c)
{
    connections_.erase(c.id());
}

void server::in(
    std::uint64_t id, const std::function<void(zookeeper_simulation::connection&)>& what)
{
    const auto at = connections_.find(id);
    if (at == connections_.end())
        return;
    const std::shared_ptr<connection> kept = at->second;
    what(*kept);
}

void server::work(world::event what)
{
    if (settings().command == duration(0))
        return what();
    busy_until_ = std::max(busy_until_, world_.now()) + settings().command;
    world_.at(busy_until_, std::move(what));
}

void server::touch(std::int64_t session, std::int32_t timeout_ms)
{
    if (leads())
        reign_->touch(session, timeout_ms);
    else
        touched_[session] = timeout_ms;
}

void server::begin_session(connection& c, std::int32_t timeout_ms)
{
    const auto session =
        static_cast<std::int64_t>((number_ + 1) << 56 | ++sessions_made_ << 8 | incarnation_);
    c.set_session(session);
    reign_->from(number_, [r = reign_, session, timeout_ms, o = origin{number_, c.id()}] {
        r->begin_session(session, timeout_ms, o);
    });
}

std::int32_t server::refusal_of_read(std::int64_t session)
{
    return leads() ? reign_->refusal(session, number_) : wire::code::ok;
}

void server::close_older(std::int64_t session)
{
    std::vector<std::shared_ptr<connection>> older;
    for (const auto& [id, each] : connections_) {
        if (each->session() == session)
            older.push_back(each);
    }
    for (const auto& each : older)
        each->close();
}

void server::revalidate(connection& c, std::int64_t session, std::int32_t timeout_ms)
{
    c.set_session(session);
    reign_->from(number_, [this, r = reign_, session, timeout_ms, id = c.id()] {
        const bool valid = r->revalidate(session, timeout_ms, number_);
        const auto tell = [this, id, valid] {
            in(id, [valid](connection& to) { to.begin(valid); });
        };
        r->tell(number_, tell);
    });
}

void server::forward(const wire::request& r, connection& c)
{
    const origin o{number_, c.id()};
    reign_->from(number_, [this, leader = reign_, r, session = c.session(), o] {
        if (r.what == wire::operation::close_session)
            return leader->end_session(session, o);
        if (r.what != wire::operation::sync)
            return leader->submit(r, session, o);
        leader->sync(
            number_, [this, id = o.connection] { in(id, [](connection& to) { to.synced(); }); });
    });
}

void server::freeze_until(time_point t)
{
    runs_from_ = std::max(runs_from_, t);
}

void server::turn_clients_away_until(time_point t)
{
    turns_away_until_ = std::max(turns_away_until_, t);
    hang_up();
}

void server::crash(duration length)
{
    if (crashed_)
        return;
    crashed_ = true;
    ++incarnation_;
    if (leads())
        reign_->end();
    else if (reign_)
        reign_->leave(number_);
    lose_leader();
    runs_from_ = isolated_until_ = cut_until_ = {};
    world_.after(length, [this] {
        crashed_ = false;
        seek_later();
    });
}

void server::follow(std::shared_ptr<reign> which)
{
    reign_ = std::move(which);
    touched_.clear();
    catch_up(all_.log().size());
    serving_ = true;
    heard_ = world_.now();
    if (!leads())
        watch_leader();
}

void server::lose_leader()
{
    reign_ = nullptr;
    serving_ = false;
    touched_.clear();
    hang_up();
    seek_later();
}

void server::hang_up()
{
    for (const auto& [id, each] : std::exchange(connections_, {}))
        each->close();
}

void server::seek_later()
{
    if (crashed_ || std::exchange(seeking_, true))
        return;
    const duration pause = world_.random.of_any_size(5ms, 500ms);
    world_.at(std::max(world_.now() + pause, runs_from_), [this] {
        seeking_ = false;
        if (!is_looking())
            return;
        if (runs_from_ <= world_.now())
            all_.seek(*this);
        if (is_looking())
            seek_later();
    });
}

// Twice a tick, it looks whether the leader was heard of.
void server::watch_leader()
{
    const auto again = std::max(world_.now() + settings().tick / 2, runs_from_ + 1ms);
    world_.at(again, [this, r = reign_] {
        if (reign_ != r)
            return;
        if (runs_from_ <= world_.now() &&
            world_.now() - heard_ > settings().tick * settings().sync_ticks) {
            r->leave(number_);
            return lose_leader();
        }
        watch_leader();
    });
}

std::map<std::int64_t, std::int32_t> server::answer_ping()
{
    heard_ = world_.now();
    return std::exchange(touched_, {});
}

void server::catch_up(std::size_t committed)
{
    heard_ = world_.now();
    for (; applied_ < committed; ++applied_) {
        const log_entry& e = all_.log()[applied_];
        std::vector<test::zookeeper_tree::event> events;
        const test::zookeeper_tree::answer a = data_.apply(e.change, events);
        std::vector<std::shared_ptr<connection>> open;
        for (const auto& [id, each] : connections_)
            open.push_back(each);
        for (const auto& event : events) {
            for (const auto& each : open)
                each->tell(event);
        }
        if (e.server == number_ && e.connection != 0)
            in(e.connection, [&](connection& to) { to.committed(e.change, a); });
        if (e.change.what != wire::operation::close_session)
            continue;
        for (const auto& each : open) {
            if (each->session() == e.change.session)
                each->close();
        }
    }
}

} // namespace holdfast::zookeeper_simulation
