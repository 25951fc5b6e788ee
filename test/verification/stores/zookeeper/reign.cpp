#include "verification/stores/zookeeper/reign.hpp"

#include "verification/stores/zookeeper/server.hpp"

#include <algorithm>

namespace holdfast::zookeeper_simulation {

namespace wire = zookeeper_store::wire;

reign::reign(world& w, ensemble& all, std::size_t leader, std::int64_t epoch)
    : world_(w),
      all_(all),
      leader_(leader),
      epoch_(epoch),
      prepared_(all.truth()),
      members_(all.size())
{
    // Nobody knows how old they are, so each has its whole time again.
    for (const auto& [id, timeout_ms] : prepared_.sessions()) {
        sessions_[id];
        touch(id, timeout_ms);
    }
}

void reign::begin()
{
    const duration tick = all_.settings().tick;
    repeat(world_.random.between(1us, tick / 2), &reign::beat);
    repeat(tick - clock().time_since_epoch() % tick, &reign::expire);
    repeat(all_.settings().container_interval, &reign::remove_containers);
}

time_point reign::clock() const
{
    return all_.at(leader_).clock();
}

void reign::repeat(duration by_its_clock, void (reign::*what)())
{
    world_.after(by_its_clock + 1us, [self = shared_from_this(), what] {
        if (self->over_)
            return;
        const time_point runs = self->all_.at(self->leader_).runs_from();
        if (runs > self->world_.now())
            return self->repeat(runs - self->world_.now(), what);
        (self.get()->*what)();
    });
}

std::deque<log_entry> reign::depose()
{
    deposed_ = true;
    std::deque<log_entry> rest;
    for (const proposal& each : outstanding_)
        rest.push_back(each.entry);
    for (std::size_t i = 0; i < members_.size(); ++i)
        leave(i);
    return rest;
}

void reign::end()
{
    over_ = true;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        if (members_[i].down)
            all_.at(i).lose_leader();
        leave(i);
    }
}

// Between the follower and the leader, to one of them.
std::shared_ptr<message_line> reign::line(std::size_t follower, std::size_t to)
{
    return std::make_shared<message_line>(world_, [this, follower, to] {
        return std::max({all_.at(follower).isolated_until(), all_.at(leader_).isolated_until(),
            all_.at(to).runs_from()});
    });
}

void reign::join(std::size_t follower)
{
    member& m = members_[follower];
    m.up = line(follower, leader_);
    m.down = line(follower, follower);
    m.heard = world_.now();
    m.counts = true;
    for (const proposal& each : outstanding_)
        send_proposal(follower, each.entry.change.zxid);
}

void reign::leave(std::size_t follower)
{
    member& m = members_[follower];
    if (!m.down)
        return;
    m.up->drop();
    m.down->drop();
    m.up = m.down = nullptr;
    if (over_)
        return;
    line(follower, leader_)->send(all_.peer_delay(), [self = shared_from_this(), follower] {
        member& left = self->members_[follower];
        left.counts = left.down != nullptr; // it may follow again
    });
}

void reign::from(std::size_t follower, world::event what)
{
    if (follower == leader_)
        return what();
    member& m = members_[follower];
    if (!m.up)
        return;
    m.up->send(all_.peer_delay(), [self = shared_from_this(), follower, what = std::move(what)] {
        self->members_[follower].heard = self->world_.now();
        what();
    });
}

void reign::tell(std::size_t to, world::event what)
{
    if (to == leader_)
        return what();
    if (members_[to].down)
        members_[to].down->send(all_.peer_delay(), std::move(what));
}

std::int32_t reign::refusal(std::int64_t session, std::size_t from)
{
    const auto at = sessions_.find(session);
    if (at == sessions_.end() || at->second.closing)
        return wire::code::session_expired;
    if (!at->second.owner)
        at->second.owner = from;
    return *at->second.owner == from ? wire::code::ok : wire::code::session_moved;
}

void reign::submit(const wire::request& r, std::int64_t session, const origin& o)
{
    const std::int64_t zxid = next_zxid();
    if (const std::int32_t error = refusal(session, o.server); error != wire::code::ok)
        return propose({.what = r.what, .session = session, .zxid = zxid, .error = error}, o);
    propose(prepared_.prepare(r, session, zxid, all_.clock_ms()), o);
}

void reign::begin_session(std::int64_t session, std::int32_t timeout_ms, const origin& o)
{
    sessions_[session].owner = o.server;
    touch(session, timeout_ms);
    propose(prepared_.prepare_session(session, timeout_ms, next_zxid()), o);
}

void reign::end_session(std::int64_t session, const origin& o)
{
    if (const auto at = sessions_.find(session); at != sessions_.end())
        at->second.closing = true;
    propose(prepared_.prepare_end(session, next_zxid()), o);
}

