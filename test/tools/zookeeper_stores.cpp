#include "tools/store_cases.hpp"

#ifdef HOLDFAST_WITH_ZOOKEEPER_SERVERS
#include "support/zookeeper_servers.hpp"
#endif

#include <boost/test/unit_test.hpp>

#include <string>

namespace {

using namespace holdfast::test;

} // namespace

BOOST_AUTO_TEST_SUITE(cli_stores_in_zookeeper)

BOOST_AUTO_TEST_CASE(bad_stores_in_zookeeper)
{
    const std::string store = "zookeeper://127.0.0.1:1,127.0.0.1:2/locks";
#ifdef HOLDFAST_WITH_ZOOKEEPER
    run_complains({"--store", store, "--fenced"}, "fencing tokens");
    run_complains({"--store", store, "--first-deployment"}, "for Redis");
    run_complains({"--store", store, "--sentinel", "s"}, "for Redis");
    run_complains({"--store", store, "--prefix", "p"}, "path of the URL");
    run_complains({"--store", store, "--table", "t"}, "--table");
    run_complains({"--store", store, "--store", store}, "one URI");
    run_complains({"--store", "zookeeper://h,h/locks"}, "twice");
    run_complains({"--store", "zookeeper://h:0/locks"}, "port");
    run_complains({"--store", "zookeeper://h/locks/../other"}, "..");
    run_complains({"--store", store, "--user", "u"}, "needs a password");
    run_complains({"--store", store}, "--user", {std::string("HOLDFAST_PASSWORD=") + secret});
    run_complains({}, "--user", {std::string("HOLDFAST_STORE=zookeeper://u:") + secret + "@h/l"});
    run_complains({"--store", store, "--acl", "world"}, "scheme:id:permissions");
    run_complains({"--store", store, "--acl", "auth::cdrwa"}, "auth");
    run_complains({"--store", "redis://h", "--acl", "world:anyone:r"}, "for ZooKeeper");
    complains({"release", "--force", "--yes", "--store", store, "job"}, "stop the holder");
    complains({"inspect", "--store", store, "job"}, "127.0.0.1:2");
#ifdef HOLDFAST_WITH_TLS
    run_complains({"--store", store, "--ca-file", "ca.pem"}, "zookeepers");
    run_complains({"--store", "zookeepers://h", "--ca-file", "/nowhere/ca.pem"}, "/nowhere/ca.pem");
#endif
#else
    run_complains({"--store", store}, "without ZooKeeper");
    complains({"ping", "--store", store}, "without ZooKeeper");
#endif
}

#ifdef HOLDFAST_WITH_ZOOKEEPER_SERVERS
BOOST_AUTO_TEST_CASE(a_store_in_zookeeper)
{
    const zookeeper_servers server({.tick_ms = 2000}); // sessions last up to 40 s
    const std::string store = "HOLDFAST_STORE=" + server.url("/locks");
    const words job{"run", "nightly", "--", "sh", "-c", "echo token $HOLDFAST_TOKEN"};
    const auto run = run_cli(job, {store});
    BOOST_TEST(run.status == 0, run.output);
    BOOST_TEST_REQUIRE(run.output.starts_with("token "), run.output);
    BOOST_TEST(std::stoull(run.output.substr(6)) > 0);
    // The next server is used if the first one cannot be reached.
    const auto other = run_cli(
        job, {"HOLDFAST_STORE=zookeeper://127.0.0.1:1,127.0.0.1:" + std::to_string(server.port())});
    BOOST_TEST(other.status == 0, other.output);
    // Times that the servers do not grant to a session.
    for (const std::string ttl : {"1s", "10m"}) {
        const auto odd = run_cli({"run", "--ttl", ttl, "nightly", "--", "true"}, {store});
        BOOST_TEST(odd.status == 0, odd.output);
    }
}

BOOST_AUTO_TEST_CASE(nodes_in_zookeeper_are_for_those_who_are_named)
{
    const zookeeper_servers server({.tick_ms = 2000}); // sessions last up to 40 s
    const words variables{
        "HOLDFAST_STORE=" + server.url("/locks"), std::string("HOLDFAST_PASSWORD=") + secret};
    const words job{"--user", "app", "--acl", "auth::cdrwa", "run", "job", "--", "true"};
    const auto first = run_cli(job, variables);
    BOOST_TEST(first.status == 0, first.output);
    BOOST_TEST(run_cli(job, variables).status == 0);
    const auto stranger = run_cli({"run", "job", "--", "true"}, {variables.front()});
    BOOST_TEST(stranger.status == 125);
    BOOST_TEST(has(stranger.output, "forbid"), stranger.output);
}

BOOST_AUTO_TEST_CASE(locks_in_zookeeper_are_shown)
{
    const zookeeper_servers server({.tick_ms = 2000}); // sessions last up to 40 s
    const words variables{"HOLDFAST_STORE=" + server.url("/locks")};
    expect_free(variables);
    child_process holder = hold("jobs/nightly", variables);
    expect_held(variables,
        {"process " + std::to_string(holder.pid()) + " (holdfast)", "holdfast-cli", "token"});
    const auto excluded = run_cli({"run", "--try", "jobs/nightly", "--", "true"}, variables);
    BOOST_TEST(excluded.status == 124, excluded.output);
}

BOOST_AUTO_TEST_CASE(servers_of_zookeeper_are_pinged)
{
    zookeeper_servers servers({.servers = 3});
    const words variables{"HOLDFAST_STORE=" + servers.url("/locks")};
    ping_three(servers, variables);
}
#endif

BOOST_AUTO_TEST_SUITE_END()
