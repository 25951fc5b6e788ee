// The commands for keys of the model of a Redis server.
#include "support/redis_model_call.hpp"

#include <limits>

namespace holdfast::test {

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

using resp_text::no_integer;
using resp_text::syntax;
using resp_text::wrong_type;

struct set_options {
    bool nx = false, xx = false, get = false, keep = false;
    enum { none, ex, px, exat, pxat } unit = none;
    std::string_view end;
};

bool parse(redis_model::arguments words, set_options& o)
{
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        const auto unit = same(word, "ex")     ? set_options::ex
                          : same(word, "px")   ? set_options::px
                          : same(word, "exat") ? set_options::exat
                          : same(word, "pxat") ? set_options::pxat
                                               : set_options::none;
        if (unit != set_options::none) {
            const bool conflict = o.keep || (o.unit != set_options::none && o.unit != unit);
            if (conflict || i + 1 == words.size())
                return false;
            o.unit = unit;
            o.end = words[++i];
        } else if (same(word, "nx") && !o.xx) {
            o.nx = true;
        } else if (same(word, "xx") && !o.nx) {
            o.xx = true;
        } else if (same(word, "get")) {
            o.get = true;
        } else if (same(word, "keepttl") && o.unit == set_options::none) {
            o.keep = true;
        } else {
            return false;
        }
    }
    return true;
}

struct expire_options {
    bool nx = false, xx = false, gt = false, lt = false;
    std::string error;
};

expire_options parse_expire(redis_model::arguments words)
{
    expire_options o;
    for (const std::string_view word : words) {
        if (same(word, "nx")) {
            o.nx = true;
        } else if (same(word, "xx")) {
            o.xx = true;
        } else if (same(word, "gt")) {
            o.gt = true;
        } else if (same(word, "lt")) {
            o.lt = true;
        } else {
            o.error = "ERR Unsupported option " + std::string(word.substr(0, word.find('\0')));
            return o;
        }
    }
    if (o.nx && (o.xx || o.gt || o.lt))
        o.error = "ERR NX and XX, GT or LT options at the same time are not compatible";
    else if (o.gt && o.lt)
        o.error = "ERR GT and LT options at the same time are not compatible";
    return o;
}

} // namespace

redis_model::call::ending redis_model::call::end_of_set(
    std::string_view number, bool seconds, bool absolute) const
{
    constexpr std::string_view invalid = "ERR invalid expire time in 'set' command";
    const auto parsed = integer_of(number);
    if (!parsed)
        return {{}, no_integer};
    std::int64_t n = *parsed;
    if (n <= 0 || (seconds && n > most / 1000))
        return {{}, invalid};
    if (seconds)
        n *= 1000;
    if (absolute)
        return {time(n), {}};
    if (n > most - wall.count())
        return {{}, invalid};
    return {time(n) + wall, {}};
}

redis_model::call::ending redis_model::call::end_of_expire(
    std::string_view number, bool seconds) const
{
    const std::string_view invalid = seconds ? "ERR invalid expire time in 'expire' command"
                                             : "ERR invalid expire time in 'pexpire' command";
    const auto parsed = integer_of(number);
    if (!parsed)
        return {{}, no_integer};
    std::int64_t n = *parsed;
    if (seconds) {
        if (n > most / 1000 || n < least / 1000)
            return {{}, invalid};
        n *= 1000;
    }
    if (n > most - wall.count())
        return {{}, invalid};
    return {time(n) + wall, {}};
}

void redis_model::call::set()
{
    set_options o;
    if (!parse(argv.subspan(3), o))
        return error(syntax);
    std::optional<time> end;
    if (o.unit != set_options::none) {
        const bool seconds = o.unit == set_options::ex || o.unit == set_options::exat;
        const bool absolute = o.unit == set_options::exat || o.unit == set_options::pxat;
        const ending e = end_of_set(o.end, seconds, absolute);
        if (!e.at)
            return error(e.error);
        end = e.at;
    }
    const auto found = look_up(argv[1]);
    if (o.get && !get_value(found))
        return;
    const bool there = found != none();
    if ((o.nx && there) || (o.xx && !there)) {
        if (!o.get)
            null();
        return;
    }
    if (o.keep && there)
        end = found->second.expires_at;
    assign(argv[1], found, argv[2], end);
    if (!o.get)
        simple("OK");
}

