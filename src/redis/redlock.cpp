#include <holdfast/redlock.hpp>

#include "redis/redlock_settings.hpp"

#include <utility>

namespace holdfast {

backend redlock(std::vector<endpoint> nodes, redlock_options options)
{
    const redis::argument_check check("redlock");
    check.endpoints(nodes, "nodes", "a majority must be of different servers");
    check.layer(nodes, options.tls, "redlock_options::tls");
    check.options(options);
    std::vector<redis::node_settings> settings;
    for (const endpoint& node : nodes)
        settings.push_back(redis::settings_of(node, options));
    const bool alone = nodes.size() == 1;
    return redis::make_backend(std::move(settings), options,
        {.name = "redis redlock, " + std::to_string(nodes.size()) + (alone ? " node" : " nodes"),
            .promise = alone ? guarantee::one_node : guarantee::majority});
}

} // namespace holdfast
