#pragma once

#include "support/call.hpp"
#include "support/run.hpp"
#include "support/zookeeper_client.hpp"
#include "support/zookeeper_servers.hpp"

#include <holdfast/zookeeper.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

inline backend store_in(const zookeeper_servers& servers, zookeeper_options options = {})
{
    options.reconnect_max = 200ms;
    return zookeeper(servers.url(), std::move(options));
}

/// The nodes of holders and waiters of a resource whose name needs no escape.
inline std::vector<std::string> nodes_of(
    const zookeeper_servers& servers, const std::string& resource, std::size_t server = 0)
{
    return zookeeper_client(servers.port(server)).children("/holdfast/" + resource);
}

/// A lock in which many can try to be at once, to see that none is.
struct critical_section {
    int inside = 0, passed = 0;
    std::uint64_t last_token = 0;

    task pass(holdfast::lock lock, int times, steady::duration work = 1ms)
    {
        for (int i = 0; i < times; ++i) {
            lease held = co_await lock.acquire(forever);
            BOOST_TEST(inside == 0);
            ++inside;
            BOOST_TEST(held.fence().value_or(0) > last_token);
            last_token = held.fence().value_or(0);
            co_await pause(work);
            BOOST_TEST(held.held());
            --inside;
            ++passed;
            co_await held.release();
        }
    }
};

inline lock_options lasting(std::chrono::milliseconds ttl)
{
    lock_options options;
    options.ttl = ttl;
    return options;
}

} // namespace holdfast::test
