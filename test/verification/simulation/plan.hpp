#pragma once

#include "verification/simulation/burst_plan.hpp"
#include "verification/simulation/costs.hpp"
#include "verification/simulation/dice.hpp"
#include "verification/simulation/referee.hpp"
#include "verification/simulation/subject.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace holdfast::simulation {

// The faults of a world.
enum class fault : std::uint8_t {
    slow_packets,
    trickle,
    lost_both_ways,
    lost_one_way,
    cut_stream,
    node_frozen,
    node_crashed,    // and restarts with all its data
    node_forgot,     // was down for longer than any lease, restarts with no data or old data
    node_forgot_now, // restarts soon, with no data or old data
    host_crashed,    // without any packet that reports it
    node_in_trouble, // refuses commands: loading, out of memory …
    scripts_forgotten,
    clock_set_back,
    clock_set_forward,
    client_cut_off, // from all nodes
    client_frozen,
    client_suspended,
    client_crashed,
    node_flushed,   // by FLUSHALL
    locks_vanished, // a node loses its lock keys before they expire, and no other key
};
inline constexpr std::size_t fault_kinds = static_cast<std::size_t>(fault::locks_vanished) + 1;
std::string_view name_of(fault f) noexcept;

// The behaviour of a user of locks; the numbers are probabilities.
struct habits {
    double asks_once = 0, cancels = 0, drops = 0, obstinate = 0, releases_twice = 0, extends = 0;
    double careless = 0; // writes although its lease is not held
    nanoseconds shortest_hold{}, longest_hold{}, longest_pause{};
    double differs = 0; // locks on other terms than most users of the process
    double rests = 1;   // asks for `min_hold`, in worlds with it
};

// The parameters of a world, chosen by its seed: its size, its clocks, and the faults that can
// happen in it.
struct plan {
    std::size_t nodes = 0, processes = 0, users = 0, resources = 0; // users of each process
    core::lease_params terms{};
    core::duration longest_ttl{}; // of any process: some have twice the ttl
    std::optional<core::duration> node_timeout{};
    core::duration silence_timeout{};
    locker_options options{};
    std::vector<std::int64_t> client_ppm, node_ppm;
    std::chrono::milliseconds node_clocks_differ{1 << 30}; // by less than this at the beginning
    nanoseconds set_back_at_most{nanoseconds::max()};      // a node's clock, by a fault
    nanoseconds set_forward_in_all{nanoseconds::max()}; // most that faults set a node's clock ahead
    bool clocks_agree = false; // the clients' clocks begin at the same time
    nanoseconds lateness{};    // of timers and of turns of a loop
    nanoseconds shortest_delay{}, longest_delay{};
    std::size_t slow_nodes = 0; // the last ones, a minority: they answer, but late
    nanoseconds slow_delay{};
    node_costs node_work;
    process_costs process_work;
    std::size_t socket_buffer = unlimited;                      // of a stream to a node
    std::size_t most_requests = 1000, most_bytes = 1024 * 1024; // under way to a node
    std::optional<burst_plan> burst{};                          // instead of faults
    habits users_do;

    bool lingers = false;   // leases stay with a process after their release,
    bool for_long = false;  // for longer than any wait may last
    bool rests = false;     // resources stay locked for `min_hold`
    bool rolls_out = false; // processes drain and are replaced at random times

    std::vector<fault> faults; // that can happen; none in some worlds
    nanoseconds between_faults{}, shortest_fault{}, longest_fault{};
    bool in_turn = false; // one node after the other has a fault, each time after `between_faults`
    bool queue = true;    // the nodes keep queues of waiters
    double lost_pushes = 0, repeated_pushes = 0; // probabilities
    std::size_t faulty_nodes = 0;                // the first nodes have faults, this many
    nanoseconds storm{};                         // how long faults happen
    std::size_t leases = 0;                      // after this many leases the storm ends early,
    std::uint64_t events = 0;                    // or after this many events
    assumptions given;

    std::optional<redis::fence_settings> fence{}; // none: plain mode
    bool nodes_have_records = false;              // as if fenced mode had been in use before

    bool can(fault f) const { return std::ranges::find(faults, f) != faults.end(); }

    // A bound on every wait after the last fault. Processes are served in random order; the bound
    // leaves room for bad luck, but not for a lock that is stuck.
    nanoseconds longest_wait_in_calm() const noexcept
    {
        const auto all_users = static_cast<std::int64_t>(processes * users);
        // Without a queue no process can tell that others wait.
        const nanoseconds lingering = queue ? longest_ttl : 2 * longest_lingering();
        return std::chrono::seconds(30) + longest_ttl * 5 +
               (fence ? fence->pause() * 2 : nanoseconds(0)) +
               all_users * 20 * (users_do.longest_hold + options.retry_max) +
               (lingers ? all_users * lingering : nanoseconds(0)) + all_users * 2 * longest_rest();
    }
    nanoseconds longest_lingering() const noexcept
    {
        return std::chrono::milliseconds(terms.linger_ms);
    }
    nanoseconds longest_rest() const noexcept
    {
        return std::chrono::milliseconds(terms.min_hold_ms);
    }
};

struct wishes {
    bool contended = false; // many users want one resource and hold it for a short time
    bool fenced = false;    // leases have fencing tokens
    bool lingering = false; // leases linger
    bool resting = false;   // resources stay locked for a time after an early release
};
plan make_plan(dice& chance, const wishes& w);

} // namespace holdfast::simulation
