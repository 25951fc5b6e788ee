// Rows 19 and 25: servers that are not independent primaries, or that evict keys.
#include "integration/acceptance/acceptance.hpp"
#include "support/child_process.hpp"

#include <cstdio>
#include <fstream>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(acceptance_server_roles)

task expect_never_counted(scene& s, std::string address, std::string cause)
{
    const error_code why = co_await fail_to_acquire(s.lock(0), 1s);
    BOOST_TEST(why == errc::unreachable, why.message());
    expect_blamed(s.locker().stats(), address, cause);
    for (const node_stats& node : s.locker().stats().nodes)
        BOOST_TEST((node.address != address || node.commands == 0u)); // no request was sent to it
}

task expect_misconfigured(scene& s, std::string address, std::string cause)
{
    const error_code why = co_await fail_at_once(s.lock(0));
    BOOST_TEST(why == errc::misconfigured_node, why.message());
    expect_blamed(s.locker().stats(), address, cause);
}

// Used alone, the server does not count. Together with one healthy node and one that is down, it
// makes no majority. A majority works without it.
void expect_no_node(const std::string& url, const std::string& cause)
{
    cluster c(2);
    const auto address = endpoint(url).address();
    play(redlock({url}, quick_options()), 1,
        [&](scene& s) { return expect_misconfigured(s, address, cause); });
    const std::vector<endpoint> three{url, c.nodes[0].url(), c.nodes[1].url()};
    play(redlock(three, quick_options()), 2, acquire_beside_a_fault);
    c.nodes[1].kill();
    play(redlock(three, quick_options()), 1,
        [&](scene& s) { return expect_never_counted(s, address, cause); });
    BOOST_TEST(c.nodes[0].command({"DBSIZE"}) == "0");
}

BOOST_AUTO_TEST_CASE(row_19_a_replica)
{
    redis_server primary, replica;
    replica.command({"REPLICAOF", "127.0.0.1", std::to_string(primary.port())});
    expect_no_node(replica.url(), "not a primary");
    BOOST_TEST(primary.command({"DBSIZE"}) == "0");
}

BOOST_AUTO_TEST_CASE(row_19_a_cluster_node)
{
    redis_server node({"--cluster-enabled", "yes"});
    expect_no_node(node.url(), "member of a cluster");
}

BOOST_AUTO_TEST_CASE(row_19_a_sentinel)
{
    redis_server place; // only for its port and its directory
    const auto directory = place.command({"CONFIG", "GET", "dir"}).substr(4); // after "dir\n"
    const auto settings = directory + "/sentinel.conf";
    std::ofstream(settings) << "port " << place.port() << "\nbind 127.0.0.1\ndir " << directory
                            << "\n";
    place.kill();
    child_process sentinel({"redis-server", settings, "--sentinel"});
    for (std::string line; line.find("Sentinel ID is") == line.npos;) {
        line = sentinel.read_line();
        BOOST_REQUIRE(!line.empty());
    }
    expect_no_node(place.url(), "a sentinel");
}

task turn_into_a_replica(scene& s, cluster& c, std::string address)
{
    co_await connect_all(s.locker());
    co_await acquire_and_release(s.lock(0));
    c.nodes[1].command({"REPLICAOF", "127.0.0.1", std::to_string(c.nodes[0].port())});
    co_await expect_misconfigured(s, address, "");
}

BOOST_AUTO_TEST_CASE(row_19_a_node_that_becomes_a_replica)
{
    cluster c(2);
    play(c.store(), 1, [&](scene& s) { return turn_into_a_replica(s, c, address_of(c.nodes[1])); });
}

const std::vector<std::string> evicting{"--maxmemory", "100mb", "--maxmemory-policy"};

// A lock is a key with a ttl: with such a policy it is among the first to be evicted when memory is
// short.
BOOST_AUTO_TEST_CASE(row_25_a_node_that_evicts_keys)
{
    for (const std::string policy : {"volatile-ttl", "allkeys-lru"}) {
        auto arguments = evicting;
        arguments.push_back(policy);
        redis_server node(arguments);
        expect_no_node(node.url(), policy);
    }
}

BOOST_AUTO_TEST_CASE(row_25_a_policy_without_a_limit_evicts_nothing)
{
    cluster c(3, {"--maxmemory-policy", "allkeys-lru"});
    play(c.store(), 2, acquire_beside_a_fault);
}

task lose_to_eviction(scene& s, cluster& c)
{
    const auto options = with_ttl(3s);
    co_await connect_all(s.locker());
    lease held = co_await s.lock(0, options).acquire();
    const bool everywhere = co_await c.have_copies(s.resource, 3, 5s);
    BOOST_TEST(everywhere);

    c.nodes[0].command({"CONFIG", "SET", "maxmemory-policy", "volatile-ttl", "maxmemory", "1"});
    const auto renewals = s.locker().stats().renewals;
    const bool goes_on =
        co_await becomes_true([&] { return s.locker().stats().renewals >= renewals + 2; });
    BOOST_TEST(goes_on);
    BOOST_TEST(held.held()); // two of three still have it
    BOOST_TEST(!has_key(c.nodes[0], s.resource));

    c.nodes[1].command({"CONFIG", "SET", "maxmemory-policy", "volatile-ttl", "maxmemory", "1"});
    const auto evicted = steady::now();
    auto [ec] = co_await held.lost(no_throw);
    BOOST_TEST(ec == errc::lease_lost, ec.message());
    BOOST_TEST((steady::now() < evicted + options.ttl)); // noticed by the next renewal
    BOOST_TEST(!held.held());
}

BOOST_AUTO_TEST_CASE(row_25_eviction_that_comes_later_ends_the_lease)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return lose_to_eviction(s, c); });
    BOOST_TEST(c.empty_within(3s));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
