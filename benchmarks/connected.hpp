#pragma once

#include <holdfast/locker.hpp>

#include <boost/asio/awaitable.hpp>

#include <string>

namespace benchmark {

// Acquires and releases `resource` until every node is connected, or for a limited number of times,
// so that the cost of the first connections is not measured.
boost::asio::awaitable<void> connected(holdfast::locker& locker, std::string resource);

} // namespace benchmark
