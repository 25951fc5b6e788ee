#pragma once

#include "redis/node/scripts.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::redis {

// Fenced mode at a node. The key of a lock is `hf:l:` and the resource, its queue `hf:q:`; `hf:n`
// is the record of the node, and `hf:f` its registers. The prefixes are fixed, so no resource can
// be named like a key of another one. The locks and queues use the scripts of plain mode.
//
// The registers are a sorted set. A member is the number of a register, and its score the largest
// ballot that the register has accepted; see ballot_round.hpp. The resources share them by a hash
// of their names. Ballots are sent with `ZADD hf:f XX GT CH <ballot> <register>`: 1 if it is
// accepted. Without registers each ballot is refused, as after FLUSHALL. Needs Redis 6.2.
//
// A node that has lost its registers begins beyond all that it may have forgotten: at its clock
// plus a quarantine. No client sends a ballot that is further ahead of the clock of the nodes than
// `ahead`. So such a node accepts no ballot until each lease that it may have forgotten has ended.

// A ballot is a number of eighths of a millisecond since the epoch.
inline constexpr std::int64_t ballots_in_ms = 8;
inline constexpr std::size_t registers = 16'384;

inline constexpr std::string_view record_key = "hf:n"; // of a node
inline constexpr std::string_view registers_key = "hf:f";

// What a node answers to `open_script`: two integers. The first is for how many more ms it is in
// quarantine, or one of these values. The second is its clock in ms.
namespace open_status {
inline constexpr std::int64_t disagreed = -3; // other clients use other settings
inline constexpr std::int64_t conflict = -4;  // the record holds other data
} // namespace open_status

// The first request of each connection. Makes the registers of a node that has none, and finds out
// whether the node may have forgotten something: it has no record or not all registers, or it was
// restarted. Registers are never set back.
// KEYS: the node's record; its registers. ARGV[1]: what all clients must agree on: the quarantine
// and `ahead` in ms and the number of registers, separated by spaces; ARGV[2]: the node's run_id;
// ARGV[3]: the quarantine in ms, with twice `ahead`; ARGV[4]: the client's estimate of the time, in
// ms since the epoch: the quarantine of a node whose clock is behind begins then; ARGV[5]: `first`
// if a node without a record is new, not wiped; `kept` if a node with a record and registers
// remembers everything; or empty.
inline constexpr script open_script{
    "local n,f=KEYS[1],KEYS[2] "
    "local t=redis.call('time') "
    "local now=t[1]*1000+math.floor(t[2]/1000) "
    "local r=redis.call('get',n) "
    "local count=redis.call('zcard',f) "
    "local agreed,who,from=string.match(r or '','^(%d+ %d+ %d+) (%S+) (%d+)$') "
    "if r and not agreed then return {-4,now} end "
    "if agreed and agreed~=ARGV[1] then return {-3,now} end "
    "local whole=agreed and count==16384 "
    "if not whole or who~=ARGV[2] then "
    "if whole and ARGV[5]=='kept' then from=tonumber(from) "
    "elseif not r and count==0 and ARGV[5]=='first' then from=now "
    "else from=math.max(now,tonumber(ARGV[4]))+ARGV[3] end "
    "if not (whole and ARGV[5]=='kept') then "
    "local least,a=string.format('%.0f',from*8),{} "
    "for b=0,16383 do "
    "a[#a+1]=least a[#a+1]=b "
    "if #a==4096 then redis.call('zadd',f,'gt',unpack(a)) a={} end "
    "end "
    "end "
    "redis.call('set',n,ARGV[1]..' '..ARGV[2]..' '..string.format('%.0f',from)) "
    "end "
    "return {math.max(0,from-now),now}",
    "59795216db4517aff329cfeedccf2c9306024557"};

} // namespace holdfast::redis
