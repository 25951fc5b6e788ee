#include "tools/cli.hpp"

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

namespace {

using namespace holdfast::test;

} // namespace

BOOST_AUTO_TEST_SUITE(cli_ping)

BOOST_AUTO_TEST_CASE(the_status_tells_how_many_nodes_work)
{
    auto servers = start_servers(3);
    const words variables{store_of(servers)};
    const auto good = run_cli({"ping"}, variables);
    BOOST_TEST(good.status == 0);
    BOOST_TEST(good.output.find("3 of 3 nodes connected") != std::string::npos, good.output);
    BOOST_TEST(has(good.output, "(p99)"), good.output);
    BOOST_TEST(has(good.output, "a majority of independent nodes"), good.output);
    BOOST_TEST(good.output.find('\x1b') == std::string::npos); // no colours

    servers[1].kill();
    const auto some = run_cli({"ping"}, variables);
    BOOST_TEST(some.status == 1);
    BOOST_TEST(some.output.find("failed  Connection refused") != std::string::npos, some.output);

    servers[2].kill();
    BOOST_TEST(run_cli({"ping"}, variables).status == 2);
    BOOST_TEST(run_cli({"--quiet", "ping"}, variables).output.empty());
}

BOOST_AUTO_TEST_CASE(json)
{
    auto servers = start_servers(3);
    const words variables{store_of(servers)};
    servers[2].kill();
    const auto result = run_cli({"ping", "--json"}, variables);
    const auto whole = boost::json::parse(result.output).as_object();
    BOOST_TEST(whole.at("connected").as_int64() == 2);
    BOOST_TEST(whole.at("majority").as_int64() == 2);
    BOOST_TEST(whole.at("usable").as_bool());
    const auto& nodes = whole.at("nodes").as_array();
    BOOST_TEST_REQUIRE(nodes.size() == 3u);
    const auto& first = nodes[0].as_object();
    BOOST_TEST(
        ("redis://" + std::string(first.at("address").as_string().c_str())) == servers[0].url());
    BOOST_TEST(first.at("connected").as_bool());
    BOOST_TEST(first.at("connect_us").as_int64() > 0);
    BOOST_TEST(first.at("warning").is_null());
    const auto& last = nodes[2].as_object();
    BOOST_TEST(!last.at("connected").as_bool());
    BOOST_TEST(last.at("connect_us").is_null());
    BOOST_TEST(last.at("error").as_string() == "Connection refused");
    BOOST_TEST(whole.at("guarantee").as_string() == "majority");
    BOOST_TEST(!whole.at("store").as_string().empty());
    const auto& latency = first.at("latency_us").as_object();
    BOOST_TEST(latency.at("count").as_int64() == 5);
    BOOST_TEST(latency.at("p50").as_int64() <= latency.at("p99").as_int64());
    BOOST_TEST(first.at("errors").as_int64() == 0);
    BOOST_TEST(first.at("restarts").as_int64() == 0);
    BOOST_TEST(last.at("latency_us").is_null());
}

BOOST_AUTO_TEST_CASE(nodes_that_are_no_primaries)
{
    auto servers = start_servers(2);
    servers[1].command({"replicaof", "127.0.0.1", std::to_string(servers[0].port())});
    const auto result = run_cli({"ping"}, {store_of(servers)});
    BOOST_TEST(result.status == 2);
    BOOST_TEST(result.output.find("replica") != std::string::npos, result.output);
}

BOOST_AUTO_TEST_CASE(a_silent_node)
{
    auto servers = start_servers(1);
    servers[0].pause();
    const auto result = run_cli({"ping", "--timeout", "200ms"}, {store_of(servers)});
    servers[0].resume();
    BOOST_TEST(result.status == 2);
    BOOST_TEST(result.output.find("no answer in time") != std::string::npos, result.output);
}

BOOST_AUTO_TEST_SUITE_END()
