#pragma once

#include "verification/simulation/burst.hpp"
#include "verification/simulation/load_plan.hpp"
#include "verification/simulation/network.hpp"
#include "verification/simulation/plan.hpp"
#include "verification/simulation/referee.hpp"
#include "verification/simulation/subject.hpp"
#include "verification/simulation/troublemaker.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::simulation {

struct result {
    std::vector<violation> violations;
    nanoseconds simulated{};
    std::uint64_t leases = 0, events = 0;
    bool fenced = false;
    std::uint64_t refused_writes = 0; // for their tokens
    std::uint64_t replaced = 0;       // processes that have drained, closed and ended
    troublemaker::counts faults{};
    network::counts streams;
    std::optional<crowd::figures> burst{};
};

// What to simulate: which lock, in which worlds.
struct experiment {
    subject_maker make_subject = make_shipped_lock;
    bool contended = false; // only worlds in which many users want one resource
    bool lingering = false; // only worlds in which leases linger
    bool resting = false;   // only worlds in which resources stay locked after a release
    bool draining = false;  // processes drain and are replaced at random times
    // Worlds with fencing tokens; `some`: a third of all.
    enum class fenced_worlds : std::uint8_t { some, none, only } fenced = fenced_worlds::some;
    std::optional<burst_size> bursts{};       // only worlds with such bursts
    std::function<void(plan&)> restrict_plan; // may remove features that the subject lacks
};

// Runs one world from start to end. The same seed gives the same world, event by event.
result simulate(const experiment& what, std::uint64_t seed,
    std::function<void(nanoseconds, const std::string&)> trace = {});

} // namespace holdfast::simulation
