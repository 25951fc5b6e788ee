#include "redis/node/primary_search.hpp"

#include "redis/node/slot_table.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

using state = sentinel_query::state;

primary_search::primary_search(const sentinel_settings& settings, primary_search_owner& owner)
    : settings_(settings),
      owner_(owner)
{
    sentinel_query_owner& self = *this;
    for (const sentinel& each : settings_.sentinels) {
        queries_.push_back(std::make_unique<sentinel_query>(each, settings_.service, self));
        connections_.push_back(&queries_.back()->connection());
        if (each.tls == nullptr)
            continue;
        layers_.push_back(each.tls->wrap(*connections_.back(), each.where.host));
        connections_.back() = layers_.back().get();
    }
}

core::time_point primary_search::begin(core::time_point now, core::time_point end)
{
    under_way_ = true;
    quarter_ = now + (end - now) / 4;
    end_ = end;
    for (const auto& query : queries_)
        query->ask(end);
    return quarter_;
}

bool primary_search::settle(core::time_point now)
{
    std::size_t votes = 0;
    const sentinel_query* const found = best(votes);
    if (found == nullptr || may_be_outvoted(votes, now))
        return false;
    finish(*found, now);
    return true;
}

void primary_search::stop() noexcept
{
    under_way_ = false;
    for (const auto& query : queries_)
        query->stop();
}

void primary_search::on_settled(core::time_point now)
{
    if (under_way_ && !settle(now) && !anyone_asking())
        owner_.on_not_found(why_not(), now);
}

// With equal votes, the address that has just led to no primary comes last.
const sentinel_query* primary_search::best(std::size_t& votes) const
{
    const sentinel_query* found = nullptr;
    for (const auto& query : queries_) {
        if (query->now() != state::answered)
            continue;
        const std::size_t its = votes_for(query->answer());
        if (found == nullptr || its > votes ||
            (its == votes && is_doubtful(found->answer()) && !is_doubtful(query->answer()))) {
            found = query.get();
            votes = its;
        }
    }
    return found;
}

std::size_t primary_search::votes_for(const core::address& where) const noexcept
{
    return static_cast<std::size_t>(
        std::count_if(queries_.begin(), queries_.end(), [&](const auto& query) {
            return query->now() == state::answered && same(query->answer(), where);
        }));
}

bool primary_search::is_doubtful(const core::address& where) const noexcept
{
    return doubtful_ && same(*doubtful_, where);
}

bool primary_search::may_be_outvoted(std::size_t votes, core::time_point now) const noexcept
{
    if (now >= end_)
        return false;
    const bool only_connected = now >= quarter_;
    std::size_t expected = 0;
    std::size_t answered = 0;
    for (const auto& query : queries_) {
        const bool asking = query->now() == state::asking;
        expected += asking && (query->is_connected() || !only_connected) ? 1U : 0U;
        answered += query->now() == state::answered ? 1U : 0U;
    }
    return expected != 0 && 2 * votes <= answered + expected;
}

bool primary_search::anyone_asking() const noexcept
{
    return std::any_of(queries_.begin(), queries_.end(),
        [](const auto& query) { return query->now() == state::asking; });
}

void primary_search::finish(const sentinel_query& found, core::time_point now)
{
    doubtful_ = found.answer();
    stop();
    owner_.on_found(*doubtful_, now);
}

// Waiting does not help only if each of them needs a person.
failure primary_search::why_not() const
{
    failure all{{}, "no sentinel has named the primary of " + settings_.service};
    std::string_view separator = ": ";
    for (const auto& query : queries_) {
        const bool failed = query->now() == state::failed;
        const error_code code = failed ? query->why().code : make_error_code(errc::no_reply);
        if (!all.code || (all.code == condition::misconfigured && code != condition::misconfigured))
            all.code = code;
        all.text += separator;
        all.text += query->name() + ": " + (failed ? query->why().text : "no answer");
        separator = ", ";
    }
    return all;
}

} // namespace holdfast::redis
