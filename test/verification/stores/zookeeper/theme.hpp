#pragma once

#include "verification/stores/zookeeper/ensemble.hpp"

namespace holdfast::zookeeper_simulation {

// What a world is about. Many errors do harm only if several rare things happen together.
struct theme {
    ensemble_settings servers{};
    troubles faults{};
    duration shortest_ttl = 1s, longest_ttl = 10s;
    // Holders are struck when they have just heard of a server: while they believe for longest.
    bool strikes = false;
    double isolation = 0; // probability that such a server is cut off from the others as well
    bool splits = false;  // there are two leaders again and again
};

// `aged`: queues may have reached the ends of their counters.
theme choose_theme(world& w, bool aged);

} // namespace holdfast::zookeeper_simulation
