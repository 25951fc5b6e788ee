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
    std::size_t keys(std::size_t node) { return keys_beyond(node, -1ms); }

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

    /// Whether every key on every node ends by itself within `limit`. Precondition: nobody uses
    /// them any more, so no node has a key then.
    bool empty_within(steady::duration limit)
    {
        read_all_requests();
        return have_none_beyond(
            std::chrono::duration_cast<std::chrono::milliseconds>(limit), steady::duration(0));
    }

    /// Blocks until no node has a key. Returns false if one does after `limit`.
    bool wait_until_empty(steady::duration limit)
    {
        read_all_requests();
        return have_none_beyond(-1ms, limit);
    }

    std::vector<redis_server> nodes;

private:
    // Nodes count in whole milliseconds, and a key ends when its last one has passed.
    static constexpr auto clock_step = 2ms;

    // Earlier requests may not be read yet. A node that has answered twice since has read them, so
    // the ttl of their keys is running.
    void read_all_requests()
    {
        command({"PING"});
        command({"PING"});
    }

    // The number of keys that last for longer, or for ever. The client records are left out.
    std::size_t keys_beyond(std::size_t node, std::chrono::milliseconds left)
    {
        return std::stoul(nodes[node].command({"EVAL",
            "local n=0 for _,k in ipairs(redis.call('keys','*')) do "
            "if not string.find(k,'^holdfast:client:') and not string.find(k,'^hf:c:') then "
            "local left=redis.call('pttl',k) "
            "if left<0 or left>tonumber(ARGV[1]) then n=n+1 end end end return n",
            "0", std::to_string(left.count())}));
    }

    bool have_none_beyond(std::chrono::milliseconds left, steady::duration limit)
    {
        const auto deadline = steady::now() + limit + clock_step;
        for (;;) {
            // Reads the clock first: a key found after the deadline existed at the deadline.
            const bool late = steady::now() > deadline;
            std::size_t found = 0;
            for (std::size_t i = 0; i < nodes.size(); ++i)
                found += keys_beyond(i, left);
            if (found == 0)
                return true;
            if (late)
                return false;
            std::this_thread::sleep_for(5ms);
        }
    }
};

} // namespace holdfast::test
