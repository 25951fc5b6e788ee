#pragma once

#include "core/connection.hpp"
#include "core/stream_layer.hpp"
#include "core/time.hpp"
#include "redis/node/sentinel_settings.hpp"

#include <holdfast/endpoint.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace holdfast::redis {

// The settings of a session with a node; from `endpoint` and `redlock_options`.
struct node_settings {
    core::address where; // empty if `sentinels` know it, or the cluster
    std::string name;    // as it may be logged
    std::shared_ptr<const sentinel_settings> sentinels{};    // null: the address is `where`
    std::shared_ptr<const core::stream_layer_factory> tls{}; // null: plain text
    std::string user, password;
    // If given, asked for them at each connection, with the address.
    std::function<credentials(const core::address&)> login{};
    std::string client_name;
    std::string channel{};    // on which we are told of our turn; empty: not at all
    std::string unused_key{}; // a key of no client, to try commands on; empty: none is tried
    unsigned database = 0;
    bool fenced = false; // asked for fencing tokens
    bool eviction_allowed = false;
    bool in_cluster = false; // a primary of a cluster, whose address the owner tells
    // The same, for slots that are on their way to it: each request is announced by ASKING, and it
    // keeps no queue, whose key may still be elsewhere.
    bool asking = false;
    core::duration connect_timeout{};
    core::duration silence_timeout{};
    core::duration reconnect_min{}, reconnect_max{};
    std::size_t max_requests = 0;
    std::size_t max_bytes = 0;
};

} // namespace holdfast::redis
