#include <holdfast/stats.hpp>

namespace holdfast {

std::string describe_nodes(const locker_stats& stats)
{
    std::string all;
    for (const node_stats& node : stats.nodes) {
        if (!node.last_error && node.reason.empty())
            continue;
        if (!all.empty())
            all += "; ";
        all +=
            node.address + ": " + (node.reason.empty() ? node.last_error.message() : node.reason);
    }
    return all;
}

} // namespace holdfast
