#include "zookeeper/latecomers.hpp"

#include <utility>

namespace holdfast::zookeeper_store {

using core::time_point;
using kind = request::kind;

void latecomers::add(const std::string& queue, std::string prefix)
{
    all_.emplace(++last_id_, suspect{queue, std::move(prefix)});
    due_.emplace(core::long_ago, last_id_);
}

void latecomers::clear() noexcept
{
    all_.clear();
    due_.clear();
}

void latecomers::disconnected()
{
    due_.clear();
    for (const auto& [id, each] : all_)
        due_.emplace(core::long_ago, id);
}

void latecomers::wake(time_point now)
{
    while (wake_at() <= now) {
        const core::slot_id id = due_.begin()->second;
        due_.erase(due_.begin());
        look(id, now);
    }
}

// The server may be behind the leader, who has carried it out.
void latecomers::look(core::slot_id id, time_point now)
{
    const std::string& queue = all_.at(id).queue;
    out_.send(kind::sweep, 0, {.what = wire::operation::sync, .path = queue}, now);
    out_.send(kind::sweep, id, {.what = wire::operation::get_children, .path = queue}, now);
}

void latecomers::listed(const request& r, const std::vector<std::string>& names, time_point now)
{
    const auto found = all_.find(r.claim);
    if (found == all_.end())
        return;
    suspect& s = found->second;
    bool exists = false;
    for (const std::string& each : names) {
        if (!each.starts_with(s.prefix))
            continue;
        exists = true;
        out_.send(kind::sweep_up, 0,
            {.what = wire::operation::remove, .path = s.queue + '/' + each}, now);
    }
    if (s.looks != pauses_s.size())
        due_.emplace(now + std::chrono::seconds(pauses_s[s.looks++]), r.claim);
    else if (exists) // until it is seen to be deleted
        due_.emplace(now + std::chrono::seconds(pauses_s.back()), r.claim);
    else
        all_.erase(found);
}

} // namespace holdfast::zookeeper_store
