#pragma once

#include "verification/model/world.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace holdfast::model {

// The possible violations, a bit each.
enum violation : std::uint8_t {
    none = 0,
    duplicate = 1, // two leases have a token in common
    order = 2,     // a lease has a smaller token than an earlier one, see `expiry`
    stale = 4,     // the guarded store accepts a write older than one that it has accepted
    overlap = 8,   // two leases are valid at once
};

// Deviations from the correct protocol.
struct rules {
    bool register_first = false;      // the ballot is sent before the request for the key
    bool separate_majorities = false; // one majority of keys and another one of registers
    bool one_register = false;        // a majority of keys and one register
    bool accepts_equal = false;       // a register accepts the ballot that it has
    bool accepts_all = false;         // a register accepts any ballot
    bool answers_unread = false;      // the answers of registers are taken for acceptances
    bool unscaled_tokens = false;     // the token is the ballot, not a multiple of the block
    bool refused_counts = false;      // a node that refuses the key is taken to hold it
    bool late_success = false;        // deadlines are not looked at when a lease is granted
    bool key_is_enough = false;       // a key counts for the validity without its register
    bool repaired_counts = false;     // a key that was lost and set again counts for it
    bool revived_counts = false;      // a key counts that an old request has set again
    bool follows_far = false;         // ballots are not bound to the clock
    bool creates_registers = false;   // a ballot makes the register that a node has lost
    bool registers_at_zero = false;   // lost registers are made anew at 0
    bool clock_without_floor = false; // a node that starts believes its own clock
    int quarantine_less = 0;          // the quarantine is shorter by this
};

// How keys expire, and which order of tokens is required.
enum class expiry : std::uint8_t {
    // Keys vanish at any time, clients do not learn of it. A lease that was asked for when another
    // had been granted has a larger token.
    adversarial,
    // Keys expire at any time, and a client that was granted a key knows when. Tokens have the
    // order
    // in which leases are granted, and only one lease is valid.
    honest,
    // The same with explicit time. Nodes may lose their data.
    timed,
};

// The scope of an exploration.
struct scope {
    std::string_view name = {};
    std::string_view what = {};
    expiry keys = expiry::adversarial;
    std::size_t nodes = 3, attempts = 2;
    small ballots = 3;     // the largest; with explicit time it follows the clock
    unsigned further = 0;  // ballots beyond the first of each attempt, up to 2
    bool each_step = true; // requests and replies are under way for any time; see main.cpp
    unsigned asks = 0;     // so often nodes that have refused the key are asked again
    bool spares = false;   // after the grant, ballots are sent to nodes that do not count
    bool writes = false;   // leases write to a guarded store
    bool renewals = false;
    unsigned cuts = 0; // so often a connection breaks before the SET is executed
    // With explicit time:
    small last_time = 4;
    small ttl = 2, ahead = 1;
    small late = 0; // the clock of a node that starts may be behind by this
    unsigned losses = 0;
    bool flushes = false, restarts = false;
};

// The shortest quarantine that is long enough.
constexpr small quarantine(const scope& s) noexcept
{
    return static_cast<small>(s.ttl + s.ahead - 1 + s.late);
}

// Those that the correct protocol has to pass. The first one is the default.
std::span<const scope> scopes() noexcept;

struct variant {
    std::string_view name;
    std::string_view what;
    rules how{};
    unsigned breaks = none;       // the expected violations
    std::string_view within = {}; // a scope
};

// The wrong variants.
std::span<const variant> variants() noexcept;

} // namespace holdfast::model
