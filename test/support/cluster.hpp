#pragma once

#include "support/redis_server.hpp"
#include "support/run.hpp"

#include <holdfast/holdfast.hpp>

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::test {

/// Real nodes. Tests can change them without the library.
class cluster {
public:
    explicit cluster(std::size_t count, const std::vector<std::string>& arguments = {})
        : nodes(start_servers(count, arguments))
    {}

    std::size_t size() const { return nodes.size(); }
    std::size_t majority() const { return size() / 2 + 1; }

    /// With timeouts long enough for a busy machine; the tests do not measure speed.
    backend store(std::chrono::milliseconds node_timeout = 500ms) const
    {
        return store(node_timeout, {});
    }
    /// The same with fencing tokens.
    backend fenced_store(
        const fencing_options& fence, std::chrono::milliseconds node_timeout = 500ms) const
    {
        redlock_options options;
        options.fencing = fencing::on;
        options.fence = fence;
        return store(node_timeout, options);
    }
    backend store(std::chrono::milliseconds node_timeout, redlock_options options) const
    {
        options.node_timeout = node_timeout;
        options.reconnect_min = 20ms;
        options.reconnect_max = 200ms;
        return redlock(endpoints(nodes), options);
    }

    /// Runs a command on the first `count` nodes.
    void command(const std::vector<std::string>& words, std::size_t count)
    {
        for (std::size_t i = 0; i < count; ++i)
            nodes[i].command(words);
    }
    void command(const std::vector<std::string>& words) { command(words, size()); }

    /// The number of nodes on which the key exists.
    std::size_t copies(const std::string& key)
    {
        std::size_t found = 0;
        for (auto& node : nodes)
            found += node.command({"EXISTS", key}) == "1" ? 1u : 0u;
        return found;
    }

    /// The number of keys on a node, without the client records.
    std::size_t keys(std::size_t node)
    {
        return std::stoul(nodes[node].command({"EVAL",
            "local n=0 for _,k in ipairs(redis.call('keys','*')) do "
            "if not string.find(k,'^holdfast:client:') and not string.find(k,'^hf:c:') then "
            "n=n+1 end end return n",
            "0"}));
    }

    /// Waits until the key is on `expected` nodes, for up to `limit`. The library keeps running
    /// meanwhile.
    asio::awaitable<bool> have_copies(std::string key, std::size_t expected, steady::duration limit)
    {
        const auto deadline = steady::now() + limit;
        while (copies(key) != expected) {
            if (steady::now() > deadline)
                co_return false;
            co_await pause(5ms);
        }
        co_return true;
    }

    // Waits until every node has read everything from its other clients, and has noticed that they
    // are gone.
    void wait_until_alone()
    {
        const auto deadline = steady::now() + 5s;
        for (auto& node : nodes) {
            for (;;) {
                const std::string clients = node.command({"CLIENT", "LIST"});
                if (std::count(clients.begin(), clients.end(), '\n') <= 1)
                    break;
                BOOST_REQUIRE(steady::now() < deadline);
                std::this_thread::sleep_for(1ms);
            }
        }
    }

    /// Blocks until no node has a key. Returns false if one does after `limit`.
    bool empty_within(steady::duration limit)
    {
        // Earlier requests may not be read yet. A node that has answered twice since has read them,
        // so the ttl of their keys is running.
        command({"PING"});
        command({"PING"});
        const auto deadline = steady::now() + limit + clock_step;
        for (;;) {
            // Reads the clock first: a key found after the deadline existed at the deadline.
            const bool late = steady::now() > deadline;
            if (all_keys_gone())
                return true;
            if (late)
                return false;
            std::this_thread::sleep_for(5ms);
        }
    }

    std::vector<redis_server> nodes;

private:
    // Nodes count in whole milliseconds, and a key ends when its last one has passed.
    static constexpr auto clock_step = 2ms;

    bool all_keys_gone()
    {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (keys(i) != 0)
                return false;
        }
        return true;
    }
};

} // namespace holdfast::test
