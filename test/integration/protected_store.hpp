#pragma once

#include "support/cluster.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::test {

// A real server that stores the data that a lock protects.
struct protected_store {
    static inline const std::string fence = "stock:A:fence", stock = "stock:A";

    redis_server server;

    std::string send(const guarded_write& what) { return server.command(what.command()); }
    std::string get(std::uint64_t token) { return send(guarded_get(fence, token, stock)); }
    std::string set(std::uint64_t token, const std::string& value)
    {
        return send(guarded_set(fence, token, stock, value));
    }
    std::string take(std::uint64_t token, std::uint64_t amount)
    {
        return send(guarded_take(fence, token, stock, amount));
    }
    std::string value(const std::string& key) { return server.command({"GET", key}); }
    void put(const std::string& key, const std::string& text)
    {
        BOOST_REQUIRE(server.command({"SET", key, text}) == "OK");
    }

    // Everything that is stored, types and ttls included.
    std::string content()
    {
        std::string all;
        for (const auto& key : {fence, stock})
            all += server.command({"DUMP", key}) + server.command({"PTTL", key}) + '\n';
        return all + server.command({"DBSIZE"});
    }

    // Each kind of guarded write, with a token well below 1,000.
    std::vector<guarded_write> each(std::uint64_t token)
    {
        return {guarded_get(fence, token, stock), guarded_set(fence, token, stock, "7"),
            guarded_take(fence, token, stock, 1),
            guarded_run(fence, token, "return redis.call('set',KEYS[2],ARGV[2])", {stock}, {"7"})};
    }

    void expect_refusal(const guarded_write& what, const std::string& error)
    {
        const auto before = content();
        const auto reply = send(what);
        BOOST_TEST(reply.starts_with("(error) " + error), reply);
        BOOST_TEST((content() == before), "something was changed");
    }
};

} // namespace holdfast::test
