#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace holdfast::test {

/// Writes the log that a ZooKeeper server would have left in its data folder, if nodes of these
/// paths had seen so many creations of nodes under them. The server reads it when it starts, if
/// `snapshot.trust.empty=true` is in its configuration. Parents are not created.
void write_zookeeper_log(
    const std::string& folder, const std::map<std::string, std::int32_t>& creations);

} // namespace holdfast::test
