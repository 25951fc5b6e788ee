#include <holdfast/redlock.hpp>

#include <holdfast/stats.hpp>

#include "core/backend.hpp"
#include "support/printing.hpp"

#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using holdfast::endpoint;
using holdfast::redlock;
using holdfast::redlock_options;

BOOST_AUTO_TEST_SUITE(values_redlock)

namespace {

std::string objection(const std::vector<endpoint>& nodes, const redlock_options& options = {})
{
    try {
        redlock(nodes, options);
    } catch (const std::invalid_argument& refusal) {
        return refusal.what();
    }
    return {};
}

std::vector<endpoint> some_nodes(int count)
{
    std::vector<endpoint> nodes;
    for (int i = 1; i <= count; ++i)
        nodes.emplace_back("redis://:s3cret@127.0.0.1:" + std::to_string(7000 + i));
    return nodes;
}

} // namespace

// One to fifteen different servers are accepted, without any I/O.
BOOST_AUTO_TEST_CASE(good_nodes)
{
    BOOST_TEST(objection(some_nodes(1)) == "");
    BOOST_TEST(objection(some_nodes(15)) == "");
    BOOST_TEST(objection({"unix:///a", "unix:///b", "redis://a", "redis://a:1"}) == "");
    const auto core = redlock(some_nodes(3)).factory().make(1);
    BOOST_TEST(core->connections().size() == 3u);
    BOOST_TEST(core->nodes().stats()[1].address == "127.0.0.1:7002");
}

// Invalid lists of nodes are refused. The message names the node.
BOOST_AUTO_TEST_CASE(bad_nodes)
{
    BOOST_TEST(objection({}).find("no nodes") != std::string::npos);
    BOOST_TEST(objection(some_nodes(16)).find("16 nodes") != std::string::npos);
    BOOST_TEST(
        objection({"redis://a:1", "redis://a:1"}).find("a:1 is listed twice") != std::string::npos);
    BOOST_TEST(objection({"redis://a/0", "redis://a/1"}).find("listed twice") != std::string::npos);
    BOOST_TEST(
        objection({"unix:///a", "unix:///a"}).find("/a is listed twice") != std::string::npos);
    BOOST_TEST(objection({"rediss://a"}).find("redlock_options::tls") != std::string::npos);
    const std::vector<endpoint> twice{"redis://:s3cret@a", "redis://:s3cret@a"};
    BOOST_TEST(objection(twice).find("s3cret") == std::string::npos);
}

// Every setting out of its range is refused, and the message names it.
BOOST_AUTO_TEST_CASE(bad_options)
{
    const struct {
        redlock_options options;
        const char* names;
    } table[] = {
        {{.fencing = static_cast<holdfast::fencing>(2)}, "fencing"},
        {{.fence = {.quarantine = 999ms}}, "fence.quarantine is 999 ms"},
        {{.fence = {.quarantine = 25h + 1ms}}, "fence.quarantine"},
        {{.fence = {.ahead = 9ms}}, "fence.ahead is 9 ms"},
        {{.fence = {.quarantine = 25h, .ahead = 1h + 1ms}}, "fence.ahead"},
        {{.fence = {.quarantine = 1999ms}}, "fence.ahead is 1000 ms; it must be at most half"},
        {{.fencing = holdfast::fencing::on, .allow_eviction = true}, "allow_eviction"},
        {{.node_timeout = 0ms}, "node_timeout is 0 ms"},
        {{.node_timeout = 60'001ms}, "node_timeout is 60001 ms"},
        {{.connect_timeout = 0ms}, "connect_timeout is 0 ms"},
        {{.connect_timeout = 60'001ms}, "connect_timeout"},
        {{.silence_timeout = 99ms}, "silence_timeout is 99 ms"},
        {{.silence_timeout = 1h + 1ms}, "silence_timeout"},
        {{.reconnect_min = 0ms}, "reconnect_min is 0 ms"},
        {{.reconnect_min = 1h + 1ms, .reconnect_max = 2h}, "reconnect_min"},
        {{.reconnect_min = 60ms, .reconnect_max = 59ms}, "reconnect_max is 59 ms"},
        {{.max_requests = 15}, "max_requests"},
        {{.max_bytes = 65'535}, "max_bytes"},
        {{.client_name = "two words"}, "client_name"},
        {{.client_name = "line\nbreak"}, "client_name"},
        {{.client_name = std::string(65, 'x')}, "client_name"},
    };
    for (const auto& row : table)
        BOOST_TEST(
            objection(some_nodes(3), row.options).find(row.names) != std::string::npos, row.names);
    BOOST_TEST(objection(some_nodes(3), {.client_name = ""}) == "");
    BOOST_TEST(objection(some_nodes(3), {.fencing = holdfast::fencing::on}) == "");
    BOOST_TEST(objection(some_nodes(3), {.fence = {.quarantine = 2s, .ahead = 1s}}) == "");
}

// A node that has forgotten a lease does not count until the lease has ended.
BOOST_AUTO_TEST_CASE(the_longest_ttl_with_fencing)
{
    const redlock_options usual{.fencing = holdfast::fencing::on},
        longer{.fencing = holdfast::fencing::on, .fence = {.quarantine = 25h, .ahead = 1h}};
    BOOST_TEST(redlock(some_nodes(3), usual).factory().make(1)->about().longest_ttl == 60s);
    BOOST_TEST(redlock(some_nodes(3), longer).factory().make(1)->about().longest_ttl == 25h);
}

// The reasons of all nodes are joined in one line. Nodes without a reason are omitted.
BOOST_AUTO_TEST_CASE(reasons_in_one_line)
{
    holdfast::locker_stats stats;
    BOOST_TEST(describe_nodes(stats) == "");
    stats.nodes.resize(3);
    stats.nodes[0].address = "a:1";
    stats.nodes[0].last_error = holdfast::errc::no_reply;
    stats.nodes[2].address = "c:3";
    stats.nodes[2].last_error = holdfast::errc::node_error;
    stats.nodes[2].reason = "OOM";
    BOOST_TEST(describe_nodes(stats) == "a:1: a node did not answer in time; c:3: OOM");
}

BOOST_AUTO_TEST_SUITE_END()
