#pragma once

#include <holdfast/locker.hpp>

#include <boost/asio/awaitable.hpp>

#include <string>

namespace benchmark {

// Acquires and releases `resource` until every node is connected, or is not going to be: what the
// first connections take is not to be measured.
boost::asio::awaitable<void> connected(holdfast::locker& locker, std::string resource);

} // namespace benchmark
