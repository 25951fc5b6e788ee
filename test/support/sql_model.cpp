#include "support/sql_model.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace holdfast::test {

using sql::action;
using sql::finding;
using sql::row;

namespace {

std::int64_t microseconds(core::duration d)
{
    return std::chrono::duration_cast<std::chrono::microseconds>(d).count();
}

auto place_of(auto& r, std::string_view owner)
{
    return std::find_if(
        r.waiters.begin(), r.waiters.end(), [owner](const auto& p) { return p.owner == owner; });
}

} // namespace

kept_statement::kept_statement(const sql::statement& of) : as_(of)
{
    for (const sql::entry& each : of.entries)
        texts_.push_back(
            {std::string(each.resource), std::string(each.owner), each.ttl, each.queues});
}

sql::statement kept_statement::get() const
{
    entries_.clear();
    for (const kept_entry& each : texts_)
        entries_.push_back({each.resource, each.owner, each.ttl, each.queues});
    sql::statement made = as_;
    made.entries = entries_;
    return made;
}

std::variant<sql::answer, sql::failure> sql_model::execute(const sql::statement& what)
{
    const auto before = rows;
    const auto told = turns_;
    sql::answer all;
    if (what.what == action::want)
        all.clock = clock;
    for (std::size_t i = 0; i < what.entries.size(); ++i) {
        const sql::entry& e = what.entries[i];
        auto found = what.what == action::want        ? want(what, e)
                     : what.what == action::give_back ? give_back(what, e)
                     : what.what == action::watch     ? std::optional(watch(e))
                                                      : renew(what, e);
        if (!found && what.waits &&
            !passes_over) { // it has waited too long for a row: nothing is done
            rows = before;
            turns_ = told;
            return sql::failure{errc::contended, sql::failure::remedy::pass_over, "lock timeout"};
        }
        if (!found)
            found = row{.what = finding::locked};
        found->entry = i;
        all.rows.push_back(*found);
    }
    return all;
}

std::variant<sql::reply, sql::failure> sql_model::execute(const sql::question& what)
{
    using kind = sql::question::kind;
    sql::reply all;
    switch (what.what) {
    case kind::take:
        return take(what);
    case kind::page:
        return page(what);
    case kind::look:
        if (const auto at = rows.find(std::string(what.resource)); at != rows.end())
            all.rows.push_back(sight_of(at->first, at->second));
        return all;
    case kind::tell:
        heard_.push_back({std::string(what.owner), std::string(what.address)});
        return all;
    }
    return all;
}

sql::sight sql_model::sight_of(const std::string& name, const resource& r) const
{
    sql::sight seen{.resource = name, .fence = r.tokens.last};
    if (!r.owner.empty() && r.expires_at > clock) {
        seen.owner = r.owner;
        seen.left = std::chrono::microseconds(r.expires_at - clock);
    }
    for (const place& each : r.waiters) {
        if (each.until > clock && ++seen.waiting <= sql::most_waiters_told)
            seen.waiters.push_back(each.owner);
    }
    return seen;
}

sql::reply sql_model::page(const sql::question& what) const
{
    sql::reply all;
    std::size_t read = 0;
    for (auto at = rows.lower_bound(std::string(what.resource));
         at != rows.end() && at->first < what.end && read < sql::most_in_page; ++at, ++read) {
        sql::sight seen = sight_of(at->first, at->second);
        seen.waiting = 0;
        seen.waiters.clear();
        all.last = at->first;
        if (!seen.owner.empty())
            all.rows.push_back(std::move(seen));
    }
    all.more = read == sql::most_in_page;
    return all;
}

std::variant<sql::reply, sql::failure> sql_model::take(const sql::question& what)
{
    const sql::entry one{.resource = what.resource, .owner = what.owner};
    const auto found = execute(
        sql::statement{.what = action::give_back, .waits = what.waits, .entries = {&one, 1}});
    if (const auto* const failed = std::get_if<sql::failure>(&found))
        return *failed;
    sql::reply done{.taken = std::get<sql::answer>(found).rows.front().what};
    if (done.taken == finding::released && what.owner.find('@') != what.owner.npos)
        losses_.push_back({std::string(what.owner), std::string(what.address)});
    return done;
}

std::vector<sql_model::turn> sql_model::turns()
{
    return std::exchange(turns_, {});
}

std::vector<sql_model::loss> sql_model::losses()
{
    return std::exchange(losses_, {});
}

std::vector<sql_model::loss> sql_model::heard()
{
    return std::exchange(heard_, {});
}

// `grants`: it changes the key of the row. A statement that does not wait asks for the whole row
// at once.
bool sql_model::is_locked(const sql::statement& what, const sql::entry& e, bool grants) const
{
    const auto found = locked.find(std::string(e.resource));
    if (found == locked.end())
        return false;
    return found->second == lock::row || grants ||
           (!passes_over && !what.waits && what.what != action::renew);
}

