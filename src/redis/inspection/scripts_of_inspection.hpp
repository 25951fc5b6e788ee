#pragma once

#include <cstddef>
#include <string_view>

namespace holdfast::redis {

// The scripts for people. They are sent as text: they are rare, so no connection loads them. Their
// replies stay within the limits of resp::reader, whatever the data is.

// The most waiters that are shown, and the longest value that can be a lock. The reply then has
// about a thousand values.
inline constexpr std::size_t most_waiters = 1'000;
inline constexpr std::size_t longest_value = 512;

// KEYS[1]: the lock; KEYS[2]: its queue; KEYS[3], in fenced mode: the registers. ARGV[1]: the
// index of the last waiter that is wanted; ARGV[2]: the longest value of a lock; ARGV[3], in fenced
// mode: the lock's register. Returns 0: no key; 1: a
// value; 2: other data; then the value, its ttl as PTTL has it, the largest ballot or an empty
// string, the
// length of the queue, and the owner tokens of those in it. What the user may not read of the queue
// is left out.
inline constexpr std::string_view view_script =
    "local l,q,c=KEYS[1],KEYS[2],KEYS[3] "
    "local v,is=redis.pcall('get',l),1 "
    "if not v then v,is='',0 "
    "elseif type(v)=='table' then "
    "if string.sub(v.err,1,9)~='WRONGTYPE' then return v end v,is='',2 "
    "elseif #v>tonumber(ARGV[2]) then v,is='',2 end "
    "local r={is,v,redis.call('pttl',l),'',0} "
    "if c then local f=redis.pcall('zscore',c,ARGV[3]) "
    "if type(f)=='string' then r[4]=string.format('%.0f',tonumber(f) or 0) end end "
    "local e=redis.pcall('zrange',q,0,ARGV[1]) "
    "if not e.err then "
    "local n=redis.pcall('zcard',q) "
    "r[5]=type(n)=='number' and n or #e "
    "for i=1,#e do r[5+i]=string.sub(e[i],1,32) end end "
    "return r";

// ARGV[1]: a cursor; ARGV[2]: a pattern; ARGV[3]: the length of a value that is wanted, or 0 for
// all; ARGV[4]: the longest name. Wanted are also values of twice this length with the terms of a
// baton behind it (see baton.hpp). Scans about a thousand keys at most, fewer if it finds some.
// A value that is longer than a lock's is cut off after `longest_listed_value` bytes.
// Returns the next cursor; how many keys were found and left out, because there were too many; then
// for each key its name, and its ttl and its value, separated by a space. Keys that the user may
// not read, and keys of other types, are skipped.
inline constexpr std::size_t longest_listed_value = 96;
inline constexpr std::string_view scan_script =
    "local c,r,n=ARGV[1],{'',0},0 "
    "local want,long=tonumber(ARGV[3]),tonumber(ARGV[4]) "
    "for i=1,10 do "
    "local s=redis.call('scan',c,'match',ARGV[2],'count',100) "
    "c=s[1] "
    "for _,k in ipairs(s[2]) do if #k<=long then "
    "local v=redis.pcall('getrange',k,0,95) "
    "if type(v)=='string' then "
    "if want==0 or #v==want or #v<96 and string.find(v,'^ %d[%d ]*$',2*want+1) then "
    "if n<400 then n=n+1 r[#r+1]=k r[#r+1]=redis.call('pttl',k)..' '..v "
    "else r[2]=r[2]+1 end end "
    "elseif not string.find(v.err,' key',1,true) then return v end "
    "end end "
    "if c=='0' or n>=100 then break end end "
    "r[1]=c return r";

// KEYS: client records. Returns each, or an empty string.
inline constexpr std::size_t most_records = 64;
inline constexpr std::string_view clients_script =
    "local r={} for i,k in ipairs(KEYS) do local v=redis.pcall('get',k) "
    "r[i]=type(v)=='string' and string.sub(v,1,1024) or '' end return r";

// After an owner token: what the message says that tells its holder that the lock is taken away.
inline constexpr std::string_view taken_away = " is taken away";

} // namespace holdfast::redis
