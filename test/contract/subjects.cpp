#include "contract/backend_contract.hpp"

#include "support/redis_server.hpp"

#include <map>

namespace holdfast::test {

backend subject::make() const
{
    static std::map<std::size_t, backend> stores;
    static std::vector<redis_server> servers;
    if (const auto found = stores.find(nodes); found != stores.end())
        return found->second;

    if (nodes == 0)
        return stores.emplace(0u, memory()).first->second;
    while (servers.size() < nodes)
        servers.emplace_back();
    std::vector<endpoint> urls;
    for (std::size_t i = 0; i < nodes; ++i)
        urls.emplace_back(servers[i].url());
    redlock_options options;
    options.node_timeout = 500ms; // the machine may be busy; the tests are not about speed
    return stores.emplace(nodes, redlock(urls, options)).first->second;
}

} // namespace holdfast::test
