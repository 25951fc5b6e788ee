#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

/// A script for the Redis server that keeps what a lock protects: it does its work only if no later
/// holder of the lock has been there.
///
/// This is the other half of a fencing token. The server remembers the largest token that it has
/// seen, under the *fence key*; a script whose token is smaller changes nothing, one whose token is
/// the same (the same holder again) or larger is run, and its token stored in the same step. So a
/// holder that was paused past its lease cannot overwrite what its successor has done, whatever the
/// clocks say.
///
/// What you must see to:
/// - The first thing that a holder does there must store its token, before it relies on what it has
///   read: until then its predecessor is not shut out. `guarded_get()` reads and stores.
/// - All writes to what is protected are guarded, with the same fence key. One lock, one fence key,
///   however many keys it protects.
/// - The fence key lives as long as what it protects: no ttl, no eviction, in the same backups. A
///   server that forgets it (a restart without its data, a fail-over to a replica that was behind)
///   accepts old tokens once more.
///
/// These functions only say what to send; any Redis client can send it. `script`, `keys` and
/// `arguments` are what `EVAL` and `EVALSHA` take, and the scripts are of use without this library:
/// KEYS[1] is the fence key and ARGV[1] the token in decimal digits; the others are said below. In
/// a Redis Cluster all keys need one hash tag.
///
/// Tokens are whole numbers from 1 to 2^53 - 1, and so are stocks and amounts, from 0: Lua's
/// numbers are exact up to there. Whatever else is given or found is refused, not rounded.
///
/// Error replies; nothing was changed then, in any key:
/// - `FENCED …`     a larger token is stored: the lease is over, another holds the lock. Stop.
///                  `INFO errorstats` counts them (`errorstat_FENCED`).
/// - `BADFENCE …`   the token, or what is stored under the fence key, is no such number.
/// - `BADSTOCK …`   the amount or the stock is no such number.
/// - `WRONGTYPE …`  a key holds data of another type.
struct guarded_write {
    std::string script;
    std::vector<std::string> keys;      ///< KEYS
    std::vector<std::string> arguments; ///< ARGV

    /// `EVAL`, the script, the number of keys, the keys, the arguments.
    std::vector<std::string> command() const;

    /// The same as bytes for a connection: an array of blob strings, RESP2 and RESP3 alike.
    std::string encoded() const;
};

/// With what the error reply to a token that is too small begins.
inline constexpr std::string_view fenced_error = "FENCED";

/// The largest token, stock or amount: 2^53 - 1.
inline constexpr std::uint64_t largest_guarded_number = 9'007'199'254'740'991;

/// `GET key`, and the token is stored: how a holder begins.
///
/// `token` is what `lease::fence()` gives. KEYS[2]: the key. Reply: the value; nil if there is
/// none.
///
/// Throws `std::invalid_argument`, as all of these do: the lease has no token (fencing is off), a
/// number is out of its range, or the fence key is one of the other keys.
guarded_write guarded_get(
    std::string fence_key, std::optional<std::uint64_t> token, std::string key);

/// `SET key value`. A ttl of the key is gone then, as with any `SET`.
///
/// KEYS[2]: the key; ARGV[2]: the value, any bytes. Reply: `OK`.
guarded_write guarded_set(
    std::string fence_key, std::optional<std::uint64_t> token, std::string key, std::string value);

/// `DECRBY key amount`, but never below zero: takes from a stock. No key is a stock of zero.
///
/// KEYS[2]: the stock; ARGV[2]: the amount. Reply: how many are left, or -1 if there were not so
/// many; then the stock is as it was, and the token is stored all the same: this holder was there.
guarded_write guarded_take(std::string fence_key, std::optional<std::uint64_t> token,
    std::string key, std::uint64_t amount);

/// Any other work: `body` is Lua, run after the token was found good and stored. Its reply is the
/// reply.
///
/// KEYS[2] … are `keys`, ARGV[2] … are `arguments`. If `body` fails half-way, what it has done
/// until then stays done, as in any script, and the token is stored. `body` is part of the script:
/// put data into `arguments`, never into it.
///
/// Example: set a stock and record the order, in one step.
/// `guarded_run("stock:A:fence", lease.fence(), "redis.call('set',KEYS[2],ARGV[2]) "`
/// `"return redis.call('rpush',KEYS[3],ARGV[3])", {"stock:A", "orders:A"}, {left, buyer})`
guarded_write guarded_run(std::string fence_key, std::optional<std::uint64_t> token,
    std::string_view body, std::vector<std::string> keys, std::vector<std::string> arguments);

} // namespace holdfast
