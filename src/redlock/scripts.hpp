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

// The queue of those who wait for a key, at its arbiter: a sorted set, in the order in which they
// came. Each is named by 32 characters of owner token, 16 of reference (the client's own), and the
// channel on which the client hears that its turn has come; the message is the token and the
// reference. A message that reaches nobody was for one who is gone: the next one is told.
inline constexpr core::duration queue_ttl =
    std::chrono::seconds(3); // everybody in it is heard of more often
inline constexpr std::size_t reference_length = 16;
inline constexpr std::string_view queue_suffix = ":holdfast:queue"; // of the key of the queue

// KEYS[1]: the key; KEYS[2]: its queue; ARGV[1]: our token; ARGV[2]: ttl of a hand-over in ms;
// ARGV[3]: our own place in the queue, which is given up, or nothing. 1: it was ours and is
// deleted; 2: it was ours and is handed over to the next one; 0: it is not ours. Whatever becomes
// of the queue, a key of ours does not stay ours.
inline constexpr script pass_on_script{
    "local k,q=KEYS[1],KEYS[2] "
    "if ARGV[3]~='' then redis.pcall('zrem',q,ARGV[3]) end "
    "if redis.pcall('get',k)~=ARGV[1] then return 0 end "
    "while true do "
    "local m=redis.pcall('zpopmin',q)[1] "
    "if not m or redis.pcall('set',k,string.sub(m,1,32),'px',ARGV[2]).err "
    "then return redis.call('del',k) end "
    "local n=redis.pcall('publish',string.sub(m,49),string.sub(m,1,48)) "
    "if type(n)=='number' and n>0 then return 2 end "
    "end",
    "33a995f1c68dc6c270a1069be3e49b318c469195"};

// KEYS and ARGV[1..3] as above; ARGV[4]: ttl of the key in ms, once it is ours; ARGV[5]: ttl of the
// queue in ms; ARGV[6]: anything, if we stand there already and the key may be ours by now. 0: the
// key is ours; otherwise we stand in the queue, and somebody has the key for so many more ms; -1:
// without an end. A key that nobody has goes to the first in the queue.
inline constexpr script enqueue_script{
    "local k,q,me=KEYS[1],KEYS[2],ARGV[3] "
    "if ARGV[6] and redis.pcall('get',k)==ARGV[1] then "
    "redis.call('zrem',q,me) redis.call('pexpire',k,ARGV[4]) return 0 end "
    "local last=redis.call('zrange',q,-1,-1,'withscores')[2] "
    "redis.call('zadd',q,'nx',(last or 0)+1,me) "
    "redis.call('pexpire',q,ARGV[5]) "
    "local left=redis.call('pttl',k) "
    "if left~=-2 then return left==0 and 1 or left end "
    "while true do "
    "local m=redis.call('zpopmin',q)[1] "
    "if m==me then redis.call('set',k,ARGV[1],'px',ARGV[4]) return 0 end "
    "redis.call('set',k,string.sub(m,1,32),'px',ARGV[2]) "
    "local n=redis.pcall('publish',string.sub(m,49),string.sub(m,1,48)) "
    "if type(n)=='number' and n>0 then return tonumber(ARGV[2]) end "
    "end",
    "90ed52797f1465085aaa4e2c86cf9eed99135e7f"};

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
