#pragma once

#include "core/connection.hpp"
#include "core/stream_layer.hpp"
#include "core/time.hpp"
#include "zookeeper/wire/messages.hpp"

#include <memory>
#include <string>
#include <vector>

namespace holdfast::zookeeper_store {

struct server_address {
    core::address where;
    std::string name; // for people
};

// How the servers of an ensemble are reached. Shared by lockers, and never changed.
struct ensemble_settings {
    std::vector<server_address> servers;
    std::string user, password;                            // empty: no login
    std::shared_ptr<const core::stream_layer_factory> tls; // null: plain text
    core::duration session_timeout{};                      // that is asked for
    core::duration connect_timeout{};
    core::duration reconnect_min{}, reconnect_max{};
};

struct lock_settings {
    ensemble_settings ensemble;
    std::string root; // of the locks, without a slash at the end; empty: the root of the servers
    std::vector<wire::access> rights; // of the nodes that are created
    std::string client_name;
    core::duration request_timeout{}; // 0: from the session's timeout
};

} // namespace holdfast::zookeeper_store
