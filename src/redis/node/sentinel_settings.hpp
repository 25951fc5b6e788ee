#pragma once

#include "core/connection.hpp"
#include "core/stream_layer.hpp"

#include <holdfast/endpoint.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::redis {

// One sentinel.
struct sentinel {
    core::address where;
    std::string name;                                        // the address as it may be logged
    std::shared_ptr<const core::stream_layer_factory> tls{}; // null: plain text
    std::function<credentials()> login{};                    // asked at each connection
};

// The sentinels that know the primary of a service.
struct sentinel_settings {
    std::vector<sentinel> sentinels;
    std::string service;
};

} // namespace holdfast::redis
