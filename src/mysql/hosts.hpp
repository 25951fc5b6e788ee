#pragma once

#include "core/address.hpp"

#include <string>
#include <vector>

namespace holdfast::mysql_store {

// One of the servers.
struct server_address {
    core::address where;
    std::string name; // for people
};

// Throws `std::invalid_argument`.
std::vector<server_address> parse_hosts(const std::vector<std::string>& hosts);

} // namespace holdfast::mysql_store
