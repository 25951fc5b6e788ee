#include "redis/inspection/inquiry.hpp"

#include "redis/inspection/scripts_of_inspection.hpp"
#include "redis/quorum/majority.hpp"
#include "redis/quorum/rendezvous.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace holdfast::redis {

using std::chrono::milliseconds;

namespace {

// A list is judged in one step, during which no lease is renewed.
constexpr std::size_t most_locks = 20'000;
constexpr std::size_t most_bytes = std::size_t(8) * 1024 * 1024; // of their names and values
constexpr std::size_t most_ids = 4'096;

// The two members that tell how long a key lasts.
template <class Report>
void put_end(Report& to, std::int64_t left_ms)
{
    to.without_ttl = left_ms < 0;
    if (left_ms >= 0)
        to.ttl_left = milliseconds(left_ms);
}

std::vector<const key_copy*> pointers_to(const std::vector<key_copy>& copies)
{
    std::vector<const key_copy*> all;
    for (const key_copy& each : copies)
        all.push_back(&each);
    return all;
}

// What a resource_report and a listed_lock have in common.
template <class Report>
void put_owner(Report& to, const ownership& whose, const inquiry& q)
{
    to.held = whose.held;
    to.having = whose.having;
    if (whose.having == 0)
        return;
    to.owner = q.named(whose);
    if (whose.held)
        put_end(to, whose.left_ms);
}

} // namespace

bool inquiry::is_over() const noexcept
{
    return std::all_of(
        parts.begin(), parts.end(), [](const part& each) { return each.now == part::state::over; });
}

ownership inquiry::owner() const
{
    std::vector<const key_copy*> keys;
    for (const part& each : parts)
        keys.push_back(&each.seen.key);
    return judge(keys, ranks_for(name));
}

std::vector<std::uint64_t> inquiry::ranks_for(std::string_view resource) const
{
    const std::uint64_t hash = hash_of(std::string(lock_prefix).append(resource));
    std::vector<std::uint64_t> all;
    for (const part& each : parts)
        all.push_back(each.identity == 0 ? unknown_rank : queue_node_rank(hash, each.identity));
    return all;
}

lock_owner inquiry::named(const ownership& whose) const
{
    lock_owner owner = owner_of(whose.holder, wall);
    redis::name(owner, clients, parts.size());
    owner.client_confirmed = owner.client_confirmed && whose.is_certain;
    return owner;
}

void inquiry::collect_ids()
{
    std::set<std::uint32_t> all;
    const auto collect = [&](std::string_view value) {
        const lock_owner each = owner_of(split_value(value).holder, wall);
        if (!each.foreign && each.id != 0 && ids.size() < most_ids && all.insert(each.id).second)
            ids.push_back(each.id);
    };
    collect(owner().holder);
    if (task == core::inspection_task::force_release)
        return;
    for (const part& each : parts) {
        collect(each.seen.key.value);
        for (const std::string& waiter : each.seen.queue)
            collect(waiter);
    }
    for (const auto& [resource, copies] : found) {
        for (const key_copy& each : copies)
            collect(each.value);
    }
}

std::span<const std::uint32_t> inquiry::next_ids(std::size_t node) const noexcept
{
    const auto rest = std::span(ids).subspan(parts[node].next_client);
    return rest.first(std::min(most_records, rest.size()));
}

bool inquiry::hands_off(std::size_t node) const noexcept
{
    const std::size_t here = parts[node].seen.queue_length;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::size_t there = parts[i].seen.queue_length;
        if (there > here || (there == here && here != 0 && i < node))
            return false;
    }
    return true;
}

// Others' keys with an end may belong to attempts under way, which rely on them.
std::optional<std::string_view> inquiry::value_to_take(
    std::size_t node, const ownership& whose) const noexcept
{
    const key_copy& key = parts[node].seen.key;
    if (whose.held && !key.present)
        return whose.lease; // it may have been given it since
    if (whose.held && split_value(key.value).lease == whose.lease)
        return key.value;
    if (key.present && key.left_ms == -1)
        return key.value;
    return std::nullopt;
}

bool inquiry::asks(std::size_t node) const
{
    switch (now) {
    case stage::looking:
        return true;
    case stage::naming:
        return parts[node].answered && !ids.empty();
    case stage::taking_first:
        return node_to_take_first() == node;
    case stage::taking:
        return !parts[node].took;
    }
    return false;
}

bool inquiry::awaits(std::size_t node, request_kind kind) const noexcept
{
    if (parts[node].now != part::state::asked)
        return false;
    switch (now) {
    case stage::looking:
        return kind == request_kind::view || kind == request_kind::scan;
    case stage::naming:
        return kind == request_kind::clients;
    default:
        return kind == request_kind::take;
    }
}

