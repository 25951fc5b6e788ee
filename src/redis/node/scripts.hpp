#pragma once

#include "core/time.hpp"

#include <chrono>
#include <cstddef>
#include <string_view>

namespace holdfast::redis {

// A Lua script and its SHA-1 digest, by which a node knows it. Every connection checks that the two
// match: a node answers SCRIPT LOAD with the digest that it computed.
//
// There is no `#!lua` line: with one, a node that is short of memory refuses even a script that
// only deletes.
struct script {
    std::string_view text;
    std::string_view digest;
};

// KEYS[1]: the key; ARGV[1]: our token. Returns 1: it was ours and is deleted; 0: it is not ours. A
// key of another type is not ours. A key that cannot be read, for lack of permission for example,
// is an error.
inline constexpr script release_script{
    "local v=redis.pcall('get',KEYS[1]) "
    "if v==ARGV[1] then return redis.call('del',KEYS[1]) end "
    "if type(v)=='table' and string.sub(v.err,1,9)~='WRONGTYPE' then return v end "
    "return 0",
    "ef4ad229b814e1e5ae8505839176b78c3db4d778"};

// KEYS: keys; ARGV: a token and a ttl in ms for each. Returns for each key 1: it is ours and has a
// new ttl; 0: it is not ours. Never creates a key. Keys of another type, and keys that cannot be
// read: as above.
inline constexpr script renew_script{
    "local r={} for i=1,#KEYS do local v=redis.pcall('get',KEYS[i]) "
    "if v==ARGV[2*i-1] then r[i]=redis.call('pexpire',KEYS[i],ARGV[2*i]) "
    "elseif type(v)=='table' and string.sub(v.err,1,9)~='WRONGTYPE' then return v "
    "else r[i]=0 end end return r",
    "9d27c4efdf8a72d3dfd41323fbac818de37c8cc3"};

// The queue of the waiters for a key, at its queue node: a sorted set, in order of arrival. An
// entry is the owner token (32 characters), a reference of the client (16 characters), and the
// channel on which the client is told that its turn has come. The message is the token and the
// reference. If no client receives the message, the waiter is gone, and the next one is told.
inline constexpr core::duration queue_ttl =
    std::chrono::seconds(3); // every waiter in it asks again sooner
// How long the queue node keeps its key for the next client, until that client confirms.
inline constexpr core::duration hand_over_ttl = std::chrono::milliseconds(500);
inline constexpr std::size_t reference_length = 16;
inline constexpr std::string_view queue_suffix = ":holdfast:queue"; // of the queue's key

// Clients that poll, instead of using the queue, get the key only by chance, and almost never when
// it is handed off again and again. So it is left to them from time to time: a window is open, and
// the queue waits. The window has a key that says so. That key lasts until the next window may be
// opened. Its value is the part of that time that comes after the window, in ms.
inline constexpr std::string_view window_suffix = ":holdfast:open";       // of the window's key
inline constexpr core::duration longest_window = std::chrono::seconds(2); // < queue_ttl

// KEYS[1]: the key; KEYS[2]: its queue; ARGV[1]: our token; ARGV[2]: ttl of a hand-off in ms;
// ARGV[3]: our own place in the queue, which is given up, or empty; a key with its token is ours,
// too. If a window is due, KEYS[3]: its key; ARGV[4]: its value; ARGV[5]: its ttl in ms. Returns 1:
// the key was ours and is deleted; 2: it was ours and is handed off to the next waiter; 3: it was
// ours, is deleted, and a window is open; 0: it is not ours; a text: a baton for our place, which
// we had not heard of. Whatever state the queue is in, a key of ours does not stay ours.
inline constexpr script pass_on_script{
    "local k,q=KEYS[1],KEYS[2] "
    "if ARGV[3]~='' then redis.pcall('zrem',q,ARGV[3]) end "
    "local v=redis.pcall('get',k) "
    "local own=string.sub(ARGV[3],1,32) "
    "if v~=ARGV[1] and (own=='' or v~=own) then "
    "if own~='' and type(v)=='string' and string.sub(v,33,64)==own then "
    "return string.sub(v,1,32)..redis.call('pttl',k)..string.sub(v,65) end "
    "return 0 end "
    "if KEYS[3] then local w=redis.pcall('set',KEYS[3],ARGV[4],'px',ARGV[5],'nx') "
    "if w and w.ok then redis.call('del',k) return 3 end end "
    "while true do "
    "local m=redis.pcall('zpopmin',q)[1] "
    "if not m or redis.pcall('set',k,string.sub(m,1,32),'px',ARGV[2]).err "
    "then return redis.call('del',k) end "
    "local n=redis.pcall('publish',string.sub(m,49),string.sub(m,1,48)) "
    "if type(n)=='number' and n>0 then return 2 end "
    "end",
    "422346492aae7a3d0a1c77fd9bb303429874319c"};

// KEYS and ARGV[1..3] as above; ARGV[4]: ttl of the key in ms, once it is ours; ARGV[5]: ttl of the
// queue in ms; ARGV[6]: any value, if we are in the queue already and the key may be ours by now.
// Returns 0: the key is ours; a text: a baton for our place, which we had not heard of. Otherwise
// we are in the queue. Above 0: another client has the key for so many more ms; -1: without an end;
// below -1: a window is open for n more ms, returned as -1
// - n. A free key goes to the first in the queue when no window is open.
inline constexpr script enqueue_script{
    "local k,q,me=KEYS[1],KEYS[2],ARGV[3] "
    "if ARGV[6] then local v=redis.pcall('get',k) "
    "if v==ARGV[1] then redis.pcall('zrem',q,me) redis.call('pexpire',k,ARGV[4]) return 0 end "
    "if type(v)=='string' and string.sub(v,33,64)==ARGV[1] then redis.pcall('zrem',q,me) "
    "return string.sub(v,1,32)..redis.call('pttl',k)..string.sub(v,65) end end "
    "local last=redis.call('zrange',q,-1,-1,'withscores')[2] "
    "redis.call('zadd',q,'nx',(last or 0)+1,me) "
    "redis.call('pexpire',q,ARGV[5]) "
    "local left=redis.call('pttl',k) "
    "if left~=-2 then return left==0 and 1 or left end "
    "local p=tonumber(redis.pcall('get',KEYS[3])) "
    "if p and p>=0 then local open=redis.call('pttl',KEYS[3])-p "
    "if open>=1 and open<=2000 then return -1-open end end "
    "while true do "
    "local m=redis.call('zpopmin',q)[1] "
    "if m==me then redis.call('set',k,ARGV[1],'px',ARGV[4]) return 0 end "
    "redis.call('set',k,string.sub(m,1,32),'px',ARGV[2]) "
    "local n=redis.pcall('publish',string.sub(m,49),string.sub(m,1,48)) "
    "if type(n)=='number' and n>0 then return tonumber(ARGV[2]) end "
    "end",
    "fd1059cdb2d88175da870458528bd49cdb472ac1"};

// A baton gives a lease to the next waiter as it is: the keys stay. Only the key at the queue node
// tells the new holder: its value is then the owner token of the keys, the token of the waiter's
// entry, and what comes behind: the lag (see baton.hpp). The message has, behind the entry's token
// and reference, the owner token, how many ms the key still lasts, and the lag.
//
// KEYS[1]: the key; KEYS[2]: its queue; ARGV[1]: its value; ARGV[2]: the lag, with a space before
// it; ARGV[3]: ttl of a hand-off in ms. Returns 2: a waiter has got the lease; 3: the next waiter
// knows no batons: the key here is handed off to it; 1: nobody waits, and the key is as it was; 0:
// it is not ours. Entries of this lease's own holders are out of date.
inline constexpr std::string_view baton_mark =
    "+"; // the end of the channel of a client that knows batons
inline constexpr script baton_script{
    "local k,q,set=KEYS[1],KEYS[2],false "
    "if redis.pcall('get',k)~=ARGV[1] then return 0 end "
    "local v,own,left=string.sub(ARGV[1],1,32),string.sub(ARGV[1],33,64),redis.call('pttl',k) "
    "while left>0 do "
    "local m=redis.pcall('zpopmin',q)[1] "
    "if not m then break end "
    "local to=string.sub(m,1,32) "
    "if to~=v and to~=own then "
    "local what,said,ttl=string.sub(m,1,48),3,ARGV[3] "
    "if string.sub(m,-1)=='+' then to=v..to..ARGV[2] what=what..v..left..ARGV[2] said=2 ttl=left "
    "end "
    "if redis.pcall('set',k,to,'px',ttl).err then break end "
    "set=true "
    "local n=redis.pcall('publish',string.sub(m,49),what) "
    "if type(n)=='number' and n>0 then return said end "
    "end end "
    "if set then redis.call('set',k,ARGV[1],'px',left) end "
    "return 1",
    "0204d49aeb7a3651e36875b2cdbd5259aee13194"};

// KEYS[1]: the key. Returns its owner token, or nothing; an error if the key is no lock. Of a
// longer value, only the length of a token is returned.
inline constexpr script owner_script{
    "local v=redis.pcall('get',KEYS[1]) "
    "if type(v)=='string' then return string.sub(v,1,32) end return v",
    "efc24ad032cbf7c1eab844684a84902b5f9b83a0"};

// KEYS[1]: the key; KEYS[2]: its queue; ARGV[1]: our place; ARGV[2]: ttl of the queue in ms. We
// join the queue. The key is not taken, even if it is free. Returns 1; or, if we have not heard of
// it, 0: the key is that of our place, and it may be our turn; a text: a baton for our place.
inline constexpr script join_script{
    "local v,own=redis.pcall('get',KEYS[1]),string.sub(ARGV[1],1,32) "
    "local given=type(v)=='string' and string.sub(v,33,64)==own "
    "if given or v==own then redis.pcall('zrem',KEYS[2],ARGV[1]) end "
    "if given then return string.sub(v,1,32)..redis.call('pttl',KEYS[1])..string.sub(v,65) end "
    "if v==own then return 0 end "
    "local last=redis.call('zrange',KEYS[2],-1,-1,'withscores')[2] "
    "redis.call('zadd',KEYS[2],'nx',(last or 0)+1,ARGV[1]) "
    "return redis.call('pexpire',KEYS[2],ARGV[2])",
    "9b87be11f857c4a94161bae30f77646565f9c354"};

// KEYS[1]: a queue. A node that tracks a key does so until it changes, even if there is no such
// key and no client is left to tell. So the key of an empty queue is made, and deleted at once.
inline constexpr script untrack_script{
    "if redis.call('exists',KEYS[1])==0 then "
    "redis.call('zadd',KEYS[1],0,'') redis.call('zrem',KEYS[1],'') end",
    "9215f545f0fd874f399b124602ab09478e4bf33a"};

} // namespace holdfast::redis
