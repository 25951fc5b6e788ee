// A primary that real sentinels watch, or that stands alone behind its address.
#include "support/sentinels.hpp"

#include "support/redis_server.hpp"
#include "support/run.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(sentinels)

// Generous: busy machines.
constexpr auto patience = 45s;

template <class Condition>
void wait_for(const char* what, Condition condition)
{
    const auto deadline = steady::now() + patience;
    while (!condition()) {
        if (steady::now() > deadline)
            throw std::runtime_error(std::string("it takes too long until ") + what);
        std::this_thread::sleep_for(5ms);
    }
}

bool has(const std::string& text, std::string_view part)
{
    return text.find(part) != text.npos;
}

// Watches the primary for the name "mymaster".
std::vector<std::string> watching(const redis_server& primary, int quorum)
{
    return {"sentinel monitor mymaster 127.0.0.1 " + std::to_string(primary.port()) + " " +
                std::to_string(quorum),
        "sentinel down-after-milliseconds mymaster 2000",
        "sentinel failover-timeout mymaster 5000"};
}

sentinel_options quick_options()
{
    sentinel_options options;
    options.primary.node_timeout = 500ms;
    options.primary.connect_timeout = 1s;
    options.primary.reconnect_min = 20ms;
    options.primary.reconnect_max = 200ms;
    return options;
}

// A primary, its replica, and three sentinels that know all of them.
struct watched_pair {
    watched_pair()
    {
        for (int i = 0; i < 3; ++i) {
            sentinels.push_back(std::make_unique<redis_sentinel_server>(watching(primary, 2)));
            urls.emplace_back(sentinels.back()->url());
        }
        wait_for("the replica has the data", [&] {
            return has(replica.command({"INFO", "replication"}), "master_link_status:up");
        });
        for (const auto& each : sentinels)
            wait_for("the sentinels know each other and the replica", [&] {
                const std::string all = each->command({"SENTINEL", "MASTER", "mymaster"});
                return has(all, "num-slaves\n1\n") && has(all, "num-other-sentinels\n2\n");
            });
    }

    redis_server primary{{"--repl-diskless-sync-delay", "0"}};
    redis_server replica{{"--replicaof", "127.0.0.1 " + std::to_string(primary.port()),
        "--repl-diskless-sync-delay", "0"}};
    std::vector<std::unique_ptr<redis_sentinel_server>> sentinels;
    std::vector<endpoint> urls;
};

// A server closes the connections of its clients when it becomes the primary.
std::string copies(redis_server& server, const std::string& key)
{
    try {
        return server.command({"EXISTS", key});
    } catch (const std::runtime_error&) {
        return server.command({"EXISTS", key});
    }
}

task survive_a_crash(scene& s, watched_pair& servers)
{
    lock_options options;
    options.ttl = 1500ms; // less than it takes until the crash is noticed
    lease held = co_await s.lock(0, options).acquire(patience);
    BOOST_TEST(held.held());
    BOOST_TEST(has(s.locker().stats().nodes[0].address, std::to_string(servers.primary.port())));

    servers.primary.kill();
    auto [lost] = co_await held.lost(no_throw);
    BOOST_TEST(lost == errc::lease_lost, lost.message());

    options.ttl = 10s;
    lease next = co_await s.lock(0, options).acquire(patience);
    BOOST_TEST(next.held());
    const locker_stats stats = s.locker().stats();
    BOOST_TEST(stats.nodes[0].address ==
               "mymaster at 127.0.0.1:" + std::to_string(servers.replica.port()));
    BOOST_TEST(stats.nodes[0].connected);
    BOOST_TEST(copies(servers.replica, s.resource) == "1");
    const release_outcome outcome = co_await next.release();
    BOOST_TEST(outcome == release_outcome::released);
    BOOST_TEST(copies(servers.replica, s.resource) == "0");
}

// The primary dies: its lease is lost, and the next one is granted by the replica that took over.
BOOST_AUTO_TEST_CASE(primary_dies)
{
    watched_pair servers;
    play(redis_sentinel(servers.urls, "mymaster", quick_options()), 1,
        [&](scene& s) { return survive_a_crash(s, servers); });
}

task follow_a_switch(scene& s, watched_pair& servers)
{
    lock_options options;
    options.ttl = 30s;
    lease held = co_await s.lock(0, options).acquire(patience);
    const std::string number = std::to_string(servers.replica.port());
    wait_for("the replica has the key", [&] {
        return servers.replica.command({"EXISTS", s.resource}) == "1";
    });
    const std::string said = servers.sentinels[0]->command({"SENTINEL", "FAILOVER", "mymaster"});
    BOOST_TEST(said == "OK");
    const auto deadline = steady::now() + patience;
    const auto moved = [&] {
        const node_stats node = s.locker().stats().nodes[0];
        return node.connected && has(node.address, number);
    };
    while (!moved() && steady::now() < deadline)
        co_await pause(5ms);
    co_await held.extend(); // the new primary has the key
    BOOST_TEST(held.held());
    BOOST_TEST(moved());
    const release_outcome outcome = co_await held.release();
    BOOST_TEST(outcome == release_outcome::released);
}

