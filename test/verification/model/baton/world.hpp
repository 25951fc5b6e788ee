#pragma once

#include "verification/model/world.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

// The state of the model of batons. The numbers are small because millions of states are stored.
namespace holdfast::model::baton {

inline constexpr std::size_t node_count = 3;
inline constexpr std::size_t process_count = 3;
inline constexpr std::size_t queue_node = 0; // the others are alike
inline constexpr std::size_t majority = 2;
inline constexpr std::uint8_t all_nodes = 0b111;
inline constexpr std::uint8_t other_nodes = 0b110; // without the queue node

using name = std::uint8_t; // 1 + the number of a process: it is also the token of its attempt

constexpr name name_of(std::size_t p) noexcept
{
    return static_cast<name>(p + 1);
}

// The value of a key: the token of a lease; after a baton, at the queue node, also the place of its
// holder, and the lag.
struct value {
    name token = 0; // 0: there is no key
    name place = 0; // 0: only a token
    small lag = 0;

    friend bool operator==(const value&, const value&) = default;
};

struct node {
    value key{};
    small until = 0;   // the key expires then; of a node that is down: it comes back then
    bool down = false; // it has lost its data
};

// A request for a longer ttl.
struct renewal {
    enum class status : std::uint8_t { none, sent, confirmed, missing };
    status is = status::none; // the last two: the node has executed it, the answer is under way
    small asked = 0;
    bool confirms = false; // the keys of a baton, before the lease counts
};

// What a baton says.
struct gift {
    name token = 0; // 0: none
    small left = 0, lag = 0;
};

// A request for a place, and its answer.
struct placing {
    enum class status : std::uint8_t { none, sent, waits, granted, has_baton };
    status is = status::none;
    bool again = false; // ARGV[6] of the script
    small asked = 0;
    gift given{};
};

enum class phase : std::uint8_t {
    idle,
    waiting,    // in the queue
    asking,     // for keys of its own
    confirming, // the keys of a baton, before the lease counts
    held,
    giving,  // its lease
    doubt,   // the answer to that is lost
    leaving, // it deletes its keys
    gone,
};

// The request that gives a lease.
enum class giving : std::uint8_t { none, sent, nobody_waits, given, handed_off, not_ours };

// A process with one attempt.
struct client {
    phase now = phase::idle;
    name token = 0;                        // of its lease or attempt
    small entered = 0;                     // before its first request for a place
    small begun = 0;                       // when its requests for keys were sent
    std::array<small, node_count> until{}; // of the keys that count, by its clock
    small keys_end = 0;                    // no key ends later
    small lag = 0;                         // of the baton by which the lease has come
    bool renewed = false;                  // since then
    std::array<renewal, node_count> renewals{};
    std::uint8_t sets = 0;          // nodes to which SET is under way
    std::uint8_t deletions = 0;     // nodes to which a deletion is under way
    std::uint8_t late_renewals = 0; // under way on connections that are lost
    placing place{};
    bool late_place = false;   // a request for a place is under way on a connection that is lost
    bool late_again = false;   // its ARGV[6]
    bool strayed = false;      // requests about the key are, or were
    bool queued = false;       // it may be in the queue
    gift push{};               // under way to it
    gift unwanted{};           // a lease that it deletes, beside its own attempt
    std::uint8_t discards = 0; // nodes to which these deletions are under way
    giving give = giving::none;
    small given_lag = 0;
};

struct world {
    std::array<node, node_count> nodes{};
    std::array<client, process_count> who{};
    fifo<2> queue{}; // names
    small time = 1;
    // So far:
    small renewals = 0;
    small crashes = 0;      // of nodes
    small lost_answers = 0; // to renewals
    small lost_places = 0;  // requests for a place
};

} // namespace holdfast::model::baton
