#pragma once

#include "zookeeper/server_settings.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::zookeeper_store {

struct store_address {
    std::vector<server_address> servers;
    std::string root; // without a slash at the end
    bool secure = false;
};

// Throws std::invalid_argument.
store_address parse_url(std::string_view url);

// One entry of `zookeeper_options::acl`. Throws std::invalid_argument.
wire::access parse_access(std::string_view text);

} // namespace holdfast::zookeeper_store
