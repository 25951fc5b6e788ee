#pragma once

#include <holdfast/detail/export.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

/// A script for the Redis server that stores the data which a lock protects. The script does its
/// work only if no later holder of the lock has accessed that server.
///
/// It is the counterpart of a fencing token. The server stores the largest token that it has seen
/// under the *fence key*. A script with a smaller token changes nothing. A script with the same
/// token (the same holder again) or a larger one runs, and its token is stored in the same step. So
/// a holder that was paused past the end of its lease cannot overwrite the work of its successor,
/// whatever the clocks say.
///
/// Requirements on the application:
/// - The first access of a holder must store its token, before the holder relies on data that it
///   has read: until then its predecessor is not shut out. `guarded_get()` reads and stores.
/// - All writes to the protected data are guarded with the same fence key. One lock has one fence
///   key, however many keys it protects.
/// - The fence key lives as long as the protected data: no ttl, no eviction, in the same backups. A
///   server that forgets it (a restart without its data, a fail-over to a replica that was behind)
///   accepts old tokens again.
///
/// These functions only build the command; any Redis client can send it. `script`, `keys` and
/// `arguments` are the parameters of `EVAL` and `EVALSHA`. The scripts can be used without this
/// library: KEYS[1] is the fence key and ARGV[1] the token in decimal digits; the others are listed
/// at each function. In a Redis Cluster all keys need one hash tag.
///
/// Tokens are whole numbers from 1 to 2^53 - 1, stocks and amounts from 0 to 2^53 - 1: Lua's
/// numbers are exact in this range. Any other value, given or stored, is refused, not rounded.
///
/// Error replies. After an error reply no key has been changed:
/// - `FENCED …`     a larger token is stored: the lease is over, another holder has the lock. Stop.
///                  `INFO errorstats` counts these errors (`errorstat_FENCED`).
/// - `BADFENCE …`   the token, or the value of the fence key, is not such a number.
/// - `BADSTOCK …`   the amount or the stock is not such a number.
/// - `WRONGTYPE …`  a key holds data of another type.
struct [[nodiscard]] guarded_write {
    std::string script;                 ///< the text
    std::vector<std::string> keys;      ///< KEYS
    std::vector<std::string> arguments; ///< ARGV

    /// `EVAL`, the script, the number of keys, the keys, the arguments.
    HOLDFAST_EXPORT std::vector<std::string> command() const;

    /// The same as bytes for a connection: an array of blob strings, equal in RESP2 and RESP3.
    HOLDFAST_EXPORT std::string encoded() const;
};

/// The beginning of the error reply to a token that is too small.
inline constexpr std::string_view fenced_error = "FENCED";

/// The largest token, stock or amount: 2^53 - 1.
inline constexpr std::uint64_t largest_guarded_number = 9'007'199'254'740'991;

/// `GET key` that also stores the token: the first access of a holder.
///
/// `token` is the result of `lease::fence()`. KEYS[2]: the key. Reply: the value; nil if there is
/// none.
///
/// Throws `std::invalid_argument`, as all of these functions do, if the lease has no token (fencing
/// is off), a number is out of range, or the fence key is one of the other keys.
HOLDFAST_EXPORT guarded_write guarded_get(
    std::string fence_key, std::optional<std::uint64_t> token, std::string key);

/// `SET key value`. Removes a ttl of the key, as any `SET` does.
///
/// KEYS[2]: the key; ARGV[2]: the value, any bytes. Reply: `OK`.
HOLDFAST_EXPORT guarded_write guarded_set(
    std::string fence_key, std::optional<std::uint64_t> token, std::string key, std::string value);

/// `DECRBY key amount`, but never below zero: takes from a stock. A missing key is a stock of zero.
///
/// KEYS[2]: the stock; ARGV[2]: the amount. Reply: the remaining stock, or -1 if the stock is
/// smaller than the amount. In that case the stock is unchanged, and the token is stored
/// nevertheless.
HOLDFAST_EXPORT guarded_write guarded_take(std::string fence_key,
    std::optional<std::uint64_t> token, std::string key, std::uint64_t amount);

/// Any other work: `body` is Lua code. It runs after the token was accepted and stored. Its reply
/// is the reply of the script.
///
/// KEYS[2] … are `keys`, ARGV[2] … are `arguments`. If `body` fails half-way, its effects until
/// then remain, as in any script, and the token is stored. `body` is part of the script: put data
/// into `arguments`, never into `body`.
///
/// Example: set a stock and record the order in one step.
/// `guarded_run("stock:A:fence", lease.fence(), "redis.call('set',KEYS[2],ARGV[2]) "`
/// `"return redis.call('rpush',KEYS[3],ARGV[3])", {"stock:A", "orders:A"}, {left, buyer})`
HOLDFAST_EXPORT guarded_write guarded_run(std::string fence_key, std::optional<std::uint64_t> token,
    std::string_view body, std::vector<std::string> keys, std::vector<std::string> arguments);

} // namespace holdfast
