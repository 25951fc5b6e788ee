#include "sql/survey.hpp"

#include "core/owner_token.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace holdfast::sql {

using core::inspection_task;

namespace {

constexpr std::size_t most_locks = 20'000, most_bytes = 8u << 20u; // of a list
constexpr std::size_t longest_resource = 512, length_of_mark = 8;

// All names that begin with these bytes are before it.
std::string end_of(std::string prefix)
{
    while (!prefix.empty() && prefix.back() == '\xff')
        prefix.pop_back();
    if (prefix.empty())
        return std::string(longest_resource + 1, '\xff');
    ++prefix.back();
    return prefix;
}

// The name of an owner is its token, and perhaps an address.
lock_owner owner_of(std::string_view name)
{
    const std::string_view token = name.substr(0, name.find('@'));
    lock_owner owner;
    owner.mark = token.substr(0, length_of_mark);
    const auto stamp = core::owner_token::stamp_of(token);
    if (!stamp) {
        owner.foreign = true;
        return owner;
    }
    owner.id = stamp->client;
    owner.since = std::chrono::system_clock::time_point(std::chrono::seconds(stamp->seconds));
    return owner;
}

// The database answers as one.
template <class Report>
void fill(Report& to, const sight& from)
{
    to.held = true;
    to.having = 1;
    to.owner = owner_of(from.owner);
    to.ttl_left = std::chrono::floor<std::chrono::milliseconds>(from.left);
}

} // namespace

survey::survey(inspection_task task, std::string name, std::string store)
    : task_(task),
      name_(std::move(name)),
      store_(std::move(store)),
      from_(name_),
      end_(end_of(name_))
{
    report_.resource = name_;
    report_.majority = 1;
}

question survey::next(std::string_view address) const
{
    if (task_ == inspection_task::list)
        return {.what = question::kind::page, .resource = from_, .end = end_};
    if (!taking_)
        return {.what = question::kind::look, .resource = name_};
    return {.what = question::kind::take,
        .resource = name_,
        .owner = owner_,
        .address = address,
        .waits = waits_};
}

void survey::read(const reply& what, std::string_view address)
{
    state_ = state::asks;
    reason_ = errc{};
    if (task_ == inspection_task::list)
        return add(what);
    if (!taking_)
        return look(what);
    if (what.taken == finding::locked)
        return put_off(errc::contended);
    state_ = state::over;
    if (what.taken != finding::released)
        return; // it has changed hands, and its next holder keeps it
    forced_.deleted = 1;
    const bool answers = !address.empty() && owner_.find('@') != owner_.npos;
    if (answers)
        state_ = state::hears;
}

void survey::look(const reply& what)
{
    const bool held = !what.rows.empty() && !what.rows.front().owner.empty();
    state_ = state::over;
    if (task_ == inspection_task::force_release) {
        if (!held)
            return give_up(errc::not_held);
        owner_ = what.rows.front().owner;
        forced_.owner = owner_of(owner_);
        taking_ = true;
        state_ = state::asks;
        return;
    }
    if (what.rows.empty())
        return;
    const sight& seen = what.rows.front();
    if (held)
        fill(report_, seen);
    report_.fence = seen.fence;
    if (seen.waiting == 0)
        return;
    queue_report& queue = report_.queue.emplace();
    queue.address = store_;
    queue.length = seen.waiting;
    for (const std::string& each : seen.waiters)
        queue.waiters.push_back(owner_of(each));
}

void survey::add(const reply& what)
{
    for (const sight& each : what.rows) {
        bytes_ += each.resource.size();
        if (list_.locks.size() == most_locks || bytes_ > most_bytes) {
            state_ = state::over;
            return;
        }
        listed_lock& one = list_.locks.emplace_back();
        one.resource = each.resource;
        fill(one, each);
    }
    if (what.more) {
        from_ = what.last + '\0';
        return;
    }
    list_.complete = true;
    state_ = state::over;
}

// A row that is locked delays others once, at most.
void survey::put_off(errc why)
{
    waits_ = false;
    state_ = state::rests;
    reason_ = why;
}

void survey::heard(std::string_view owner)
{
    if (state_ != state::hears || owner != owner_)
        return;
    forced_.told = true;
    state_ = state::over;
}

void survey::give_up(errc why)
{
    if (why == errc::not_held)
        forced_ = {};
    reason_ = why;
    state_ = state::over;
}

core::inspection_result survey::result() &&
{
    core::inspection_result made;
    made.reason = reason_;
    if (task_ == inspection_task::list)
        made.found = std::move(list_);
    else if (task_ == inspection_task::force_release)
        made.found = std::move(forced_);
    else
        made.found = std::move(report_);
    return made;
}

} // namespace holdfast::sql