std::optional<std::size_t> inquiry::node_to_take_first() const
{
    const ownership whose = owner();
    if (!whose.held || owner_of(whose.holder, wall).foreign)
        return std::nullopt;
    if (whose.named_at)
        return whose.named_at;
    // Waiters may be in other queues as well.
    const std::vector<std::uint64_t> ranks = ranks_for(name);
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const sighting& seen = parts[i].seen;
        if (seen.queue_length != 0 && seen.key.present &&
            split_value(seen.key.value).lease == whose.lease &&
            (!first || ranks[i] > ranks[*first]))
            first = i;
    }
    return first.value_or(whose.namer);
}

bool inquiry::has_changed_hands() const
{
    return now == stage::taking_first && forced.deleted == 0 && parts[*node_to_take_first()].took;
}

std::string_view inquiry::channel_of(const ownership& whose) const
{
    const lock_owner owner = owner_of(whose.holder, wall);
    const told_clients::record* const known = owner.foreign ? nullptr : clients.find(owner.id);
    return known == nullptr ? std::string_view() : known->details.channel;
}

errc inquiry::trouble_of_release() const
{
    if (const errc why = trouble(); why != errc{})
        return why;
    if (!owner().held)
        return errc::not_held;
    if (now == stage::taking_first) {
        if (has_changed_hands())
            return errc{};
        const part& first = parts[*node_to_take_first()];
        return first.seen.why == make_error_code(errc::permission_denied) ? errc::permission_denied
                                                                          : errc::unreachable;
    }
    const auto took = static_cast<std::size_t>(
        std::count_if(parts.begin(), parts.end(), [](const part& each) { return each.took; }));
    return took >= majority(parts.size()) ? errc{} : errc::unreachable;
}

void inquiry::fail(std::size_t node, error_code why)
{
    part& p = parts[node];
    if (now == stage::looking && !p.answered)
        p.seen.why = why ? why : make_error_code(errc::no_reply);
    p.end();
}

errc inquiry::trouble() const noexcept
{
    std::size_t answers = 0, conflicts = 0, forbidden = 0;
    for (const part& each : parts) {
        answers += each.answered ? 1u : 0u;
        conflicts += each.seen.is == sighting::kind::conflict ? 1u : 0u;
        forbidden += each.seen.why == make_error_code(errc::permission_denied) ? 1u : 0u;
    }
    if (conflicts >= blocking(parts.size()))
        return errc::key_conflict;
    if (forbidden >= blocking(parts.size()))
        return errc::permission_denied;
    return answers >= majority(parts.size()) ? errc{} : errc::unreachable;
}

void inquiry::add(std::size_t node, scan_step&& step)
{
    const std::size_t first = lock_prefix.size();
    cut_off = cut_off || step.left_out;
    for (auto& [key, copy] : step.keys) {
        if (key.size() <= first || key.compare(first, name.size(), name) != 0)
            continue; // not what was asked for
        if (!fenced && owner_of(split_value(copy.value).holder, wall).foreign)
            continue; // any client may use any key: only tokens of holdfast are locks
        std::string resource = key.substr(first);
        auto place = found.find(resource);
        if (place == found.end()) {
            const std::size_t more = resource.size() + parts.size() * longest_listed_value;
            if (found.size() >= most_locks || bytes + more > most_bytes) {
                left_out = true; // but the copies of those that are known are still read
                continue;
            }
            bytes += more;
            place = found.try_emplace(std::move(resource), parts.size()).first;
        }
        place->second[node] = std::move(copy);
    }
}

resource_report inquiry::report(const node_pool& nodes) const
{
    resource_report r;
    r.resource = name;
    r.majority = majority(parts.size());
    const ownership whose = owner();
    put_owner(r, whose, *this);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const sighting& seen = parts[i].seen;
        node_report& n = r.nodes.emplace_back();
        n.address = nodes[i].name();
        n.error = seen.why;
        n.fence = seen.fence;
        if (seen.fence)
            r.fence = std::max(r.fence.value_or(0), *seen.fence);
        if (seen.is == sighting::kind::absent)
            n.key = key_state::absent;
        else if (seen.is == sighting::kind::conflict)
            n.key = key_state::conflict;
        if (seen.is == sighting::kind::value) {
            const bool same = split_value(seen.key.value).lease == whose.lease;
            n.key = same ? key_state::owner : key_state::other;
            put_end(n, seen.key.left_ms);
        }
        if (seen.queue_length == 0 || (r.queue && r.queue->length >= seen.queue_length))
            continue;
        r.queue.emplace();
        r.queue->address = n.address;
        r.queue->length = seen.queue_length;
        for (const std::string& waiter : seen.queue)
            redis::name(
                r.queue->waiters.emplace_back(owner_of(waiter, wall)), clients, parts.size());
    }
    return r;
}

lock_list inquiry::list() const
{
    lock_list all;
    all.complete = !cut_off && !left_out && trouble() == errc{};
    for (const auto& [resource, copies] : found) {
        listed_lock& l = all.locks.emplace_back();
        l.resource = resource;
        put_owner(l, judge(pointers_to(copies), ranks_for(resource)), *this);
    }
    return all;
}

} // namespace holdfast::redis
