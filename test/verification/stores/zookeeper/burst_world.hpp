#pragma once

#include "verification/stores/result.hpp"

#include <cstddef>
#include <cstdint>

namespace holdfast::zookeeper_simulation {

// Runs a world in which users want many locks at once, from servers that need time for each
// request; and judges it: all are granted, in time; leases that are held meanwhile are not lost;
// what a crashed process held ends. `attempts`: how many there are in all.
store_simulation::result simulate_burst(std::uint64_t seed, std::size_t attempts);

} // namespace holdfast::zookeeper_simulation
