#include "etcd/survey.hpp"

#include "core/owner_text.hpp"
#include "core/owner_token.hpp"
#include "etcd/claim.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace holdfast::etcd_store {

namespace {

constexpr std::int64_t page = 1'000, most_waiting = 5'000; // keys in one answer
constexpr std::size_t most_pages = 200, most_locks = 20'000, most_told = 1'000;

// All keys that begin with any bytes.
wire::key_range range_of(std::string prefix)
{
    while (!prefix.empty() && prefix.back() == '\xff')
        prefix.pop_back();
    if (prefix.empty())
        return {std::string(1, '\0'), std::string(1, '\0')}; // all keys
    return wire::keys_with(std::move(prefix));
}

bool is_token(std::string_view text)
{
    return core::owner_token::stamp_of(text).has_value();
}

} // namespace

survey::survey(core::inspection_task task, std::string prefix, std::string name)
    : task_(task),
      prefix_(std::move(prefix)),
      name_(std::move(name))
{
    restart();
}

void survey::restart()
{
    unread_ = is_list() ? range_of(prefix_ + name_) : wire::keys_with(prefix_ + name_ + "/");
    queues_.clear();
    pages_ = 0;
    cut_off_ = false;
    leases_.clear();
    left_.clear();
}

std::optional<survey::question> survey::next() const
{
    if (!unread_.first.empty())
        return question{wire::range_path,
            wire::list_values(unread_, is_list() ? page : most_waiting, !is_list())};
    if (!leases_.empty())
        return question{wire::lease_time_path, wire::lease_time(leases_.back())};
    return std::nullopt;
}

bool survey::read(std::string_view answer)
{
    if (unread_.first.empty()) {
        const auto lease = wire::read_lease(answer);
        if (lease && lease->ttl_seconds > 0)
            left_[leases_.back()] = std::chrono::seconds(lease->ttl_seconds);
        leases_.pop_back();
        return lease.has_value();
    }
    auto reply = wire::read_list(answer);
    if (!reply)
        return false;
    wire::answer& all = reply->found;
    const bool more = all.more && !all.keys.empty();
    if (more && is_list())
        unread_.first = all.keys.back().name + '\0';
    for (wire::listed_key& each : all.keys)
        add(std::move(each));
    cut_off_ = more && (!is_list() || ++pages_ == most_pages || queues_.size() > most_locks);
    if (!more || cut_off_) {
        unread_ = {};
        note_leases();
    }
    return true;
}

bool survey::skip()
{
    if (leases_.empty())
        return false;
    leases_.pop_back();
    return true;
}

std::string_view survey::token_in(const wire::listed_key& key) const
{
    return std::string_view(key.name).substr(key.name.rfind('/') + 1);
}

// A key is `<prefix><resource>/<token>`. Others are no locks.
void survey::add(wire::listed_key&& key)
{
    const auto slash = key.name.rfind('/');
    if (!key.name.starts_with(prefix_) || slash == key.name.npos || slash <= prefix_.size() ||
        slash + 1 == key.name.size())
        return;
    const std::string resource = key.name.substr(prefix_.size(), slash - prefix_.size());
    if (is_list() ? !resource.starts_with(name_) : resource != name_)
        return;
    queue& q = queues_[resource];
    q.ours = q.ours || is_token(token_in(key));
    if (!is_list() || q.keys.empty())
        q.keys.push_back(std::move(key));
    else if (key.created < q.keys.front().created)
        q.keys.front() = std::move(key);
}

void survey::note_leases()
{
    std::set<std::int64_t> all;
    for (const auto& [resource, q] : queues_) {
        if ((q.ours || !is_list()) && q.keys.front().lease != 0)
            all.insert(q.keys.front().lease);
    }
    leases_.assign(all.begin(), all.end());
}

template <class Report>
void survey::fill(Report& to, const queue& from) const
{
    const wire::listed_key& holder = from.keys.front();
    to.held = true;
    to.having = 1;
    to.owner = core::owner_of(token_in(holder), holder.value);
    to.without_ttl = holder.lease == 0;
    if (const auto left = left_.find(holder.lease); left != left_.end())
        to.ttl_left = left->second;
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
    r.majority = 1; // the cluster answers as one
    const auto found = queues_.find(name_);
    if (found == queues_.end())
        return r;
    const queue& q = found->second;
    fill(r, q);
    r.fence = static_cast<std::uint64_t>(q.keys.front().created) * claim::block + claim::block - 1;
    if (q.keys.size() < 2)
        return r;
    queue_report& waiting = r.queue.emplace();
    waiting.address = "etcd";
    waiting.length = q.keys.size() - 1;
    for (std::size_t i = 1; i < q.keys.size() && i <= most_told; ++i)
        waiting.waiters.push_back(core::owner_of(token_in(q.keys[i]), q.keys[i].value));
    return r;
}

lock_list survey::list() const
{
    lock_list all;
    all.complete = !cut_off_;
    for (const auto& [resource, q] : queues_) {
        if (!q.ours)
            continue;
        if (all.locks.size() == most_locks) {
            all.complete = false;
            break;
        }
        listed_lock& one = all.locks.emplace_back();
        one.resource = resource;
        fill(one, q);
    }
    return all;
}

} // namespace holdfast::etcd_store
