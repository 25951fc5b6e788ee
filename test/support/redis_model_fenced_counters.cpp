// The scripts that write counters back, as the model of a Redis server executes them. The comments
// quote the lines of the scripts.
#include "support/redis_model_fenced.hpp"

#include <vector>

namespace holdfast::test {

using namespace lua;

void redis_model::call::fenced::raise()
{
    now = static_cast<double>(c.wall.count());
    // if redis.pcall('get',KEYS[1])==ARGV[1] and redis.pcall('get',KEYS[2])==ARGV[2] then
    const auto holds = [this](std::size_t i) {
        return key(i) && value(i) && get(*key(i)) == value(i);
    };
    if (!holds(1) || !holds(2))
        return c.integer(0);
    // local t=redis.call('time')
    // if not (ARGV[3]-(t[1]*1000+math.floor(t[2]/1000)+ARGV[5]+1)*1024<0) then return -1 end
    const double reach = *number_of(5);
    if (!(*number_of(3) - most(reach) < 0))
        return c.integer(-1);
    // if ARGV[4]=='0' then redis.call('set',KEYS[2],ARGV[3]) else
    // redis.call('set',KEYS[2],ARGV[3],'px',ARGV[4]) end
    keep(key(2), value(3), value(4));
    c.integer(1);
}

void redis_model::call::fenced::renew()
{
    // local r,keep,t={},ARGV[1],redis.call('time')
    // local most=(t[1]*1000+math.floor(t[2]/1000)+ARGV[2]+1)*1024
    now = static_cast<double>(c.wall.count());
    const double too_far = most(*number_of(2));
    std::vector<std::int64_t> r;
    const word lifetime = value(1);
    // for i=1,#KEYS/2 do
    for (std::size_t i = 1; i <= names.size() / 2; ++i) {
        const word l = key(2 * i - 1), counter = key(2 * i), me = value(3 * i),
                   ttl = value(3 * i + 1), last = value(3 * i + 2);
        // if redis.pcall('get',l)==me then
        const auto holder = get(*l);
        if (!holder || holder != me) {
            r.push_back(0);
            continue;
        }
        // r[i]=redis.call('pexpire',l,ttl)
        pexpire(l, ttl);
        r.push_back(1);
        // local stored=redis.pcall('get',c)
        const auto stored = get(*counter);
        bool behind = !stored && c.look_up(*counter) == c.none();
        const lua_number wanted = last ? to_number(*last) : std::nullopt;
        // or (type(stored)=='string' and (tonumber(stored) or 0)<tonumber(last))
        if (stored) {
            if (!wanted)
                stop("ERR user_script:1: attempt to compare number with nil");
            behind = to_number(*stored).value_or(0) < *wanted;
        }
        if (!behind) {
            // elseif keep~='0' then redis.call('pexpire',c,keep)
            if (lifetime != "0")
                pexpire(counter, lifetime);
            continue;
        }
        // if not (tonumber(last)<most) then
        if (!wanted)
            stop("ERR user_script:1: attempt to compare nil with number");
        if (!(*wanted < too_far))
            continue;
        // elseif keep=='0' then redis.pcall('set',c,last)
        // else redis.pcall('set',c,last,'px',keep) end
        try {
            keep(counter, last, lifetime);
        } catch (const failure&) {
        }
    }
    c.array(r.size());
    for (const std::int64_t each : r)
        c.integer(each);
}

} // namespace holdfast::test
