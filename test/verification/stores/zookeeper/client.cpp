#include "verification/stores/zookeeper/client.hpp"

#include "verification/stores/zookeeper/link.hpp"

#include <string>
#include <utility>

namespace holdfast::zookeeper_simulation {

namespace {

std::shared_ptr<const zookeeper_store::lock_settings> settings(
    const ensemble& servers, duration ttl)
{
    auto made = std::make_shared<zookeeper_store::lock_settings>();
    for (std::size_t i = 0; i < servers.size(); ++i) {
        const std::string name = "s" + std::to_string(i);
        made->ensemble.servers.push_back(
            {.where = {.host = name, .port = 1, .path = {}}, .name = name});
    }
    made->ensemble.session_timeout = ttl;
    made->ensemble.connect_timeout = 1s;
    made->ensemble.reconnect_min = 10ms;
    made->ensemble.reconnect_max = 500ms;
    made->root = "/holdfast";
    made->rights = {{31, "world", "anyone"}};
    made->client_name = "client";
    return made;
}

} // namespace

client::client(world& w, store_simulation::referee& judge, const store_simulation::client_params& p,
    ensemble& servers, std::function<void()> on_turn)
    : byte_client(w, judge, p, {.clock_error = 0.004, .lingering = 0.1, .most_transfers = 100}),
      world_(w),
      ensemble_(servers),
      on_turn_(std::move(on_turn)),
      core_(settings(servers, p.ttl), w.random.bits())
{}

std::shared_ptr<store_simulation::byte_link> client::open(std::size_t server)
{
    const auto opened = std::make_shared<link>(world_, ensemble_, server);
    opened->open();
    return opened;
}

} // namespace holdfast::zookeeper_simulation