const sql_model::place* sql_model::first_of(const resource& r) const
{
    const auto first = std::find_if(
        r.waiters.begin(), r.waiters.end(), [this](const place& p) { return p.until > clock; });
    return first == r.waiters.end() ? nullptr : &*first;
}

bool sql_model::is_free_for(const resource& r, const std::string& owner) const
{
    const place* const first = first_of(r);
    return r.expires_at <= clock && (first == nullptr || first->owner == owner);
}

sql::token_block sql_model::next_tokens(const resource& r) const
{
    const auto now = static_cast<std::uint64_t>(clock);
    return {std::max(r.tokens.last + 1, now - 1023), std::max(r.tokens.last + 1, now)};
}

// Whether nothing is to be done for an owner that asks for so long: then no lock matters.
bool sql_model::lasts(const resource& r, std::int64_t until) const
{
    return passes_over && r.expires_at >= until;
}

std::int64_t sql_model::prolonged(const resource& r, std::int64_t until) const
{
    return passes_over ? std::max(r.expires_at, until) : until;
}

// None if another transaction has locked the row.
std::optional<row> sql_model::want(const sql::statement& what, const sql::entry& e)
{
    row found{};
    const std::string name(e.resource), owner(e.owner);
    const std::int64_t until = clock + microseconds(e.ttl);
    if (clock > what.not_after) {
        found.what = finding::late;
        return found;
    }
    const auto at = rows.find(name);
    if (at == rows.end()) {
        const auto now = static_cast<std::uint64_t>(clock);
        rows[name] = {owner, {now - 1023, now}, until, {}};
        found.what = finding::granted;
        found.tokens = rows[name].tokens;
        return found;
    }
    resource& r = at->second;
    const bool ours = r.owner == owner, is_next = !ours && is_free_for(r, owner);
    if ((ours || is_next || e.queues) && !(ours && lasts(r, until)) && is_locked(what, e, is_next))
        return std::nullopt;
    auto mine = place_of(r, owner);
    if (ours || is_next) {
        if (is_next) {
            if (mine != r.waiters.end())
                r.waiters.erase(mine);
            r.owner = owner;
            r.tokens = next_tokens(r);
        }
        r.expires_at = is_next ? until : prolonged(r, until);
        found.what = finding::granted;
        found.tokens = r.tokens;
        return found;
    }
    if (e.queues) {
        if (mine == r.waiters.end())
            mine = r.waiters.insert(r.waiters.end(), {owner, until});
        mine->until = until;
    }
    found.what = e.queues ? finding::queued : finding::refused;
    found.free_in = std::chrono::microseconds(r.expires_at - clock);
    if (mine != r.waiters.end())
        found.ahead = std::count_if(
            r.waiters.begin(), mine, [this](const place& p) { return p.until > clock; });
    return found;
}

std::optional<row> sql_model::give_back(const sql::statement& what, const sql::entry& e)
{
    constexpr std::int64_t shortest_rest = 100'000;
    row found{.what = finding::gone};
    const auto at = rows.find(std::string(e.resource));
    if (at == rows.end())
        return found;
    resource& r = at->second;
    const auto mine = place_of(r, e.owner);
    const bool had = r.owner == e.owner;
    if (!had && mine == r.waiters.end())
        return found;
    const auto next = std::find_if(r.waiters.begin(), r.waiters.end(),
        [&](const place& p) { return p.owner != e.owner && p.until > clock + shortest_rest; });
    const bool hands_over = had && next != r.waiters.end();
    if (is_locked(what, e, hands_over))
        return std::nullopt;
    found.what = had ? finding::released : finding::left;
    if (!had) {
        r.waiters.erase(mine);
    } else if (!hands_over) {
        r.owner.clear();
        r.expires_at = 0;
        r.waiters.clear();
    } else {
        r.owner = next->owner;
        r.expires_at = next->until;
        r.tokens = next_tokens(r);
        r.waiters.erase(r.waiters.begin(), next + 1);
        if (r.owner.find('@') != r.owner.npos)
            turns_.push_back({r.owner, r.tokens});
    }
    return found;
}

std::optional<row> sql_model::renew(const sql::statement& what, const sql::entry& e)
{
    row found{.what = finding::lost};
    const auto at = rows.find(std::string(e.resource));
    if (at == rows.end() || at->second.owner != e.owner || at->second.expires_at <= clock)
        return found;
    const std::int64_t until = clock + microseconds(e.ttl);
    if (!lasts(at->second, until) && is_locked(what, e, false))
        return std::nullopt;
    at->second.expires_at = prolonged(at->second, until);
    found.what = finding::renewed;
    found.others_wait = first_of(at->second) != nullptr;
    return found;
}

row sql_model::watch(const sql::entry& e) const
{
    const auto at = rows.find(std::string(e.resource));
    if (at == rows.end() || at->second.owner != e.owner || at->second.expires_at <= clock)
        return {.what = finding::lost};
    return {.what = finding::kept, .others_wait = first_of(at->second) != nullptr};
}

} // namespace holdfast::test
