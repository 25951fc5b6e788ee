// The scripts of the queue of waiters for a key, as the model of a Redis server executes them. The
// comments quote the lines of the scripts.
#include "support/redis_model_call.hpp"
#include "support/redis_model_lua.hpp"

#include "redis/node/scripts.hpp"

namespace holdfast::test {

namespace {

using resp_text::null_argument;
using resp_text::wrong_type;

constexpr std::size_t token_length = 32;
constexpr std::size_t message_length = token_length + redis::reference_length;

// Converts an integer like Lua, whose numbers are floating-point.
std::int64_t lua_number(std::int64_t n)
{
    return static_cast<std::int64_t>(static_cast<double>(n));
}

std::string_view part(std::string_view text, std::size_t from, std::size_t count)
{
    return from < text.size() ? text.substr(from, count) : std::string_view();
}

} // namespace

// Whether a command in a script is refused. Like the server: after a command that writes, nothing
// is refused.
std::string_view redis_model::call::refused_in_script(bool takes_memory)
{
    if (written)
        return {};
    if (const std::string_view why = refused_write(); !why.empty())
        return why;
    if (takes_memory && server.state == trouble::out_of_memory)
        return resp_text::out_of_memory;
    written = true;
    return {};
}

// ZREM. Returns the error if it fails.
std::string_view redis_model::call::leave(std::string_view queue, std::string_view name)
{
    if (const std::string_view why = refused_in_script(false); !why.empty())
        return why;
    const auto found = look_up(queue);
    if (found == none())
        return {};
    if (found->second.is != item::kind::sorted_set)
        return wrong_type;
    remove_members(found, {&name, 1});
    return {};
}

// ZPOPMIN: the first place in the queue; empty if there is none, or if it fails.
std::optional<std::string> redis_model::call::take_first(std::string_view queue)
{
    if (!refused_in_script(false).empty())
        return std::nullopt;
    const auto found = look_up(queue);
    if (found == none() || found->second.is != item::kind::sorted_set)
        return std::nullopt;
    auto& all = found->second.members;
    std::string name = std::move(all.front().second);
    all.erase(all.begin());
    members_changed(found);
    return name;
}

// SET with PX. Returns the error if it fails.
std::string_view redis_model::call::give(
    std::string_view key, std::string_view token, arguments ttl)
{
    if (ttl.empty())
        return null_argument;
    if (const std::string_view why = refused_in_script(true); !why.empty())
        return why;
    const ending e = end_of_set(ttl[0], false, false);
    if (!e.at)
        return e.error;
    assign(key, look_up(key), token, e.at);
    return {};
}

// PUBLISH to the client that has the key now. Returns false if no client receives it.
bool redis_model::call::tell_owner(std::string_view name)
{
    return server.publish(part(name, message_length, name.npos), part(name, 0, message_length)) > 0;
}

void redis_model::call::pass_on(const known_script& s, arguments names, arguments values)
{
    // if ARGV[3]~='' then redis.pcall('zrem',q,ARGV[3]) end
    if (values.size() > 2 && !values[2].empty() && names.size() > 1)
        leave(names[1], values[2]);

    // if redis.pcall('get',k)~=ARGV[1] then return 0 end
    if (names.empty())
        return integer(0);
    const auto found = look_up(names[0]);
    watch(names);
    if (found == none() || found->second.is != item::kind::string || values.empty() ||
        found->second.value != values[0])
        return integer(0);

    // if KEYS[3] then local w=redis.pcall('set',KEYS[3],ARGV[4],'px',ARGV[5],'nx')
    // if w and w.ok then redis.call('del',k) return 3 end end
    if (names.size() > 2 &&
        open_window(names[2], values.subspan(std::min<std::size_t>(3, values.size())))) {
        if (const auto left = look_up(names[0]); left != none())
            remove(left);
        return integer(3);
    }

    for (;;) {
        // local m=redis.pcall('zpopmin',q)[1]
        const auto next = names.size() > 1 ? take_first(names[1]) : std::nullopt;
        // if not m or redis.pcall('set',k,string.sub(m,1,32),'px',ARGV[2]).err
        if (!next ||
            !give(names[0], part(*next, 0, token_length), values.subspan(values.empty() ? 0 : 1))
                 .empty()) {
            // then return redis.call('del',k) end
            if (const std::string_view why = refused_in_script(false); !why.empty())
                return script_error(s, why);
            const auto left = look_up(names[0]);
            const bool there = left != none();
            if (there)
                remove(left);
            return integer(there ? 1 : 0);
        }
        // if type(n)=='number' and n>0 then return 2 end
        if (tell_owner(*next))
            return integer(2);
    }
}

// SET with PX and NX. Returns false if it fails.
bool redis_model::call::open_window(std::string_view key, arguments value_and_ttl)
{
    if (value_and_ttl.size() < 2 || !refused_in_script(true).empty())
        return false;
    const ending e = end_of_set(value_and_ttl[1], false, false);
    if (!e.at || look_up(key) != none())
        return false;
    assign(key, none(), value_and_ttl[0], e.at);
    return true;
}

// How long the window is still open; less than 1 if it is not open.
double redis_model::call::window_left(arguments names)
{
    // local p=tonumber(redis.pcall('get',KEYS[3]))
    if (names.size() < 3)
        return 0;
    const auto found = look_up(names[2]);
    watch(names);
    if (found == none() || found->second.is != item::kind::string)
        return 0;
    const auto behind = lua::to_number(found->second.value);
    // if p and p>=0 then local open=redis.call('pttl',KEYS[3])-p
    if (!behind || !(*behind >= 0))
        return 0;
    const auto& ends = found->second.expires_at;
    const double open = (ends ? static_cast<double>((*ends - wall).count()) : -1) - *behind;
    // if open>=1 and open<=2000
    return open <= 2000 ? open : 0;
}

void redis_model::call::enqueue(const known_script& s, arguments names, arguments values)
{
    // if ARGV[6] and redis.pcall('get',k)==ARGV[1] then
    if (!names.empty() && values.size() > 5) {
        const auto found = look_up(names[0]);
        watch(names);
        if (found != none() && found->second.is == item::kind::string &&
            found->second.value == values[0])
            return stay_owner(s, names, values);
    }
    const auto rest = [](arguments all, std::size_t first) {
        return all.subspan(std::min(first, all.size()));
    };
    if (const std::string_view why = join(names, rest(names, 1), rest(values, 2), rest(values, 4));
        !why.empty())
        return script_error(s, why);

    // local left=redis.call('pttl',k)
    const auto found = look_up(names[0]);
    watch(names);
    // if left~=-2 then return left==0 and 1 or left end
    if (found == none()) {
        const double open = window_left(names);
        return open >= 1 ? integer(lua::to_integer(-1 - open)) : give_to_first(s, names, values);
    }
    if (!found->second.expires_at)
        return integer(-1);
    const std::int64_t left = (*found->second.expires_at - wall).count();
    integer(left == 0 ? 1 : lua_number(left));
}

// redis.call('zrem',q,me) redis.call('pexpire',k,ARGV[4]) return 0 end
void redis_model::call::stay_owner(const known_script& s, arguments names, arguments values)
{
    if (names.size() < 2)
        return script_error(s, null_argument);
    if (const std::string_view why = leave(names[1], values[2]); !why.empty())
        return script_error(s, why);
    const ending e = end_of_expire(values[3], false);
    if (!e.at)
        return script_error(s, e.error);
    end_at(look_up(names[0]), *e.at);
    integer(0);
}

// The script up to the renewal of the queue's ttl. Returns the error if it fails. Each parameter
// holds the arguments from that one on; `watched` are the keys of the script.
std::string_view redis_model::call::join(
    arguments watched, arguments queue, arguments place, arguments ttl)
{
    // local last=redis.call('zrange',q,-1,-1,'withscores')[2]
    if (queue.empty())
        return null_argument;
    auto found = look_up(queue[0]);
    watch(watched);
    if (found != none() && found->second.is != item::kind::sorted_set)
        return wrong_type;
    const double last = found == none() ? 0 : found->second.members.back().first;

    // redis.call('zadd',q,'nx',(last or 0)+1,me)
    if (place.empty())
        return null_argument;
    if (const std::string_view why = refused_in_script(true); !why.empty())
        return why;
    if (found == none())
        found = make_sorted_set(queue[0]);
    if (!has_member(found->second, place[0])) {
        put_member(found->second, last + 1, place[0]);
        members_changed(found);
    }

    // redis.call('pexpire',q,ARGV[5])
    if (ttl.empty())
        return null_argument;
    const ending e = end_of_expire(ttl[0], false);
    if (!e.at)
        return e.error;
    end_at(found, *e.at);
    return {};
}

// return redis.call('pexpire',KEYS[1],ARGV[2]): 0 if it has ended at once
void redis_model::call::only_join(const known_script& s, arguments names, arguments values)
{
    const std::string_view why =
        join(names, names, values, values.subspan(std::min<std::size_t>(1, values.size())));
    if (!why.empty())
        return script_error(s, why);
    integer(1);
}

void redis_model::call::give_to_first(const known_script& s, arguments names, arguments values)
{
    for (;;) {
        // local m=redis.call('zpopmin',q)[1]
        const auto first = take_first(names[1]);
        // if m==me then redis.call('set',k,ARGV[1],'px',ARGV[4]) return 0 end
        if (first == values[2]) {
            const std::string_view why = give(names[0], values[0], values.subspan(3));
            return why.empty() ? integer(0) : script_error(s, why);
        }
        // redis.call('set',k,string.sub(m,1,32),'px',ARGV[2])
        if (!first) // the queue has ended already
            return script_error(
                s, "ERR user_script:1: bad argument #1 to 'sub' (string expected, got nil)");
        if (const std::string_view why =
                give(names[0], part(*first, 0, token_length), values.subspan(1));
            !why.empty())
            return script_error(s, why);
        // if type(n)=='number' and n>0 then return tonumber(ARGV[2]) end
        if (tell_owner(*first))
            return integer(lua_number(*integer_of(values[1])));
    }
}

} // namespace holdfast::test