bool reign::revalidate(std::int64_t session, std::int32_t timeout_ms, std::size_t at)
{
    const auto found = sessions_.find(session);
    if (found == sessions_.end() || found->second.closing)
        return false;
    touch(session, timeout_ms);
    found->second.owner = at;
    return true;
}

// Sessions end at the ends of ticks.
void reign::touch(std::int64_t session, std::int32_t timeout_ms)
{
    const auto at = sessions_.find(session);
    if (at == sessions_.end() || at->second.closing)
        return;
    const duration tick = all_.settings().tick;
    const duration until = clock().time_since_epoch() + std::chrono::milliseconds(timeout_ms);
    at->second.expires = time_point((until / tick + 1) * tick);
}

void reign::sync(std::size_t server, world::event done)
{
    if (outstanding_.empty())
        tell(server, std::move(done));
    else
        outstanding_.back().syncs.emplace_back(server, std::move(done));
}

void reign::propose(test::zookeeper_change c, const origin& o)
{
    const std::int64_t zxid = c.zxid;
    outstanding_.push_back(
        {.entry = {std::move(c), o.server, o.connection}, .acknowledged = {}, .syncs = {}});
    for (std::size_t i = 0; i < members_.size(); ++i)
        send_proposal(i, zxid);
    const time_point written =
        std::max(world_.now(), all_.at(leader_).runs_from()) + all_.disk_delay();
    world_.at(written, [self = shared_from_this(), zxid] {
        if (!self->over_)
            self->acknowledge(self->leader_, zxid);
    });
}

void reign::send_proposal(std::size_t follower, std::int64_t zxid)
{
    if (!members_[follower].down)
        return;
    tell(follower, [self = shared_from_this(), follower, zxid] {
        if (const auto& up = self->members_[follower].up)
            up->send(self->all_.disk_delay() + self->all_.peer_delay(),
                [self, follower, zxid] { self->acknowledge(follower, zxid); });
    });
}

void reign::acknowledge(std::size_t server, std::int64_t zxid)
{
    if (members_[server].up)
        members_[server].heard = world_.now();
    const auto at = std::lower_bound(outstanding_.begin(), outstanding_.end(), zxid,
        [](const proposal& each, std::int64_t id) { return each.entry.change.zxid < id; });
    if (at != outstanding_.end() && at->entry.change.zxid == zxid)
        at->acknowledged.insert(server);
    commit_what_is_acknowledged();
}

void reign::commit_what_is_acknowledged()
{
    while (!over_ && !deposed_ && !outstanding_.empty() &&
           outstanding_.front().acknowledged.size() >= all_.quorum()) {
        const proposal done = std::move(outstanding_.front());
        outstanding_.pop_front();
        if (outstanding_.empty())
            prepared_.settle();
        if (done.entry.change.what == wire::operation::close_session)
            sessions_.erase(done.entry.change.session);
        all_.commit(done.entry);
        const std::size_t committed = all_.log().size();
        for (std::size_t i = 0; i < members_.size(); ++i) {
            if (i == leader_ || members_[i].down)
                tell(i, [self = shared_from_this(), i, committed] {
                    self->all_.at(i).catch_up(committed);
                });
        }
        for (const auto& [server, what] : done.syncs)
            tell(server, what);
    }
}

void reign::beat()
{
    const duration limit = all_.settings().tick * all_.settings().sync_ticks;
    std::size_t together = 1;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        member& m = members_[i];
        if (m.counts && world_.now() - m.heard > limit) {
            leave(i);
            m.counts = false;
        }
        together += m.counts;
    }
    if (together < all_.quorum()) {
        end();
        return all_.at(leader_).lose_leader();
    }
    for (std::size_t i = 0; i < members_.size(); ++i) {
        if (members_[i].down)
            ping(i);
    }
    repeat(all_.settings().tick / 2, &reign::beat);
}

// The answer tells which sessions the follower has heard of.
void reign::ping(std::size_t follower)
{
    tell(follower, [self = shared_from_this(), follower] {
        self->from(follower, [self, touched = self->all_.at(follower).answer_ping()] {
            for (const auto& [session, timeout_ms] : touched)
                self->touch(session, timeout_ms);
        });
    });
}

void reign::expire()
{
    const time_point now = clock();
    std::vector<std::int64_t> expired;
    for (const auto& [id, each] : sessions_) {
        if (!each.closing && each.expires <= now)
            expired.push_back(id);
    }
    for (const std::int64_t id : expired)
        end_session(id, {});
    const duration tick = all_.settings().tick;
    repeat(tick - now.time_since_epoch() % tick, &reign::expire);
}

void reign::remove_containers()
{
    for (const std::string& each : all_.at(leader_).data().idle_containers())
        propose(prepared_.prepare_removal(each, next_zxid()), {});
    repeat(all_.settings().container_interval, &reign::remove_containers);
}

} // namespace holdfast::zookeeper_simulation
