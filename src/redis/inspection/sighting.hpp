#pragma once

#include "redis/inspection/told_clients.hpp"
#include "redis/node/reply.hpp"

#include <holdfast/inspect.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::redis {

// The token of a lock that this push says is taken away; empty for another push.
std::string_view token_taken_away(reply push) noexcept;

// The error of a node. A command that is renamed or removed is as good as forbidden.
error_code why_refused(std::string_view error_text) noexcept;

// A key as a node has it.
struct key_copy {
    bool present = false;
    std::string value{};      // may be empty
    std::int64_t left_ms = 0; // -1: without an end
};

// The parts of the value of a lock. If the lock was given on as it was (see baton.hpp), one node
// has
// "<token><token of the holder> <lag>", and " <fence>" behind it in fenced mode. Any other value is
// both parts.
struct key_value {
    std::string_view lease{};  // what the copies at all nodes have in common
    std::string_view holder{}; // says who has the lock
};
key_value split_value(std::string_view value) noexcept;

// What a node has said about a lock.
struct sighting {
    enum class kind : std::uint8_t { unknown, absent, value, conflict };
    kind is = kind::unknown;
    error_code why{}; // why it is unknown
    key_copy key{};
    std::optional<std::uint64_t> fence{};
    std::size_t queue_length = 0;
    std::vector<std::string> queue{}; // owner tokens
};

// The answer to the script for a lock. None if it is not an answer to it.
std::optional<sighting> read_view(reply answer);

// A step through the keys. None if it is not an answer to it: the script keeps to the limits of
// names and values.
struct scan_step {
    std::string cursor{};
    bool left_out = false; // too many keys at once
    std::vector<std::pair<std::string, key_copy>> keys{};
    error_code why{}; // an error of the node: nothing else then
};
std::optional<scan_step> read_scan(reply answer, std::size_t longest_name);

// Whose the keys of a resource are.
struct ownership {
    std::string_view lease{}; // the most frequent one, if `having` is not 0
    std::string_view holder{};
    std::optional<std::size_t> named_at{}; // the index of the key that names another holder
    std::size_t having = 0;
    bool held = false; // by a majority
    // Not so if the lease may have been given on (see baton.hpp) by a node whose copy is not seen.
    bool is_certain = false;
    // The index of the copy that would name another holder: of those seen, the most probable one.
    std::size_t namer = 0;
    std::int64_t left_ms = 0; // until no majority has it; -1: without an end
};
// One of each for each node. `ranks`: by queue_node_rank(), or `unknown_rank`.
inline constexpr std::uint64_t unknown_rank = std::numeric_limits<std::uint64_t>::max();
ownership judge(std::span<const key_copy* const> keys, std::span<const std::uint64_t> ranks);

// `holder`: as in key_value. `wall`: the time, in seconds since the epoch. A value whose time is
// not plausible is not ours, nor is one of hexadecimal digits only.
lock_owner owner_of(std::string_view holder, std::int64_t wall);

// Fills in what is known about the locker. `nodes`: how many there are.
void name(lock_owner& owner, const told_clients& clients, std::size_t nodes);

} // namespace holdfast::redis
