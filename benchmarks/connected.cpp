#include "connected.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace benchmark {
namespace {

namespace asio = boost::asio;

bool all_connected(const holdfast::locker_stats& stats)
{
    return std::all_of(stats.nodes.begin(), stats.nodes.end(),
        [](const holdfast::node_stats& node) { return node.connected; });
}

} // namespace

asio::awaitable<void> connected(holdfast::locker& locker, std::string resource)
{
    const holdfast::lock lock(locker, std::move(resource));
    asio::steady_timer timer(locker.get_executor());
    for (int i = 0; i < 50; ++i) {
        holdfast::lease lease = co_await lock.acquire();
        co_await lease.release();
        if (all_connected(locker.stats()))
            break;
        timer.expires_after(std::chrono::milliseconds(10));
        co_await timer.async_wait(asio::use_awaitable);
    }
}

} // namespace benchmark
