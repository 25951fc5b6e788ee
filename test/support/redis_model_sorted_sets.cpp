// The commands for sorted sets of the model of a Redis server.
#include "support/redis_model_call.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace holdfast::test {

namespace {

using resp_text::no_float;
using resp_text::no_integer;
using resp_text::syntax;
using resp_text::unknown_option;
using resp_text::wrong_type;

// A number without blanks or signs, which needs no copy.
std::optional<double> plain_number(std::string_view word)
{
    constexpr std::size_t most_digits = 15; // each such number is exact
    std::int64_t n = 0;
    if (word.empty() || word.size() > most_digits || word[0] < '0' || word[0] > '9')
        return std::nullopt;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (error != std::errc() || end != word.data() + word.size())
        return std::nullopt;
    return static_cast<double>(n);
}

std::optional<double> score_of(std::string_view word)
{
    if (const auto plain = plain_number(word))
        return plain;
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

struct add_options : sorted_set::condition {
    bool ch = false;

    // False if the word is no option.
    bool take(std::string_view word)
    {
        const std::pair<std::string_view, bool*> all[] = {
            {"nx", &nx}, {"xx", &xx}, {"gt", &gt}, {"lt", &lt}, {"ch", &ch}};
        for (const auto& [name, chosen] : all) {
            if (same(word, name))
                return *chosen = true;
        }
        return false;
    }

    std::string_view conflict() const
    {
        if (nx && xx)
            return "ERR XX and NX options at the same time are not compatible";
        if (nx ? gt || lt : gt && lt)
            return "ERR GT, LT, and/or NX options at the same time are not compatible";
        return {};
    }
};

bool is_sorted_set(const redis_model::item& i)
{
    return i.is == redis_model::item::kind::sorted_set;
}

} // namespace

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
    add_options o;
    while (first < argv.size() && o.take(argv[first]))
        ++first;
    if (first < argv.size() && same(argv[first], "incr"))
        return error(unknown_option);
    const arguments pairs = argv.subspan(first);
    if (pairs.empty() || pairs.size() % 2 != 0)
        return error(syntax);
    if (const std::string_view why = o.conflict(); !why.empty())
        return error(why);
    std::vector<double> scores;
    scores.reserve(pairs.size() / 2);
    for (std::size_t i = 0; i < pairs.size(); i += 2) {
        const auto score = score_of(pairs[i]);
        if (!score)
            return error(no_float);
        scores.push_back(*score);
    }
    auto found = look_up(argv[1]);
    if (found != none() && !is_sorted_set(found->second))
        return error(wrong_type);
    if (found == none()) {
        if (o.xx)
            return integer(0);
        found = keys().try_emplace(server.key_).first;
        found->second.is = item::kind::sorted_set;
    }

    sorted_set& set = found->second.members;
    std::int64_t added = 0, changed = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        const auto done = set.put(scores[i], pairs[2 * i + 1], o);
        added += done == sorted_set::outcome::added ? 1 : 0;
        changed += done == sorted_set::outcome::changed ? 1 : 0;
    }
    if (added + changed > 0)
        members_changed(found);
    integer(o.ch ? added + changed : added);
}

void redis_model::call::zadd_numbers()
{
    const auto score = score_of(argv[2]);
    const auto count = integer_of(argv[3]);
    if (!score)
        return error(no_float);
    if (!count || *count <= 0)
        return error(syntax);
    auto found = look_up(argv[1]);
    if (found != none() && !is_sorted_set(found->second))
        return error(wrong_type);
    if (found == none()) {
        found = keys().try_emplace(server.key_).first;
        found->second.is = item::kind::sorted_set;
    }
    if (found->second.members.raise_numbered(*score, static_cast<std::size_t>(*count)))
        members_changed(found);
    integer(*count);
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
        count += found->second.members.erase(name) ? 1u : 0u;
    if (count > 0)
        members_changed(found);
    integer(static_cast<std::int64_t>(count));
}

// Replies with some members; with `pairs`, each together with its score.
void redis_model::call::members(
    const item& set, std::size_t first, std::size_t count, bool scores, bool pairs)
{
    array(scores && !pairs ? 2 * count : count);
    for (const auto& [score, name] : set.members.range(first, count)) {
        if (pairs)
            array(2);
        bulk(name);
        if (scores)
            number(score);
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
    sorted_set& all = found->second.members;
    const std::size_t count = std::min(static_cast<std::size_t>(*wanted), all.size());
    members(found->second, 0, count, true, from.protocol == 3 && argv.size() == 3);
    if (count == 0)
        return;
    for (const auto& each : all.range(0, count))
        all.erase(each.second);
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
    const auto score = found->second.members.score_of(argv[2]);
    score ? number(*score) : null();
}

} // namespace holdfast::test
