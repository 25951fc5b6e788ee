#pragma once

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

// KEYS[1]: the key; ARGV[1]: our token. 1: it was ours and is deleted; 0: it is not ours.
inline constexpr script release_script{
    "if redis.pcall('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0",
    "50d5623029ae729a1d014843c3a004582d24f0cd"};

// KEYS: keys; ARGV: a token and a ttl in ms for each. For each key 1: it is ours and has a new ttl;
// 0: it is not ours. Never makes a key. A key of another type is not ours.
inline constexpr script renew_script{
    "local r={} for i=1,#KEYS do "
    "if redis.pcall('get',KEYS[i])==ARGV[2*i-1] then r[i]=redis.call('pexpire',KEYS[i],ARGV[2*i]) "
    "else r[i]=0 end end return r",
    "323d8a71bb35ae2e78dd951bcf02b326bed830b8"};

} // namespace holdfast::redis
