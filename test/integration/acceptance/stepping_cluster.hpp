#pragma once

#include "integration/acceptance/acceptance.hpp"
#include "support/node_clock.hpp"

#include <ctime>
#include <deque>

namespace holdfast::test {

// A cluster in which each node has its own clock.
struct stepping_cluster : cluster {
    explicit stepping_cluster(std::size_t count) : cluster(0)
    {
        while (nodes.size() < count)
            nodes.push_back(clocks.emplace_back().start([] { return redis_server(); }));
    }

    // How far the node's clock is ahead of ours, in seconds.
    long ahead(std::size_t node)
    {
        const auto told = std::stol(nodes[node].command({"TIME"}));
        return told - static_cast<long>(std::time(nullptr));
    }

    std::deque<node_clock> clocks;
};

} // namespace holdfast::test
