#pragma once

#include "core/connection.hpp"
#include "core/stream_layer.hpp"
#include "core/time.hpp"

#include <memory>
#include <string>
#include <vector>

namespace holdfast::etcd_store {

struct member_address {
    core::address where;
    std::string name; // for people
    bool secure = false;
};

// How the members of a cluster are reached. Shared by lockers, and never changed.
struct cluster_settings {
    std::vector<member_address> members;
    std::string user, password; // empty: no login
    std::shared_ptr<const core::stream_layer_factory> tls;
    core::duration connect_timeout{};
    core::duration reconnect_min{}, reconnect_max{};
};

} // namespace holdfast::etcd_store
