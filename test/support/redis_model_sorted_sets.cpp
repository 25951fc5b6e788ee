// The commands for sorted sets of the model of a Redis server.
#include "support/redis_model_call.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>

namespace holdfast::test {

namespace {

using resp_text::no_integer;
using resp_text::syntax;
using resp_text::unknown_option;
using resp_text::wrong_type;

std::optional<double> score_of(std::string_view word)
{
    const std::string text(word);
    char* end = nullptr;
    errno = 0;
    const double score = std::strtod(text.c_str(), &end);
    if (text.empty() || std::isspace(static_cast<unsigned char>(text[0])) ||
        end != text.c_str() + text.size() || std::isnan(score) ||
        (errno == ERANGE && (std::isinf(score) || score == 0)))
        return std::nullopt;
    return score + 0.0; // a small set does not keep the sign of zero
}

bool is_sorted_set(const redis_model::item& i)
{
    return i.is == redis_model::item::kind::sorted_set;
}

} // namespace

// Returns false if it is a member with that score already.
bool redis_model::call::put_member(item& set, double score, std::string_view name)
{
    auto& all = set.members;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& m) { return m.second == name; });
    if (found != all.end() && found->first == score)
        return false;
    if (found != all.end())
        all.erase(found);
    std::pair<double, std::string> member(score, name);
    all.insert(std::upper_bound(all.begin(), all.end(), member), std::move(member));
    return true;
}

bool redis_model::call::has_member(const item& set, std::string_view name)
{
    return std::any_of(
        set.members.begin(), set.members.end(), [&](const auto& m) { return m.second == name; });
}

// Deletes the sorted set if it is empty.
void redis_model::call::members_changed(keyspace::iterator set)
{
    if (set->second.members.empty())
        remove(set);
    else
        server.changed(*set);
}

void redis_model::call::zadd()
{
    std::size_t first = 2;
    bool only_new = false;
    for (; first < argv.size() && same(argv[first], "nx"); ++first)
        only_new = true;
    for (const std::string_view option : {"xx", "ch", "incr", "gt", "lt"}) {
        if (first < argv.size() && same(argv[first], option))
            return error(unknown_option);
    }
    const arguments pairs = argv.subspan(std::min(first, argv.size()));
    if (pairs.empty() || pairs.size() % 2 != 0)
        return error(syntax);
    std::vector<double> scores;
    for (std::size_t i = 0; i < pairs.size(); i += 2) {
        const auto score = score_of(pairs[i]);
        if (!score)
            return error("ERR value is not a valid float");
        scores.push_back(*score);
    }
    auto found = look_up(argv[1]);
    if (found == none()) {
        found = keys().try_emplace(server.key_).first;
        found->second.is = item::kind::sorted_set;
    } else if (!is_sorted_set(found->second)) {
        return error(wrong_type);
    }

    std::int64_t added = 0;
    bool any = false;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        const std::string_view name = pairs[2 * i + 1];
        const bool there = has_member(found->second, name);
        if (there && only_new)
            continue;
        any = put_member(found->second, scores[i], name) || any;
        added += there ? 0 : 1;
    }
    if (any)
        members_changed(found);
    integer(added);
}

void redis_model::call::zrem()
{
    const auto found = look_up(argv[1]);
    if (found == none())
        return integer(0);
    if (!is_sorted_set(found->second))
        return error(wrong_type);
    std::size_t count = 0;
    for (const std::string_view name : argv.subspan(2))
        count +=
            std::erase_if(found->second.members, [&](const auto& m) { return m.second == name; });
    if (count > 0)
        members_changed(found);
    integer(static_cast<std::int64_t>(count));
}

// Replies with some members; with `pairs`, each together with its score.
void redis_model::call::members(
    const item& set, std::size_t first, std::size_t count, bool scores, bool pairs)
{
    array(scores && !pairs ? 2 * count : count);
    for (std::size_t i = first; i < first + count; ++i) {
        if (pairs)
            array(2);
        bulk(set.members[i].second);
        if (scores)
            number(set.members[i].first);
    }
}

void redis_model::call::zpopmin()
{
    if (argv.size() > 3)
        return error(syntax);
    const auto wanted = argv.size() == 3 ? integer_of(argv[2]) : 1;
    if (!wanted || *wanted < 0)
        return error("ERR value is out of range, must be positive");
    const auto found = look_up(argv[1]);
    if (found == none())
        return array(0);
    if (!is_sorted_set(found->second))
        return error(wrong_type);
    auto& all = found->second.members;
    const std::size_t count = std::min(static_cast<std::size_t>(*wanted), all.size());
    members(found->second, 0, count, true, from.protocol == 3 && argv.size() == 3);
    if (count == 0)
        return;
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
    members_changed(found);
}

void redis_model::call::zrange()
{
    bool scores = false;
    for (const std::string_view option : argv.subspan(4)) {
        for (const std::string_view unknown : {"limit", "rev", "bylex", "byscore"}) {
            if (same(option, unknown))
                return error(unknown_option);
        }
        if (!same(option, "withscores"))
            return error(syntax);
        scores = true;
    }
    auto first = integer_of(argv[2]), last = integer_of(argv[3]);
    if (!first || !last)
        return error(no_integer);
    const auto found = look_up(argv[1]);
    if (found == none())
        return array(0);
    if (!is_sorted_set(found->second))
        return error(wrong_type);
    const auto size = static_cast<std::int64_t>(found->second.members.size());
    *first = std::max<std::int64_t>(*first < 0 ? *first + size : *first, 0);
    *last = std::min(*last < 0 ? *last + size : *last, size - 1);
    const std::int64_t count = *first > *last ? 0 : *last - *first + 1;
    members(found->second, static_cast<std::size_t>(*first), static_cast<std::size_t>(count),
        scores, scores && from.protocol == 3);
}

void redis_model::call::zcard()
{
    const auto found = look_up(argv[1]);
    if (found != none() && !is_sorted_set(found->second))
        return error(wrong_type);
    integer(found == none() ? 0 : static_cast<std::int64_t>(found->second.members.size()));
}

void redis_model::call::zscore()
{
    const auto found = look_up(argv[1]);
    if (found == none())
        return null();
    if (!is_sorted_set(found->second))
        return error(wrong_type);
    for (const auto& [score, name] : found->second.members) {
        if (name == argv[2])
            return number(score);
    }
    null();
}

} // namespace holdfast::test
