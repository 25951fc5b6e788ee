#pragma once

#include "redlock/scripts.hpp"

#include <cstdint>
#include <string_view>

namespace holdfast::redis {

// The scripts of fenced mode. The key of a lock is `hf:l:` and the resource, its counter `hf:f:`,
// its queue `hf:q:`; `hf:n` is the record of the node. Fixed prefixes, so no resource can be named
// like the key of another one. Releasing and passing on are the same scripts as in plain mode.
//
// Source: "fenced Redlock" (see fence_round.hpp): whoever grants advances its counter in the same
// step; a restarted node grants nothing until every lease that it may have forgotten has ended.

// Tokens are milliseconds since the epoch times this, and the place in the block that a grant
// reserves. They stay below 2^53, which Lua's numbers hold exactly.
inline constexpr std::uint64_t tokens_in_block = 1024;

inline constexpr std::string_view record_key = "hf:n"; // of a node

// What a node answers to the acquire script: three integers, of which the first is the first token
// of the block that it has reserved for us, or one of these; the third is the node's clock in ms.
namespace fenced_status {
inline constexpr std::int64_t held = 0; // the second: for so many more ms; -1 without an end, -2 no
inline constexpr std::int64_t quarantined = -1; // the second: for so many more ms
inline constexpr std::int64_t bad_counter = -2; // no number, or at the end of all tokens
inline constexpr std::int64_t disagreed = -3;   // other clients keep to other settings
inline constexpr std::int64_t conflict = -4;    // a key of ours holds data of another kind
} // namespace fenced_status

// KEYS: the lock; its counter; the node's record; its queue.
// ARGV[1]: what is wanted:
//   `ask`      the lock, if it is free
//   `confirm`  the lock, if it was handed over to us
//   `enqueue`  the lock, if it is free and our turn; otherwise a place in the queue
//   `again`    as `enqueue`, where we stand there already and the lock may be ours by now
// ARGV[2]: our token; ARGV[3]: ttl in ms; ARGV[4]: the least token wanted, in ms since the epoch;
// ARGV[5]: what all clients must agree on, which are the next three, with a space between them;
// ARGV[6]: the quarantine in ms: longer than any ttl; ARGV[7]: how many ms before its own clock a
// node grants at most, whatever is wanted; ARGV[8]: how long a counter is kept, in ms; 0: for ever;
// ARGV[9]: the node's run_id; ARGV[10]: `first` if a node without a record is new, not wiped,
// `kept` if a node with a record remembers everything, or nothing; ARGV[11]: our place in the
// queue; ARGV[12]: ttl of the queue in ms; ARGV[13]: ttl of a hand-over in ms.
// Nothing is written before all is checked, and the counter before the lock.
inline constexpr script fenced_acquire_script{
    "local l,c,n,q=KEYS[1],KEYS[2],KEYS[3],KEYS[4] "
    "local mode,me,ttl,agreed,keep=ARGV[1],ARGV[2],ARGV[3],ARGV[5],ARGV[8] "
    "local t=redis.call('time') "
    "local now=t[1]*1000+math.floor(t[2]/1000) "
    "local m=redis.call('mget',n,l,c) "
    "local record,from=agreed..' '..ARGV[9]..' ',nil "
    "if m[1] and string.sub(m[1],1,#record)==record then "
    "from=tonumber(string.sub(m[1],#record+1)) "
    "else "
    "local others,before=string.match(m[1] or '','^(%d+ %d+ %d+) %S+ (%d+)$') "
    "if not others and redis.call('exists',n)==1 then return {-4,0,now} end "
    "if others and others~=agreed then return {-3,0,now} end "
    "if others and ARGV[10]=='kept' then from=tonumber(before) "
    "elseif not others and ARGV[10]=='first' then from=now "
    "else from=now+ARGV[6] end "
    "redis.call('set',n,record..string.format('%.0f',from)) "
    "end "
    "if not from then return {-4,0,now} end "
    "if now<from then return {-1,from-now,now} end "
    "local mine,place,grants=m[2]==me,ARGV[11],false "
    "if mode=='ask' then grants=not m[2] "
    "elseif mode=='confirm' then grants=mine "
    "elseif mode=='again' and mine then "
    "redis.call('zrem',q,place) "
    "grants=true "
    "else "
    "local last=redis.call('zrange',q,-1,-1,'withscores')[2] "
    "redis.call('zadd',q,'nx',(last or 0)+1,place) "
    "redis.call('pexpire',q,ARGV[12]) "
    "while not grants and redis.call('exists',l)==0 do "
    "local first=redis.call('zpopmin',q)[1] "
    "grants=first==place "
    "if not grants then "
    "redis.call('set',l,string.sub(first,1,32),'px',ARGV[13]) "
    "local heard=redis.pcall('publish',string.sub(first,49),string.sub(first,1,48)) "
    "if type(heard)~='number' or heard==0 then redis.call('del',l) end "
    "end "
    "end "
    "end "
    "if not grants then "
    "local left=redis.call('pttl',l) "
    "return {0,left==0 and 1 or left,now} "
    "end "
    "local last=m[3] and tonumber(m[3]) "
    "if not last and redis.call('exists',c)==1 then return {-2,0,now} end "
    "local start=math.max(last and last+1 or "
    "now*1024,math.min(ARGV[4],now+ARGV[7])*1024,from*1024) "
    "if not (start<9007199253692416) then return {-2,0,now} end "
    "local counter=string.format('%.0f',start+1023) "
    "if keep=='0' then redis.call('set',c,counter) else redis.call('set',c,counter,'px',keep) end "
    "if mode~='ask' then redis.call('set',l,me,'px',ttl) "
    "elseif not redis.call('set',l,me,'px',ttl,'nx') then return {-4,0,now} end "
    "return {start,0,now}",
    "7c6cf00d6fa37ab55591f204bdfbda90c370ec2b"};

// KEYS: the lock; its counter. ARGV: our token; the counter as our grant has left it; the end of
// the block that we want; how long a counter is kept. 1: stored; 0: it is not our grant any more.
inline constexpr script raise_script{
    "if redis.pcall('get',KEYS[1])==ARGV[1] and redis.pcall('get',KEYS[2])==ARGV[2] then "
    "if ARGV[4]=='0' then redis.call('set',KEYS[2],ARGV[3]) else "
    "redis.call('set',KEYS[2],ARGV[3],'px',ARGV[4]) end "
    "return 1 end return 0",
    "6570b8679d199a5ee8c1a8d983fd46b16851e602"};

// KEYS: a lock and its counter for each. ARGV[1]: how long a counter is kept; then for each: our
// token, a ttl in ms, the end of our block. For each 1: it is ours, has a new ttl and a counter
// that is not behind; 0: it is not ours. Never makes a lock.
inline constexpr script fenced_renew_script{
    "local r,keep={},ARGV[1] "
    "for i=1,#KEYS/2 do "
    "local l,c,me,ttl,last=KEYS[2*i-1],KEYS[2*i],ARGV[3*i-1],ARGV[3*i],ARGV[3*i+1] "
    "if redis.pcall('get',l)==me then "
    "r[i]=redis.call('pexpire',l,ttl) "
    "local stored=redis.pcall('get',c) "
    "if not stored or (type(stored)=='string' and (tonumber(stored) or 0)<tonumber(last)) then "
    "if keep=='0' then redis.pcall('set',c,last) else redis.pcall('set',c,last,'px',keep) end "
    "elseif keep~='0' then redis.call('pexpire',c,keep) end "
    "else r[i]=0 end "
    "end "
    "return r",
    "cee2e04d4c5c2e279b71a189881fbae9d5b7f0b5"};

} // namespace holdfast::redis
