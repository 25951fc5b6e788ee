// The scripts of fenced mode, as the model of a Redis server executes them. The comments quote the
// lines of the scripts.
#include "support/redis_model_fenced.hpp"

#include "redis/node/fence_scripts.hpp"

#include <algorithm>
#include <cmath>

namespace holdfast::test {

namespace fenced_status = redis::fenced_status;
using namespace lua;

// Empty if the value is not a string.
std::optional<std::string> redis_model::call::fenced::read(std::string_view name) const
{
    const auto found = c.look_up(name);
    if (found == c.none() || found->second.is != item::kind::string)
        return std::nullopt;
    return found->second.value;
}

std::optional<std::string> redis_model::call::fenced::get(std::string_view name) const
{
    const auto value = read(name);
    look();
    return value;
}

bool redis_model::call::fenced::exists(word name) const
{
    const bool there = c.look_up(sent(name)) != c.none();
    look();
    return there;
}

std::int64_t redis_model::call::fenced::pttl(word name) const
{
    const auto found = c.look_up(sent(name));
    look();
    if (found == c.none())
        return -2;
    if (!found->second.expires_at)
        return -1;
    return (*found->second.expires_at - c.wall).count();
}

// SET with PX, and with NX. Returns false if the key exists already.
bool redis_model::call::fenced::set(word name, word what, word ttl, bool only_new) const
{
    sent(name), sent(what), sent(ttl);
    if (const std::string_view why = c.refused_in_script(true); !why.empty())
        stop(why);
    const ending e = c.end_of_set(*ttl, false, false);
    if (!e.at)
        stop(e.error);
    const auto found = c.look_up(*name);
    if (only_new && found != c.none())
        return false;
    c.assign(*name, found, *what, e.at);
    return true;
}

// SET, without a ttl if the lifetime is `0`.
void redis_model::call::fenced::keep(word name, word what, word lifetime) const
{
    if (lifetime != "0") {
        set(name, what, lifetime);
        return;
    }
    sent(name), sent(what);
    if (const std::string_view why = c.refused_in_script(true); !why.empty())
        stop(why);
    c.assign(*name, c.look_up(*name), *what, {});
}

void redis_model::call::fenced::pexpire(word name, word ttl) const
{
    sent(name), sent(ttl);
    if (const std::string_view why = c.refused_in_script(false); !why.empty())
        stop(why);
    const ending e = c.end_of_expire(*ttl, false);
    if (!e.at)
        stop(e.error);
    if (const auto found = c.look_up(*name); found != c.none())
        c.end_at(found, *e.at);
}

// return {first,second,now}
void redis_model::call::fenced::answer(double first, double second) const
{
    c.array(3);
    c.integer(to_integer(first));
    c.integer(to_integer(second));
    c.integer(to_integer(now));
}

// The value of an argument that is used in arithmetic.
lua_number redis_model::call::fenced::number_of(std::size_t i) const
{
    if (!value(i))
        stop("ERR user_script:1: attempt to perform arithmetic on field '?' (a nil value)");
    const lua_number n = to_number(*value(i));
    if (!n)
        stop("ERR user_script:1: attempt to perform arithmetic on field '?' (a string value)");
    return n;
}

// The first token that is too far ahead: (now+reach+1)*1024
double redis_model::call::fenced::most(double reach) const
{
    return (now + reach + 1) * redis::tokens_in_ms;
}

// The script up to the end of the record: the time from which the node grants. If there is none,
// either the record has no valid time, or the reply has been written.
lua_number redis_model::call::fenced::grants_from(const std::optional<std::string>& stored)
{
    // local record,from=agreed..' '..ARGV[10]..' ',nil
    if (!value(10))
        stop("ERR user_script:1: attempt to concatenate field '?' (a nil value)");
    const std::string ours = std::string(*value(6)) + ' ' + std::string(*value(10)) + ' ';
    // if m[1] and string.sub(m[1],1,#record)==record then
    // from=tonumber(string.sub(m[1],#record+1))
    if (stored && stored->starts_with(ours)) {
        const lua_number from = to_number(std::string_view(*stored).substr(ours.size()));
        if (!from) // if not from then return {-4,0,now} end
            answer(fenced_status::conflict, 0);
        return from;
    }

    // local others,before=string.match(m[1] or '','^(%d+ %d+ %d+) %S+ (%d+)$')
    const auto others = record_in(stored ? *stored : std::string_view());
    // if not others and redis.call('exists',n)==1 then return {-4,0,now} end
    if (!others && exists(key(3))) {
        answer(fenced_status::conflict, 0);
        return std::nullopt;
    }
    // if others and others~=agreed then return {-3,0,now} end
    if (others && others->agreed != *value(6)) {
        answer(fenced_status::disagreed, 0);
        return std::nullopt;
    }
    // if others and ARGV[11]=='kept' then from=tonumber(before)
    // elseif not others and ARGV[11]=='first' then from=now
    // else from=now+ARGV[7] end
    const double from = others && value(11) == "kept"     ? *to_number(others->from)
                        : !others && value(11) == "first" ? now
                                                          : now + *number_of(7);
    // redis.call('set',n,record..string.format('%.0f',from))
    keep(key(3), ours + in_digits(from), "0");
    return from;
}

// Waits in the queue. Returns whether the lock is granted to the caller. `held`: by any client,
// before.
bool redis_model::call::fenced::wait(bool held) const
{
    // local behind=redis.call('zrange',q,-1,-1,'withscores')[2]
    // redis.call('zadd',q,'nx',(behind or 0)+1,place)
    // redis.call('pexpire',q,ARGV[13])
    if (const std::string_view why =
            c.join(names, from(names, 4), from(values, 12), from(values, 13));
        !why.empty())
        stop(why);
    // while not (grants or m[2]) and redis.call('exists',l)==0 do
    while (!held && !exists(key(1))) {
        // local first=redis.call('zpopmin',q)[1]
        const auto first = c.take_first(*key(4));
        // grants=first==place
        if (first == value(12))
            return true;
        // redis.call('set',l,string.sub(first,1,32),'px',ARGV[14])
        if (!first) // the queue has ended already
            stop("ERR user_script:1: bad argument #1 to 'sub' (string expected, got nil)");
        set(key(1), std::string_view(*first).substr(0, 32), value(14));
        // local heard=redis.pcall('publish',string.sub(first,49),string.sub(first,1,48))
        // if type(heard)~='number' or heard==0 then redis.call('del',l) end
        if (!c.tell_owner(*first)) {
            if (const auto found = c.look_up(*key(1)); found != c.none())
                c.remove(found);
        }
    }
    return false;
}

// local start=math.max(last and last+1 or
// now*1024,math.min(ARGV[4],(now+ARGV[8])*1024),from*1024)
double redis_model::call::fenced::start(lua_number last, double from) const
{
    constexpr double ms = redis::tokens_in_ms;
    const double latest = (now + *number_of(8)) * ms;
    const lua_number wanted = to_number(*value(4));
    if (!wanted)
        stop("ERR user_script:1: bad argument #1 to 'min' (number expected, got string)");
    double start = last ? *last + 1 : now * ms;
    for (const double each : {latest < *wanted ? latest : *wanted, from * ms}) {
        if (each > start)
            start = each;
    }
    return start;
}

// Writes the reply if there can be no grant with the first token `first`.
bool redis_model::call::fenced::has_no_tokens(const std::optional<std::string>& holder,
    const std::optional<std::string>& highest, double first)
{
    // local over=start+ARGV[5]-(now+math.floor(ARGV[7]/2)+1)*1024
    const double over = first + *number_of(5) - most(std::floor(*number_of(7) / 2));
    const word mode = value(1);
    const bool mine = holder && holder == value(2);
    // if mine and (mode=='confirm' or mode=='again') or not m[2] and mode~='confirm' then
    const bool may_grant =
        (mine && (mode == "confirm" || mode == "again")) || (!holder && mode != "confirm");
    if (!may_grant)
        return false;
    // if not last and redis.call('exists',c)==1 then return {-2,0,now} end
    // if not (start<9007199253692416) then return {-2,0,now} end
    const bool is_number = highest && to_number(*highest).has_value();
    if ((!is_number && exists(key(2))) || !(first < 9007199253692416)) {
        answer(fenced_status::bad_counter, 0);
        return true;
    }
    // if ARGV[4]+0>0 and (now-math.floor(ARGV[7]/2))*1024>ARGV[4]+0 then return {-6,0,now} end
    const double wanted = *number_of(4);
    if (wanted > 0 && (now - std::floor(*number_of(7) / 2)) * redis::tokens_in_ms > wanted) {
        answer(fenced_status::fast, 0);
        return true;
    }
    // if not (over<=0) then return {-5,math.ceil(over/1024),now} end
    const bool too_far = !(over <= 0);
    if (too_far)
        answer(fenced_status::ahead, std::ceil(over / redis::tokens_in_ms));
    return too_far;
}

void redis_model::call::fenced::acquire()
{
    // local t=redis.call('time')
    // local now=t[1]*1000+math.floor(t[2]/1000)
    now = static_cast<double>(c.wall.count());
    // local m=redis.call('mget',n,l,c)
    const std::string_view record = sent(key(3)), lock = *key(1), counter = *key(2);
    const auto stored = read(record), holder = read(lock), highest = read(counter);
    look();

    const std::size_t replied = c.out.size();
    const lua_number from = grants_from(stored);
    if (c.out.size() != replied)
        return;
    // if now<from then return {-1,from-now,now} end
    if (now < *from)
        return answer(fenced_status::quarantined, *from - now);

    const word mode = value(1), me = value(2);
    // local mine,place,grants=m[2]==me,ARGV[12],false
    const bool mine = holder == me;
    // local last=m[3] and tonumber(m[3])
    const double first = start(highest ? to_number(*highest) : std::nullopt, *from);
    if (has_no_tokens(holder, highest, first))
        return;
    bool grants = false;
    if (mode == "ask") {
        grants = !holder;
    } else if (mode == "confirm") {
        grants = mine;
    } else if (mode == "again" && mine) {
        // redis.call('zrem',q,place)
        if (const std::string_view why = c.leave(sent(key(4)), sent(value(12))); !why.empty())
            stop(why);
        grants = true;
    } else {
        grants = wait(holder.has_value());
    }
    if (!grants) {
        // local left=redis.call('pttl',l)
        // return {0,left==0 and 1 or left,now}
        const std::int64_t left = pttl(lock);
        return answer(fenced_status::held, left == 0 ? 1 : static_cast<double>(left));
    }

    // local counter=string.format('%.0f',start+ARGV[5]-1)
    // if keep=='0' then redis.call('set',c,counter) else redis.call('set',c,counter,'px',keep) end
    keep(counter, in_digits(first + *number_of(5) - 1), value(9));
    // if mode~='ask' then redis.call('set',l,me,'px',ttl)
    // elseif not redis.call('set',l,me,'px',ttl,'nx') then return {-4,0,now} end
    if (!set(lock, me, value(3), mode == "ask"))
        return answer(fenced_status::conflict, 0);
    answer(first, 0);
}

void redis_model::call::run_fenced(
    const known_script& s, arguments names, arguments values, fenced_script which)
{
    fenced script{*this, names, values};
    try {
        switch (which) {
        case fenced_script::acquire:
            return script.acquire();
        case fenced_script::raise:
            return script.raise();
        case fenced_script::renew:
            return script.renew();
        }
    } catch (const failure& f) {
        script_error(s, f.why);
    }
}

} // namespace holdfast::test
