#pragma once

#include "redis/node/scripts.hpp"

#include <cstdint>
#include <string_view>

namespace holdfast::redis {

// The scripts of fenced mode. The key of a lock is `hf:l:` and the resource, its counter `hf:f:`,
// its queue `hf:q:`; `hf:n` is the record of the node. The prefixes are fixed, so no resource can
// be named like a key of another one. Release and hand-off use the same scripts as plain mode.
//
// Source: "fenced Redlock" (see token_round.hpp): a node that grants advances its counter in the
// same step; a restarted node grants nothing until every lease that it may have forgotten has
// ended.
//
// A node that has lost its counters begins at its clock plus a quarantine. That must be beyond all
// tokens that it has stored before. So a node stores no token that is further ahead of its clock
// than half a quarantine: it does not grant such a token, does not accept it in a write-back, and a
// renewal does not repair a counter to it.

// A token is a number of milliseconds since the epoch times this, plus a position in the
// millisecond. Tokens stay below 2^53, which numbers in Lua hold exactly.
inline constexpr std::uint64_t tokens_in_ms = 1024;
// The most tokens that one grant reserves: for the client that asks, and for the next waiters in
// the same process.
inline constexpr std::uint64_t largest_block = 1024;

inline constexpr std::string_view record_key = "hf:n"; // of a node

// What a node answers to the acquire script: three integers. The first is the first token of the
// block that it has reserved for us, or one of the values below. The third is the node's clock in
// ms.
namespace fenced_status {
inline constexpr std::int64_t held = 0; // the second: for so many more ms; -1 without an end, -2 no
inline constexpr std::int64_t quarantined = -1; // the second: for so many more ms
inline constexpr std::int64_t bad_counter = -2; // not a number, or at the largest token
inline constexpr std::int64_t disagreed = -3;   // other clients use other settings
inline constexpr std::int64_t conflict = -4;    // a key of ours holds other data
inline constexpr std::int64_t ahead = -5; // its counter, of its clock; the second: for so many ms
inline constexpr std::int64_t fast = -6;  // its clock is far beyond the wanted token
} // namespace fenced_status

// KEYS: the lock; its counter; the node's record; its queue.
// ARGV[1]: what is wanted:
//   `ask`      the lock, if it is free
//   `confirm`  the lock, if it was handed off to us
//   `enqueue`  the lock, if it is free and our turn; otherwise a place in the queue
//   `again`    as `enqueue`, if we are in the queue already and the lock may be ours by now
// ARGV[2]: our token; ARGV[3]: ttl in ms; ARGV[4]: the least fencing token wanted; ARGV[5]: how
// many tokens to reserve; ARGV[6]: what all clients must agree on: the next three arguments,
// separated by spaces; ARGV[7]: the quarantine in ms, longer than any ttl; ARGV[8]: by how many ms
// at most a block may begin ahead of the node's own clock to reach the wanted token; ARGV[9]: how
// long a counter is kept, in ms; 0: for ever; ARGV[10]: the node's run_id; ARGV[11]: `first` if a
// node without a record is new, not wiped; `kept` if a node with a record remembers everything; or
// empty; ARGV[12]: our place in the queue; ARGV[13]: ttl of the queue in ms; ARGV[14]: ttl of a
// hand-off in ms.
// Nothing is written before everything is checked. The counter is written before the lock.
inline constexpr script fenced_acquire_script{
    "local l,c,n,q=KEYS[1],KEYS[2],KEYS[3],KEYS[4] "
    "local mode,me,ttl,agreed,keep=ARGV[1],ARGV[2],ARGV[3],ARGV[6],ARGV[9] "
    "local t=redis.call('time') "
    "local now=t[1]*1000+math.floor(t[2]/1000) "
    "local m=redis.call('mget',n,l,c) "
    "local record,from=agreed..' '..ARGV[10]..' ',nil "
    "if m[1] and string.sub(m[1],1,#record)==record then "
    "from=tonumber(string.sub(m[1],#record+1)) "
    "else "
    "local others,before=string.match(m[1] or '','^(%d+ %d+ %d+) %S+ (%d+)$') "
    "if not others and redis.call('exists',n)==1 then return {-4,0,now} end "
    "if others and others~=agreed then return {-3,0,now} end "
    "if others and ARGV[11]=='kept' then from=tonumber(before) "
    "elseif not others and ARGV[11]=='first' then from=now "
    "else from=now+ARGV[7] end "
    "redis.call('set',n,record..string.format('%.0f',from)) "
    "end "
    "if not from then return {-4,0,now} end "
    "if now<from then return {-1,from-now,now} end "
    "local mine,place,grants=m[2]==me,ARGV[12],false "
    "local last=m[3] and tonumber(m[3]) "
    "local start=math.max(last and last+1 or "
    "now*1024,math.min(ARGV[4],(now+ARGV[8])*1024),from*1024) "
    "local over=start+ARGV[5]-(now+math.floor(ARGV[7]/2)+1)*1024 "
    "if mine and (mode=='confirm' or mode=='again') or not m[2] and mode~='confirm' then "
    "if not last and redis.call('exists',c)==1 then return {-2,0,now} end "
    "if not (start<9007199253692416) then return {-2,0,now} end "
    "if ARGV[4]+0>0 and (now-math.floor(ARGV[7]/2))*1024>ARGV[4]+0 then return {-6,0,now} end "
    "if not (over<=0) then return {-5,math.ceil(over/1024),now} end "
    "end "
    "if mode=='ask' then grants=not m[2] "
    "elseif mode=='confirm' then grants=mine "
    "elseif mode=='again' and mine then "
    "redis.call('zrem',q,place) "
    "grants=true "
    "else "
    "local behind=redis.call('zrange',q,-1,-1,'withscores')[2] "
    "redis.call('zadd',q,'nx',(behind or 0)+1,place) "
    "redis.call('pexpire',q,ARGV[13]) "
    "while not (grants or m[2]) and redis.call('exists',l)==0 do "
    "local first=redis.call('zpopmin',q)[1] "
    "grants=first==place "
    "if not grants then "
    "redis.call('set',l,string.sub(first,1,32),'px',ARGV[14]) "
    "local heard=redis.pcall('publish',string.sub(first,49),string.sub(first,1,48)) "
    "if type(heard)~='number' or heard==0 then redis.call('del',l) end "
    "end "
    "end "
    "end "
    "if not grants then "
    "local left=redis.call('pttl',l) "
    "return {0,left==0 and 1 or left,now} "
    "end "
    "local counter=string.format('%.0f',start+ARGV[5]-1) "
    "if keep=='0' then redis.call('set',c,counter) else redis.call('set',c,counter,'px',keep) end "
    "if mode~='ask' then redis.call('set',l,me,'px',ttl) "
    "elseif not redis.call('set',l,me,'px',ttl,'nx') then return {-4,0,now} end "
    "return {start,0,now}",
    "82da885bd67e36f7e8a519191c2c8d098dd07c61"};

// KEYS: the lock; its counter. ARGV: our token; the counter as our grant has left it; the end of
// the block that we want; how long a counter is kept; how many ms ahead of its clock a node stores
// a token. Returns 1: stored; 0: our grant is no longer there; -1: it is too far ahead of the
// node's clock.
inline constexpr script write_back_script{
    "if redis.pcall('get',KEYS[1])==ARGV[1] and redis.pcall('get',KEYS[2])==ARGV[2] then "
    "local t=redis.call('time') "
    "if not (ARGV[3]-(t[1]*1000+math.floor(t[2]/1000)+ARGV[5]+1)*1024<0) then return -1 end "
    "if ARGV[4]=='0' then redis.call('set',KEYS[2],ARGV[3]) else "
    "redis.call('set',KEYS[2],ARGV[3],'px',ARGV[4]) end "
    "return 1 end return 0",
    "e014b4fbd4b536a765d95656d0d8266af9a86047"};

// KEYS: a lock and its counter for each claim. ARGV[1]: how long a counter is kept; ARGV[2]: how
// many ms ahead of its clock a node stores a token; then for each: our token, a ttl in ms, the end
// of our block. Returns for each 1: the lock is ours and has a new ttl, and its counter is not
// behind, unless that would be too far ahead of the clock; 0: it is not ours. Never creates a lock.
inline constexpr script fenced_renew_script{
    "local r,keep,t={},ARGV[1],redis.call('time') "
    "local most=(t[1]*1000+math.floor(t[2]/1000)+ARGV[2]+1)*1024 "
    "for i=1,#KEYS/2 do "
    "local l,c,me,ttl,last=KEYS[2*i-1],KEYS[2*i],ARGV[3*i],ARGV[3*i+1],ARGV[3*i+2] "
    "if redis.pcall('get',l)==me then "
    "r[i]=redis.call('pexpire',l,ttl) "
    "local stored=redis.pcall('get',c) "
    "if not stored or (type(stored)=='string' and (tonumber(stored) or 0)<tonumber(last)) then "
    "if not (tonumber(last)<most) then "
    "elseif keep=='0' then redis.pcall('set',c,last) else redis.pcall('set',c,last,'px',keep) end "
    "elseif keep~='0' then redis.call('pexpire',c,keep) end "
    "else r[i]=0 end "
    "end "
    "return r",
    "d36d25078594eae37b70324a29435daf00eb6ed5"};

} // namespace holdfast::redis
