#pragma once

#include "simulation/dice.hpp"
#include "simulation/referee.hpp"
#include "simulation/subject.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace holdfast::simulation {

// What can go wrong.
enum class fault : std::uint8_t {
    slow_packets,
    trickle,
    lost_both_ways,
    lost_one_way,
    cut_stream,
    node_frozen,
    node_crashed,    // and remembers everything
    node_forgot,     // it was down for longer than any lease, and remembers nothing or old things
    node_forgot_now, // it remembers nothing or old things, at once
    host_crashed,    // without a word on the network
    node_in_trouble, // refuses commands: loading, out of memory …
    scripts_forgotten,
    clock_set_back,
    clock_set_forward,
    client_frozen,
    client_suspended,
    client_crashed,
};
inline constexpr std::size_t fault_kinds = static_cast<std::size_t>(fault::client_crashed) + 1;
std::string_view name_of(fault f) noexcept;

// How a user of locks behaves.
struct habits {
    double asks_once = 0, cancels = 0, drops = 0, obstinate = 0, releases_twice = 0, extends = 0;
    nanoseconds longest_hold{}, longest_pause{};
};

// What one seed makes of a world: its size, its clocks, and the faults that can happen in it. Each
// seed turns on a random choice of them.
struct plan {
    std::size_t nodes = 0, processes = 0, users = 0, resources = 0; // users of each process
    core::lease_terms terms{};
    core::duration longest_ttl{}; // of any process: some have twice the ttl
    std::optional<core::duration> node_timeout{};
    locker_options options{};
    std::vector<std::int64_t> client_ppm, node_ppm;
    bool clocks_agree = false; // the clients' clocks begin at the same time
    nanoseconds lateness{};    // of timers and of turns of a loop
    nanoseconds shortest_delay{}, longest_delay{};
    habits users_do;

    std::vector<fault> faults; // that can happen; none in some worlds
    nanoseconds between_faults{};
    std::size_t faulty_nodes = 0; // those from 0 up to here
    nanoseconds storm{};          // how long faults happen
    std::size_t leases = 0;       // after so many the storm ends early
    assumptions given;
};

plan make_plan(dice& chance);

} // namespace holdfast::simulation
