#pragma once

#include "support/call.hpp"
#include "support/etcd_cluster.hpp"
#include "support/run.hpp"

#include <holdfast/etcd.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

namespace holdfast::test {

inline backend store_in(const etcd_cluster& servers, etcd_options options = {})
{
    options.reconnect_max = 200ms;
    return etcd(servers.urls(), std::move(options));
}

/// The keys that begin with `prefix`, one a line.
inline std::string keys_in(const etcd_cluster& servers, const std::string& prefix = "")
{
    if (prefix.empty())
        return servers.ctl({"get", "", "--from-key", "--keys-only"});
    return servers.ctl({"get", prefix, "--prefix", "--keys-only"});
}

/// The number of holders and waiters of a resource whose name has no "/".
inline std::ptrdiff_t keys_of(const etcd_cluster& servers, const std::string& resource)
{
    const std::string keys = keys_in(servers, resource + "/");
    return std::count(keys.begin(), keys.end(), '/');
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

} // namespace holdfast::test
