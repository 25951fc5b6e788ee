#pragma once

#include "core/connection.hpp"

#include <string>
#include <utility>
#include <vector>

namespace holdfast::postgresql_store {

// One of the servers of a connection string.
struct server_address {
    core::address where; // the path only says that it is a unix socket
    std::string host, port;
    std::string name; // for people
};

struct connection_string {
    std::vector<server_address> servers;
    std::vector<std::pair<std::string, std::string>> others; // parameters, the password among them
};

// Throws `std::invalid_argument`, which contains no part of the text.
connection_string parse_conninfo(const std::string& text);

} // namespace holdfast::postgresql_store
