#include "verification/stores/zookeeper/queue_judge.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace holdfast::zookeeper_simulation {

void queue_judge::look()
{
    constexpr std::uint64_t places = 64; // of a token
    if (told_)
        return; // more would follow from it
    beliefs_.each_belief([this](const std::string& resource, std::uint64_t token) {
        const auto& nodes = all_.truth().nodes();
        const std::string queue = queue_of(resource);
        auto first = std::numeric_limits<std::int64_t>::max();
        if (const auto at = nodes.find(queue); at != nodes.end()) {
            for (const std::string& each : at->second.children) {
                if (each.find("-lock-") != each.npos)
                    first = std::min(first, nodes.find(queue + "/" + each)->second.created);
            }
        }
        if (first == static_cast<std::int64_t>(token / places))
            return;
        told_ = true;
        world_.violation("the node of a lease of " + resource + " is not the first of its queue");
    });
}

} // namespace holdfast::zookeeper_simulation
