#pragma once

#include "core/time.hpp"

#include <chrono>
#include <cstddef>
#include <string_view>

namespace holdfast::redis {

// A Lua script and the SHA-1 under which a node knows it. That the two belong together is checked
// on every connection: a node answers SCRIPT LOAD with the digest that it computed.
//
// No `#!lua` line: with one, a node that is short of memory refuses even a script that only
// deletes.
struct script {
    std::string_view text;
    std::string_view digest;
};

// KEYS[1]: the key; ARGV[1]: our token. 1: it was ours and is deleted; 0: it is not ours. A key of
// another type is not ours; a key that cannot be read, for want of rights, say, is an error.
inline constexpr script release_script{
    "local v=redis.pcall('get',KEYS[1]) "
    "if v==ARGV[1] then return redis.call('del',KEYS[1]) end "
    "if type(v)=='table' and string.sub(v.err,1,9)~='WRONGTYPE' then return v end "
    "return 0",
    "ef4ad229b814e1e5ae8505839176b78c3db4d778"};

// KEYS: keys; ARGV: a token and a ttl in ms for each. For each key 1: it is ours and has a new ttl;
// 0: it is not ours. Never makes a key. Keys of another type, and keys that cannot be read: as
// above.
inline constexpr script renew_script{
    "local r={} for i=1,#KEYS do local v=redis.pcall('get',KEYS[i]) "
    "if v==ARGV[2*i-1] then r[i]=redis.call('pexpire',KEYS[i],ARGV[2*i]) "
    "elseif type(v)=='table' and string.sub(v.err,1,9)~='WRONGTYPE' then return v "
    "else r[i]=0 end end return r",
    "9d27c4efdf8a72d3dfd41323fbac818de37c8cc3"};

// The queue of those who wait for a key, at its queue_node: a sorted set, in the order in which
// they came. Each is named by 32 characters of owner token, 16 of reference (the client's own), and
// the channel on which the client hears that its turn has come; the message is the token and the
// reference. A message that reaches nobody was for one who is gone: the next one is told.
inline constexpr core::duration queue_ttl =
    std::chrono::seconds(3); // everybody in it is heard of more often
inline constexpr std::size_t reference_length = 16;
inline constexpr std::string_view queue_suffix = ":holdfast:queue"; // of the key of the queue

// Clients that do not use the queue but poll get the key by chance, and next to never where it is
// handed over again and again. So now and then it is left to them: a window is open, and the queue
// waits. The window's key says so: it lasts until the next window may be opened, and says how much
// of that lies behind the window, in ms.
inline constexpr std::string_view window_suffix = ":holdfast:open"; // of the key of the window
inline constexpr core::duration longest_window = std::chrono::seconds(2); // < queue_ttl

// KEYS[1]: the key; KEYS[2]: its queue; ARGV[1]: our token; ARGV[2]: ttl of a hand-over in ms;
// ARGV[3]: our own place in the queue, which is given up, or nothing. If a window is due, KEYS[3]:
// its key; ARGV[4]: what it says; ARGV[5]: its ttl in ms. 1: it was ours and is deleted; 2: it was
// ours and is handed over to the next one; 3: it was ours, is deleted, and a window is open; 0: it
// is not ours. Whatever becomes of the queue, a key of ours does not stay ours.
inline constexpr script pass_on_script{
    "local k,q=KEYS[1],KEYS[2] "
    "if ARGV[3]~='' then redis.pcall('zrem',q,ARGV[3]) end "
    "if redis.pcall('get',k)~=ARGV[1] then return 0 end "
    "if KEYS[3] then local w=redis.pcall('set',KEYS[3],ARGV[4],'px',ARGV[5],'nx') "
    "if w and w.ok then redis.call('del',k) return 3 end end "
    "while true do "
    "local m=redis.pcall('zpopmin',q)[1] "
    "if not m or redis.pcall('set',k,string.sub(m,1,32),'px',ARGV[2]).err "
    "then return redis.call('del',k) end "
    "local n=redis.pcall('publish',string.sub(m,49),string.sub(m,1,48)) "
    "if type(n)=='number' and n>0 then return 2 end "
    "end",
    "c2a4b67ce5fec9d8b227c4c811de2d6a27d0a387"};

// KEYS and ARGV[1..3] as above; ARGV[4]: ttl of the key in ms, once it is ours; ARGV[5]: ttl of the
// queue in ms; ARGV[6]: anything, if we stand there already and the key may be ours by now. 0: the
// key is ours; otherwise we stand in the queue, and somebody has the key for so many more ms; -1:
// without an end; less: a window is open for so many more ms, and one more, below 0. A key that
// nobody has goes to the first in the queue when no window is open.
inline constexpr script enqueue_script{
    "local k,q,me=KEYS[1],KEYS[2],ARGV[3] "
    "if ARGV[6] and redis.pcall('get',k)==ARGV[1] then "
    "redis.call('zrem',q,me) redis.call('pexpire',k,ARGV[4]) return 0 end "
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
    "41cd2f10daf6c6b6f49b227dab6fb1b922775488"};

// KEYS[1]: the key. The owner token that it has, or nothing; an error if it is no lock. Of what is
// longer than a token, its beginning.
inline constexpr script owner_script{
    "local v=redis.pcall('get',KEYS[1]) "
    "if type(v)=='string' then return string.sub(v,1,32) end return v",
    "efc24ad032cbf7c1eab844684a84902b5f9b83a0"};

// KEYS[1]: a queue; ARGV[1]: our place; ARGV[2]: its ttl in ms. We stand there from now on; nothing
// is taken, even if it is free.
inline constexpr script join_script{"local last=redis.call('zrange',KEYS[1],-1,-1,'withscores')[2] "
                                    "redis.call('zadd',KEYS[1],'nx',(last or 0)+1,ARGV[1]) "
                                    "return redis.call('pexpire',KEYS[1],ARGV[2])",
    "56ecf9529893c2ff42ef563d66df6291885a604a"};

} // namespace holdfast::redis