void redis_model::call::setnx()
{
    const auto found = look_up(argv[1]);
    if (found != none())
        return integer(0);
    assign(argv[1], found, argv[2], {});
    integer(1);
}

bool redis_model::call::get_value(keyspace::iterator found)
{
    if (found == none()) {
        null();
    } else if (found->second.is != item::kind::string) {
        error(wrong_type);
        return false;
    } else {
        bulk(found->second.value);
    }
    return true;
}

void redis_model::call::get()
{
    get_value(look_up(argv[1]));
}

void redis_model::call::mget()
{
    array(argv.size() - 1);
    for (const std::string_view key : argv.subspan(1)) {
        const auto found = look_up(key);
        if (found == none() || found->second.is != item::kind::string)
            null();
        else
            bulk(found->second.value);
    }
}

void redis_model::call::getset()
{
    const auto found = look_up(argv[1]);
    if (get_value(found))
        assign(argv[1], found, argv[2], {});
}

void redis_model::call::del()
{
    std::int64_t count = 0;
    for (const std::string_view key : argv.subspan(1)) {
        const auto found = look_up(key);
        if (found == none())
            continue;
        remove(found);
        ++count;
    }
    integer(count);
}

void redis_model::call::exists()
{
    std::int64_t count = 0;
    for (const std::string_view key : argv.subspan(1))
        count += look_up(key) != none() ? 1 : 0;
    integer(count);
}

void redis_model::call::end_at(keyspace::iterator found, time end)
{
    if (end <= wall)
        return remove(found);
    found->second.expires_at = end;
    server.changed(*found);
}

void redis_model::call::expire_in(bool seconds)
{
    const expire_options o = parse_expire(argv.subspan(3));
    if (!o.error.empty())
        return error(o.error);
    const ending e = end_of_expire(argv[2], seconds);
    if (!e.at)
        return error(e.error);
    const auto found = look_up(argv[1]);
    if (found == none())
        return integer(0);
    const std::optional<time> now = found->second.expires_at;
    const bool refused = (o.nx && now) || (o.xx && !now) || (o.gt && (!now || *e.at <= *now)) ||
                         (o.lt && now && *e.at >= *now);
    if (!refused)
        end_at(found, *e.at);
    integer(refused ? 0 : 1);
}

void redis_model::call::time_left(bool seconds)
{
    const auto found = look_up(argv[1]);
    if (found == none())
        return integer(-2);
    if (!found->second.expires_at)
        return integer(-1);
    const std::int64_t left = (*found->second.expires_at - wall).count();
    integer(seconds ? (left + 500) / 1000 : left);
}

void redis_model::call::type()
{
    const auto found = look_up(argv[1]);
    if (found == none())
        return simple("none");
    constexpr std::string_view names[] = {"string", "list", "hash", "set", "zset"};
    simple(names[static_cast<std::size_t>(found->second.is)]);
}

// Only the length of a list is modelled, as the length of `value`.
void redis_model::call::lpush()
{
    const std::size_t count = argv.size() - 2;
    auto found = look_up(argv[1]);
    if (found == none()) {
        found = keys().try_emplace(server.key_).first;
        found->second.is = item::kind::list;
    } else if (found->second.is != item::kind::list) {
        return error(wrong_type);
    }
    found->second.value.append(count, '.');
    server.changed(*found);
    integer(static_cast<std::int64_t>(found->second.value.size()));
}

void redis_model::call::flushall()
{
    if (argv.size() > 2 || (argv.size() == 2 && !same(argv[1], "sync") && !same(argv[1], "async")))
        return error(syntax);
    server.tell_of_flush();
    for (keyspace& each : server.data_) {
        for (auto key = each.begin(); key != each.end();)
            key = server.remove(each, key);
    }
    simple("OK");
}

} // namespace holdfast::test
