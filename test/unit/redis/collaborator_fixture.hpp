#pragma once

#include "redis/claim/claim_table.hpp"
#include "redis/dialect/plain_dialect.hpp"
#include "redis/pool/node_pool.hpp"
#include "support/model_node.hpp"
#include "support/printing.hpp"
#include "support/times.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace holdfast::test {

// The environment of one collaborator of the Redlock core: connected nodes of a modelled server,
// the plain dialect, and a table of claims. The test takes the place of the core and delivers
// replies to the collaborator. Time stands still unless the test moves it.
struct collaborator_fixture : redis::session_owner {
    explicit collaborator_fixture(std::size_t count = 3)
        : pool(settings(count), std::nullopt, *this, jitter)
    {
        for (std::size_t i = 0; i < count; ++i)
            nodes.emplace_back("node" + std::to_string(i));
        run();
        for (model_node& n : nodes)
            n.commands();
    }

    static std::vector<redis::node_settings> settings(std::size_t count)
    {
        using namespace std::chrono_literals;
        std::vector<redis::node_settings> all;
        for (std::size_t i = 0; i < count; ++i) {
            const std::string name = "node" + std::to_string(i);
            all.push_back({.where = {.host = name, .port = 6379, .path = {}},
                .name = name,
                .user = {},
                .password = {},
                .client_name = {},
                .channel = "holdfast:0123456789abcdef0123456789abcdef",
                .connect_timeout = 2s,
                .silence_timeout = 10s,
                .reconnect_min = 50ms,
                .reconnect_max = 2s,
                .max_requests = 1000,
                .max_bytes = 1024 * 1024});
        }
        return all;
    }

    // Serves all nodes until nothing more happens at this time.
    void run()
    {
        for (bool changed = true; changed;) {
            changed = false;
            while (pool.wake_at() <= now) {
                pool.wake(now);
                changed = true;
            }
            for (std::size_t i = 0; i < nodes.size(); ++i)
                changed = nodes[i].serve(*pool.connections()[i], now) || changed;
        }
    }

    core::claim_id begin(char token, redis::claim_stage stage = redis::claim_stage::asking)
    {
        core::owner_token t;
        t.text.fill(token);
        const core::claim_id id = claims.all.take();
        claims[id].begin(7, "A", t, {.ttl = std::chrono::seconds(10)}, nodes.size());
        claims[id].stage = stage;
        return id;
    }

    // Another client has the key on a node.
    void take(std::size_t node, const std::string& token)
    {
        nodes[node].command({"SET", "A", token, "PX", "8000"}, now);
    }

    std::string admit(std::size_t) override { return {}; }
    void on_ready(std::size_t, core::time_point) override {}
    void on_push(std::size_t, redis::reply, core::time_point) override {}
    void on_reply(
        std::size_t node, const redis::request& r, redis::reply answer, core::time_point) override
    {
        if (handle)
            handle(node, r, answer);
    }
    bool say_again(std::size_t, const redis::request&, core::time_point) override { return false; }
    void on_sent_late(std::size_t, const redis::request&, core::time_point) override {}
    void on_orphaned(std::size_t, const redis::request&, core::time_point) override {}
    void on_down(std::size_t, core::time_point) override {}

    std::function<void(std::size_t, const redis::request&, redis::reply)> handle;
    core::time_point now = start;
    core::jitter jitter{1};
    std::vector<model_node> nodes;
    redis::node_pool pool;
    redis::plain_dialect dialect{"holdfast:0123456789abcdef0123456789abcdef"};
    redis::claim_table claims;
};

} // namespace holdfast::test
