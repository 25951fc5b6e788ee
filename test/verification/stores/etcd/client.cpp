#include "verification/stores/etcd/client.hpp"

#include "verification/stores/etcd/link.hpp"

#include <string>

namespace holdfast::etcd_simulation {

namespace {

std::shared_ptr<const etcd_store::lock_settings> settings()
{
    auto made = std::make_shared<etcd_store::lock_settings>();
    for (std::size_t i = 0; i < cluster::size; ++i) {
        const std::string name = "m" + std::to_string(i);
        made->cluster.members.push_back(
            {.where = {.host = name, .port = 1, .path = {}}, .name = name});
    }
    made->cluster.connect_timeout = 1s;
    made->cluster.reconnect_min = 10ms;
    made->cluster.reconnect_max = 500ms;
    made->client_name = "client";
    return made;
}

} // namespace

client::client(world& w, store_simulation::referee& judge, const store_simulation::client_params& p,
    cluster& servers)
    : byte_client(w, judge, p, {.clock_error = 0.004}),
      world_(w),
      cluster_(servers),
      core_(settings(), w.random.bits())
{}

std::shared_ptr<store_simulation::byte_link> client::open(std::size_t member)
{
    const auto opened = std::make_shared<link>(world_, cluster_, member);
    cluster_.add(opened);
    return opened;
}

} // namespace holdfast::etcd_simulation
