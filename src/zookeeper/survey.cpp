#include "zookeeper/survey.hpp"

#include "core/owner_text.hpp"
#include "core/owner_token.hpp"
#include "zookeeper/claim.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::zookeeper_store {

namespace {

constexpr std::size_t most_locks = 20'000, most_told = 1'000;

bool is_ours(std::string_view name)
{
    return core::owner_token::stamp_of(token_in(name)).has_value();
}

} // namespace

survey::survey(core::inspection_task task, const node_paths& paths, std::string name)
    : task_(task),
      paths_(paths),
      name_(std::move(name))
{
    restart();
}

void survey::restart()
{
    knows_resources_ = !is_list();
    cut_off_ = false;
    current_ = 0;
    queues_.clear();
    if (!is_list())
        queues_.push_back({name_});
}

std::optional<wire::request> survey::next() const
{
    if (!knows_resources_)
        return wire::request{.what = wire::operation::get_children, .path = paths_.root()};
    if (current_ == queues_.size())
        return std::nullopt;
    const queue& q = queues_[current_];
    const std::string folder = paths_.queue_of(q.resource);
    if (!q.listed)
        return wire::request{.what = wire::operation::get_children, .path = folder};
    return wire::request{
        .what = wire::operation::get_data, .path = folder + '/' + q.nodes[q.read].name};
}

// What is gone since is left out.
bool survey::read(std::int32_t error, const wire::reply_body& body)
{
    if (error != wire::code::ok && error != wire::code::no_node)
        return false;
    if (!knows_resources_) {
        knows_resources_ = true;
        for (const std::string& each : body.children) {
            auto resource = unescaped(each);
            if (!resource || node_paths::is_proof(each) || !resource->starts_with(name_))
                continue;
            cut_off_ = cut_off_ || queues_.size() == most_locks;
            if (!cut_off_)
                queues_.push_back({std::move(*resource)});
        }
        std::sort(queues_.begin(), queues_.end(),
            [](const queue& a, const queue& b) { return a.resource < b.resource; });
        return true;
    }
    queue& q = queues_[current_];
    if (!q.listed) {
        q.listed = true;
        add_nodes(body.children);
    } else {
        lock_node& node = q.nodes[q.read++];
        node.exists = error == wire::code::ok;
        node.data = body.data;
        node.stat = body.stat;
    }
    if (q.read == q.nodes.size())
        ++current_;
    return true;
}

void survey::add_nodes(const std::vector<std::string>& names)
{
    std::vector<std::pair<std::int32_t, std::string>> all;
    for (const std::string& each : names) {
        if (const auto sequence = sequence_of(each))
            all.emplace_back(*sequence, each);
    }
    std::sort(all.begin(), all.end(),
        [](const auto& a, const auto& b) { return is_before(a.first, b.first); });
    queue& q = queues_[current_];
    if (is_list() && !all.empty() && !is_ours(all.front().second))
        return;
    const std::size_t told = std::min(all.size(), is_list() ? 1 : most_told + 1);
    for (std::size_t i = 0; i < told; ++i)
        q.nodes.push_back({std::move(all[i].second)});
}

template <class Report>
void survey::fill(Report& to, const lock_node& holder) const
{
    to.held = true;
    to.having = 1;
    to.owner = core::owner_of(token_in(holder.name), holder.data);
    to.without_ttl = holder.stat.owner == 0; // a node that no session has
}

survey::findings survey::found() const
{
    if (is_list())
        return list();
    return report();
}

resource_report survey::report() const
{
    resource_report r;
    r.resource = name_;
    r.majority = 1; // the ensemble answers as one
    std::vector<const lock_node*> nodes;
    for (const lock_node& each : queues_.front().nodes) {
        if (each.exists)
            nodes.push_back(&each);
    }
    if (nodes.empty())
        return r;
    fill(r, *nodes.front());
    r.fence =
        static_cast<std::uint64_t>(nodes.front()->stat.created) * claim::block + claim::block - 1;
    if (nodes.size() < 2)
        return r;
    queue_report& waiting = r.queue.emplace();
    waiting.address = "ZooKeeper";
    waiting.length = nodes.size() - 1;
    for (std::size_t i = 1; i < nodes.size(); ++i)
        waiting.waiters.push_back(core::owner_of(token_in(nodes[i]->name), nodes[i]->data));
    return r;
}

lock_list survey::list() const
{
    lock_list all;
    all.complete = !cut_off_;
    for (const queue& q : queues_) {
        if (q.nodes.empty() || !q.nodes.front().exists)
            continue;
        listed_lock& one = all.locks.emplace_back();
        one.resource = q.resource;
        fill(one, q.nodes.front());
    }
    return all;
}

} // namespace holdfast::zookeeper_store
