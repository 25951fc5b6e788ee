#pragma once

#include <holdfast/redlock.hpp>

#include <string>
#include <vector>

namespace benchmark {

// The store at these URLs: independent Redis nodes, with these options; or members of an etcd
// cluster (http://…), a ZooKeeper ensemble (zookeeper://…), or a database of PostgreSQL
// (postgresql://…) or MariaDB (mysql://…), which have no options here. Throws
// `std::invalid_argument` if the program was built without that store.
holdfast::backend store_at(
    const std::vector<std::string>& urls, holdfast::redlock_options options = {});

bool is_redis(const std::vector<std::string>& urls);

} // namespace benchmark