// An operator switches to the replica: a lease whose key was replicated goes on. One sentinel is
// frozen all the time.
BOOST_AUTO_TEST_CASE(planned_switch)
{
    watched_pair servers;
    servers.sentinels[2]->pause();
    play(redis_sentinel(servers.urls, "mymaster", quick_options()), 1,
        [&](scene& s) { return follow_a_switch(s, servers); });
    servers.sentinels[2]->resume();
}

task fail_with(scene& s, errc expected, std::string_view reason)
{
    auto [ec, none] = co_await s.lock(0).acquire(patience, no_throw);
    BOOST_TEST(ec == expected, ec.message());
    BOOST_TEST(!none);
    const std::string said = describe_nodes(s.locker().stats());
    BOOST_TEST(has(said, reason), said);
    BOOST_TEST(!has(said, "s3cret"), said);
}

// Sentinels and the primary have logins of their own, and keys of ours a prefix. What is wrong for
// good fails at once.
BOOST_AUTO_TEST_CASE(logins)
{
    redis_server primary({"--requirepass", "primary-s3cret"});
    std::vector<std::string> lines = watching(primary, 1);
    lines.push_back("sentinel auth-pass mymaster primary-s3cret");
    lines.push_back("requirepass sentinel-s3cret");
    redis_sentinel_server sentinel(lines);
    primary.command({"AUTH", "primary-s3cret"});

    const std::string bare = sentinel.url();
    const std::string url = "redis://:sentinel-s3cret@" + bare.substr(8);
    sentinel_options options = quick_options();
    options.login.password = "primary-s3cret";
    options.primary.key_prefix = "shop:";
    play(redis_sentinel({url}, "mymaster", options), 1, [&](scene& s) -> task {
        lease held = co_await s.lock(0).acquire(patience);
        BOOST_TEST(primary.command({"EXISTS", "shop:" + s.resource}) == "1");
        BOOST_TEST(primary.command({"EXISTS", s.resource}) == "0");
        co_await held.release();
    });
    play(redis_sentinel({bare}, "mymaster", options), 1,
        [](scene& s) { return fail_with(s, errc::authentication_failed, "NOAUTH"); });
    play(redis_sentinel({"redis://:wrong-s3cret@" + bare.substr(8)}, "mymaster", options), 1,
        [](scene& s) {
            return fail_with(s, errc::authentication_failed, "refused the user name or password");
        });
    play(redis_sentinel({url}, "yours", options), 1, [](scene& s) {
        return fail_with(s, errc::misconfigured_node, "it knows no service yours");
    });
    play(redis_sentinel({"redis://:primary-s3cret@127.0.0.1:" + std::to_string(primary.port())},
             "mymaster", options),
        1, [](scene& s) { return fail_with(s, errc::misconfigured_node, "it is no sentinel"); });
    options.login.password = "wrong-s3cret";
    play(redis_sentinel({url}, "mymaster", options), 1,
        [](scene& s) { return fail_with(s, errc::authentication_failed, "WRONGPASS"); });
    options.login.password.clear();
    std::string asked;
    options.primary.credentials = [&asked](const endpoint& where) {
        asked = where.address();
        return credentials{.user = {}, .password = "primary-s3cret"};
    };
    play(redis_sentinel({url}, "mymaster", options), 1, [](scene& s) -> task {
        lease held = co_await s.lock(0).acquire(patience);
        co_await held.release();
    });
    BOOST_TEST(asked == "127.0.0.1:" + std::to_string(primary.port()));
}

// A primary at a fixed address may have replicas; a replica is refused.
BOOST_AUTO_TEST_CASE(fixed_primary)
{
    redis_server primary({"--repl-diskless-sync-delay", "0"});
    redis_server replica({"--replicaof", "127.0.0.1 " + std::to_string(primary.port())});
    wait_for("the replica has the data", [&] {
        return has(replica.command({"INFO", "replication"}), "master_link_status:up");
    });
    play(redis_primary(primary.url()), 2, [&](scene& s) -> task {
        lease held = co_await s.lock(0).acquire(patience);
        lease none = co_await s.lock(1).try_acquire();
        BOOST_TEST(!none);
        wait_for("the replica has the key", [&] {
            return replica.command({"EXISTS", s.resource}) == "1";
        });
        co_await held.release();
        BOOST_TEST((s.locker().stats().guarantee == guarantee::primary));
        BOOST_TEST(has(s.locker().stats().store, "redis primary 127.0.0.1:"));
    });
    play(redis_primary(replica.url()), 1, [](scene& s) {
        return fail_with(s, errc::misconfigured_node, "the node is a replica, not a primary");
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
