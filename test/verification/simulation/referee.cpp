#include "verification/simulation/referee.hpp"

#include "redis/quorum/ballot_round.hpp"

#include <algorithm>
#include <iomanip>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

namespace holdfast::simulation {

namespace {

using namespace std::chrono_literals;

// The most that a process is late if it is not frozen: a timer and a turn of its loop.
constexpr nanoseconds reaction = 5ms;

std::string holder_name(std::uint64_t process)
{
    return "process " + std::to_string(process);
}

} // namespace

std::string in_ms(nanoseconds t)
{
    std::ostringstream text;
    text << std::fixed << std::setprecision(3) << static_cast<double>(t.count()) * 1e-6 << " ms";
    return text.str();
}

std::string_view name_of(property p) noexcept
{
    constexpr std::array<std::string_view, 11> names{"P1 exclusion", "P2 tokens", "P3 register",
        "P4 notice", "P5 clean-up", "P6 progress", "P7 steadiness", "P8 data loss", "P9 operations",
        "P10 goodput", "P11 rest"};
    return names[static_cast<std::size_t>(p)];
}

void referee::fail(property p, std::string text)
{
    violations_.push_back({p, time_.now(), std::move(text)});
}

bool referee::excused(std::size_t process) const
{
    const auto found = excused_until_.find(process);
    return found != excused_until_.end() && time_.now() < found->second;
}

nanoseconds referee::lateness_of(std::size_t process) const
{
    const auto found = late_by_.find(process);
    return found == late_by_.end() ? nanoseconds(0) : found->second;
}

void referee::acquired(std::uint64_t id, lease_params terms)
{
    const nanoseconds now = time_.now();
    check_token(terms);
    if (terms.until <= now)
        fail(property::operations,
            holder_name(terms.process) + " acquired a lease that is already over");
    if (judged()) {
        const auto [first, last] = open_on_.equal_range(terms.resource);
        for (auto other = first; other != last; ++other) {
            const open_lease& lease = open_.at(other->second);
            const bool knew = !excused(lease.terms.process) &&
                              lateness_of(lease.terms.process) <= lease.terms.guard;
            if (!lease.told && knew)
                fail(property::notice, holder_name(terms.process) + " acquired " + terms.resource +
                                           ", but " + holder_name(lease.terms.process) +
                                           ", which acquired it at " + in_ms(lease.from) +
                                           ", was not told to stop");
        }
    }
    const nanoseconds until = terms.until;
    open_on_.emplace(terms.resource, id);
    open_[id] = {.terms = std::move(terms), .from = now, .updated = now, .until_before = until};
}

void referee::valid_until(std::uint64_t id, nanoseconds until)
{
    const auto found = open_.find(id);
    if (found == open_.end())
        return;
    open_lease& lease = found->second;
    const nanoseconds now = time_.now();
    if (!lease.over && lease.terms.until <= now)
        end(lease, id, lease.terms.until);
    if (lease.over) {
        if (until > now)
            fail(property::notice, "the lease of " + holder_name(lease.terms.process) + " on " +
                                       lease.terms.resource + " was over, but is held again");
        return;
    }
    // The tolerance is for the conversion between clocks of different rates.
    if (lease.told && until > lease.terms.until + std::chrono::microseconds(1))
        fail(property::notice, holder_name(lease.terms.process) +
                                   " was told to stop, but its lease on " + lease.terms.resource +
                                   " was prolonged");
    // A node that has lost the key can shorten a lease a lot at once.
    if (lease.updated != now) {
        lease.updated = now;
        lease.until_before = lease.terms.until;
    }
    if (until <= now)
        end(lease, id, now);
    else
        lease.terms.until = until;
}

// The lease is over. `min_hold` counts from when the nodes were asked, on clocks that may be 0.45 %
// fast. Its holder may not have been told yet.
void referee::end(open_lease& lease, std::uint64_t id, nanoseconds when)
{
    lease.over = true;
    const nanoseconds ended = std::max(when, lease.from);
    history_.push_back({lease.terms.resource, id, lease.from, ended});
    const nanoseconds rests_until = lease.terms.decided + lease.terms.min_hold * 995 / 1000;
    if (rests_until > ended)
        rests_.push_back({lease.terms.resource, id, ended, rests_until});
}

void referee::told_to_stop(std::uint64_t id, bool by_choice)
{
    const auto found = open_.find(id);
    if (found == open_.end() || found->second.told)
        return;
    open_lease& lease = found->second;
    lease.told = true;
    const nanoseconds left =
        (lease.updated == time_.now() ? lease.until_before : lease.terms.until) - time_.now();
    if (left < lease.terms.guard - lease.terms.guard / 64 - reaction -
                   lateness_of(lease.terms.process) &&
        !excused(lease.terms.process))
        fail(property::notice, holder_name(lease.terms.process) + " was told to stop only " +
                                   in_ms(left) + " before the end of its lease on " +
                                   lease.terms.resource + "; the guard time is " +
                                   in_ms(lease.terms.guard));
    if (!by_choice && lease.terms.renews && given_.nodes_are_fast &&
        (given_.majority_is_well || lease.from >= calm_since_))
        fail(property::steadiness, holder_name(lease.terms.process) + " lost its lease on " +
                                       lease.terms.resource + " although a majority was well");
}

void referee::given_up(std::uint64_t id)
{
    const auto found = open_.find(id);
    if (found == open_.end())
        return;
    if (!found->second.over)
        end(found->second, id, std::min(time_.now(), found->second.terms.until));
    const auto [first, last] = open_on_.equal_range(found->second.terms.resource);
    open_on_.erase(std::find_if(first, last, [id](const auto& each) { return each.second == id; }));
    open_.erase(found);
}

// By true time alone: clocks do not matter, nor which leases are over.
void referee::check_token(const lease_params& lease)
{
    if (lease.token.has_value() != given_.fenced)
        fail(property::tokens,
            holder_name(lease.process) + (given_.fenced ? " got no token" : " got a token"));
    if (!lease.token)
        return;
    auto& [all, numbers] = tokens_[lease.resource];
    const property broken = given_.nodes_forget ? property::data_loss : property::tokens;
    const auto complain = [&](const std::string& what) {
        fail(broken, holder_name(lease.process) + " got token " + std::to_string(*lease.token) +
                         " of " + lease.resource + what);
    };
    if (!numbers.insert(*lease.token).second)
        complain(", which another lease had already");
    // A token that was granted before the process asked for this lease must be smaller. Where nodes
    // lose keys too early: one that was granted before the nodes were asked. The process may have
    // asked them for another of its waiters, or another process may have asked them and given its
    // lease away. Neither can know that yet another process has acquired the lease since. Then its
    // writes are refused.
    nanoseconds asked = lease.asked;
    if (!judged()) {
        asked = std::min(asked, lease.nodes_asked);
        const auto same = std::find_if(all.rbegin(), all.rend(), [&](const token& t) {
            return t.number / redis::tokens_in_ballot == *lease.token / redis::tokens_in_ballot;
        });
        if (same != all.rend())
            asked = std::min(asked, same->asked);
    }
    const auto begun = std::partition_point(
        all.begin(), all.end(), [&](const token& t) { return t.given < asked; });
    if (begun != all.begin() && std::prev(begun)->largest >= *lease.token)
        complain(", although " + std::to_string(std::prev(begun)->largest) +
                 " had been granted before it asked");
    const std::uint64_t before = all.empty() ? 0 : all.back().largest;
    all.push_back({*lease.token, std::max(before, *lease.token), time_.now(), asked});
}

std::uint64_t referee::read(const std::string& resource, const access& who)
{
    protected_register& r = registers_[resource];
    r.largest_token = std::max(r.largest_token, who.token.value_or(0));
    return r.version;
}

void referee::write(const std::string& resource, std::uint64_t version_seen, const access& who)
{
    protected_register& r = registers_[resource];
    const std::string name = holder_name(who.process);
    if (who.token && *who.token < r.largest_token) {
        ++refused_writes_;
        if (who.held && judged())
            fail(property::register_,
                name + " holds " + resource + ", but its write was refused for a small token");
        return;
    }
    if (given_.fenced || judged()) {
        if (r.version != version_seen)
            fail(property::register_,
                name + " overwrote an update of " + resource + " that it had not seen");
        if (r.last_asked > who.given)
            fail(property::register_, name + " wrote to " + resource +
                                          " after a later holder, which asked when " + name +
                                          " had its lease already");
    }
    r.last_asked = std::max(r.last_asked, who.asked);
    ++r.version;
}

bool referee::key_changed(std::size_t node, const std::string& key,
    const test::redis_model::item* item, test::redis_model::time wall, bool in_passing)
{
    seen_key& seen = keys_[{node, key}];
    seen.changed = time_.now();
    if (item != nullptr)
        seen.queue = item->is == test::redis_model::item::kind::sorted_set;
    if (seen.queue)
        return !std::exchange(seen.there, item != nullptr) && seen.there;
    if (item == nullptr) {
        const bool expired = seen.ends && *seen.ends < wall;
        if (seen.there && !expired && !in_passing)
            seen.deleted.insert(seen.value);
        seen.there = false;
        return false;
    }
    // Of a longer value, the first token is that of a lease that was given to another process. That
    // one deletes its keys.
    constexpr std::size_t length_of_token = 32;
    if (item->value.size() > 2 * length_of_token)
        given_on_.insert(item->value.substr(0, length_of_token));
    const bool by_others = in_passing && given_on_.contains(item->value);
    // A command on a closed connection may arrive after commands that were sent later.
    if (seen.deleted.contains(item->value) && !by_others && (given_.nothing_is_late || calm()))
        fail(property::clean_up, "node " + std::to_string(node) + " has " + key + " = " +
                                     item->value + " again after its owner had deleted it");
    seen.value = item->value;
    seen.ends = item->expires_at;
    return !std::exchange(seen.there, true);
}

void referee::given_back(std::size_t node, const std::string& key, std::string_view value)
{
    const auto found = keys_.find({node, key});
    if (found != keys_.end() && found->second.there && found->second.value == value)
        found->second.deleted.insert(std::string(value));
}

void referee::keys_restored(std::size_t node, const test::redis_model::data& contents)
{
    for (auto& [where, key] : keys_) {
        if (where.first == node)
            key.there = false;
    }
    for (const auto& database : contents) {
        for (const auto& [name, item] : database) {
            seen_key& seen = keys_[{node, name}];
            seen.value = item.value;
            seen.ends = item.expires_at;
            seen.there = true;
        }
    }
}

void referee::left_behind(std::size_t node, const std::string& name, const seen_key& key)
{
    fail(property::clean_up, "node " + std::to_string(node) + " still has " + name + " = " +
                                 key.value + ", set or renewed at " + in_ms(key.changed) +
                                 ", but no process holds it");
}

void referee::check_cleaned_up(nanoseconds since)
{
    for (const auto& [where, key] : keys_) {
        if (key.there && !key.queue && key.changed >= since)
            left_behind(where.first, where.second, key);
    }
}

void referee::check_cleaned_up_after_cuts(nanoseconds young)
{
    if (!given_.nothing_is_late)
        return;
    std::set<std::string> held;
    for (const auto& [id, lease] : open_)
        held.insert(lease.terms.resource);
    for (const auto& [where, key] : keys_) {
        if (key.there && !key.queue && key.changed < time_.now() - young &&
            !held.contains(where.second))
            left_behind(where.first, where.second, key);
    }
}

void referee::check_rests()
{
    const property broken = given_.nodes_forget ? property::data_loss : property::rest;
    for (const resting& each : rests_) {
        for (const test::holding& later : history_) {
            if (later.resource == each.resource && later.holder != each.lease &&
                later.from >= each.from && later.from < each.until)
                violations_.push_back({broken, later.from,
                    each.resource + " was acquired by lease " + std::to_string(later.holder) +
                        ", but had to stay locked until " + in_ms(each.until)});
        }
    }
}

void referee::conclude()
{
    while (!open_.empty())
        given_up(open_.begin()->first);
    if (!judged())
        return;
    for (const test::overlap& o : test::overlaps(history_))
        violations_.push_back(
            {given_.nodes_forget ? property::data_loss : property::exclusion, o.second.from,
                o.first.resource + " was held from " + in_ms(o.first.from) + " to " +
                    in_ms(o.first.until) + " by lease " + std::to_string(o.first.holder) +
                    " and from " + in_ms(o.second.from) + " by lease " +
                    std::to_string(o.second.holder)});
    check_rests();
    std::stable_sort(
        violations_.begin(), violations_.end(), [](const violation& a, const violation& b) {
            return std::tie(a.when, a.of) < std::tie(b.when, b.of);
        });
}

} // namespace holdfast::simulation
