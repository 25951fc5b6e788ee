// What a locker on real nodes measures, and what it tells its observers.
#include "support/call.hpp"
#include "support/cluster.hpp"
#include "support/recording_tracer.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(observers)

using kind = event::type;

std::string address(const redis_server& node)
{
    return "127.0.0.1:" + std::to_string(node.port());
}

struct event_log {
    std::vector<event> all;

    locker_options options()
    {
        return {.on_event = [this](const event& e) { all.push_back(e); },
            .event_level = event_level::info};
    }
    std::size_t count(kind wanted, const std::string& node = {}) const
    {
        return static_cast<std::size_t>(std::count_if(all.begin(), all.end(),
            [&](const event& e) { return e.kind == wanted && (node.empty() || e.node == node); }));
    }
    const event& last(kind wanted) const
    {
        const auto found = std::find_if(
            all.rbegin(), all.rend(), [wanted](const event& e) { return e.kind == wanted; });
        BOOST_REQUIRE((found != all.rend()));
        return *found;
    }
};

fencing_options new_nodes()
{
    fencing_options fence;
    fence.first_deployment = true;
    return fence;
}

BOOST_AUTO_TEST_CASE(a_node_that_is_restarted)
{
    cluster c(3);
    event_log log;
    scene s(c.store(), 1, log.options());
    const std::string victim = address(c.nodes[1]);
    run_until(s.io, [&] { return log.count(kind::node_up) == 3; });
    c.nodes[1].kill();
    run_until(s.io, [&] { return log.count(kind::node_down, victim) > 0; });
    BOOST_TEST((log.last(kind::node_down).level == event_level::warning));
    BOOST_TEST((log.last(kind::node_down).error != error_code()));
    c.nodes[1].restart();
    run_until(s.io, [&] { return log.count(kind::node_up, victim) == 2; });
    BOOST_TEST((log.last(kind::node_up).level == event_level::warning));
    BOOST_TEST(log.last(kind::node_up).text.find("restarted") != std::string::npos);
    const locker_stats seen = s.locker().stats();
    BOOST_TEST(seen.nodes[0].restarts == 0u);
    BOOST_TEST(seen.nodes[1].restarts == 1u);
    s.finish();
    BOOST_TEST(log.count(kind::node_down) == log.count(kind::node_down, victim));
    BOOST_TEST(log.count(kind::closing) == 1u);
}

BOOST_AUTO_TEST_CASE(a_wrong_password_is_an_error_without_the_password)
{
    cluster c(1, {"--requirepass", "right-s3cret"});
    event_log log;
    const std::string url = "redis://:wrong-s3cret@" + address(c.nodes[0]);
    scene s(redlock({url}), 1, log.options());
    run_until(s.io, [&] { return log.count(kind::node_down) > 0; });
    const event& down = log.last(kind::node_down);
    BOOST_TEST((down.level == event_level::error));
    BOOST_TEST((down.error == errc::authentication_failed));
    BOOST_TEST(describe(down).find("s3cret") == std::string::npos);
    s.finish();
}

BOOST_AUTO_TEST_CASE(a_quarantine_is_an_event)
{
    cluster c(3);
    event_log log;
    {
        scene first(c.fenced_store(new_nodes()));
        call<lease> wait;
        first.lock(0).acquire(wait.token());
        run_until(first.io, [&] { return wait.done(); });
        wait.result<lease>() = lease();
        first.finish();
    }
    scene s(c.fenced_store({}), 1, log.options());
    run_until(s.io, [&] { return log.count(kind::node_up) == 3; });
    c.nodes[2].kill();
    c.nodes[2].restart();
    const std::string victim = address(c.nodes[2]);
    run_until(s.io, [&] { return log.count(kind::node_quarantined, victim) == 1; });
    BOOST_TEST((log.last(kind::node_quarantined).error == errc::fencing_unavailable));
    s.finish();
}

task acquire_and_release(scene& s, std::size_t times)
{
    for (std::size_t i = 0; i < times; ++i) {
        lease held = co_await s.lock(0).acquire();
        co_await held.release();
    }
}

BOOST_AUTO_TEST_CASE(durations_and_errors_of_nodes)
{
    cluster c(3);
    constexpr std::size_t times = 20;
    scene s(c.store());
    c.nodes[2].command({"CONFIG", "SET", "maxmemory", "1"}); // refuses writes
    run_until(s.io, [&] {
        const auto nodes = s.locker().stats().nodes;
        return std::all_of(
            nodes.begin(), nodes.end(), [](const node_stats& node) { return node.connected; });
    });
    const auto begin = steady::now();
    run(s.io, acquire_and_release(s, times));
    const auto took = steady::now() - begin;
    run_until(s.io, [&] { // a majority was enough for the leases: the last replies come later
        const auto nodes = s.locker().stats().nodes;
        return nodes[0].latency.count() >= 2 * times && nodes[2].errors >= times;
    });
    const locker_stats seen = s.locker().stats();
    for (const histogram& each : {seen.queue_wait, seen.quorum_time, seen.hold_time}) {
        BOOST_TEST(each.count() == times);
        BOOST_TEST((each.sum() > 0ns && each.sum() <= took));
    }
    BOOST_TEST(seen.validity_left.count() == times);
    BOOST_TEST((seen.validity_left.quantile(0.5) > 5s)); // of a ttl of 10 s
    BOOST_TEST(seen.nodes[0].errors == 0u);
    s.finish();
}

std::size_t votes(const recording_tracer::record& span, const std::string& start)
{
    return static_cast<std::size_t>(std::count_if(span.events.begin(), span.events.end(),
        [&](const std::string& e) { return e.starts_with(start); }));
}

BOOST_AUTO_TEST_CASE(the_votes_of_nodes_are_in_the_span)
{
    cluster c(3);
    const auto tracer = std::make_shared<recording_tracer>();
    locker_options options;
    options.tracer = tracer;
    scene s(c.store(), 1, options);
    run(s.io, acquire_and_release(s, 1));
    s.finish();
    const auto spans = tracer->over();
    BOOST_REQUIRE(spans.size() == 2u);
    BOOST_TEST(votes(spans[0], "vote ") >= c.majority());
    BOOST_TEST(votes(spans[0], "vote ") <= c.size());
    std::size_t named = 0;
    for (const redis_server& node : c.nodes)
        named += votes(spans[0], "vote " + address(node));
    BOOST_TEST(named == votes(spans[0], "vote "));
    BOOST_TEST((spans[0].name == "acquire" && spans[1].name == "hold"));
}

// The second locker waits in the queue at a node until the first releases.
BOOST_AUTO_TEST_CASE(the_queue_is_in_the_span)
{
    cluster c(3);
    const auto tracer = std::make_shared<recording_tracer>();
    locker_options options;
    options.tracer = tracer;
    scene s(c.store(), 2, options);
    call<lease> first, second;
    s.lock(0).acquire(first.token());
    // A node without the first lease would give its turn to the second.
    run_until(s.io, [&] { return first.done() && c.copies(s.resource) == c.size(); });
    s.lock(1).acquire(second.token());
    run_until(s.io, [&] { // one of the nodes has the queue
        return std::any_of(c.nodes.begin(), c.nodes.end(), [&](redis_server& node) {
            return node.command({"EXISTS", s.resource + ":holdfast:queue"}) == "1";
        });
    });
    first.result<lease>() = lease();
    run_until(s.io, [&] { return second.done(); });
    BOOST_TEST(!second.error(), second.error().message());
    second.result<lease>() = lease();
    s.finish();
    const auto spans = tracer->over();
    const auto waited = std::find_if(spans.begin(), spans.end(),
        [](const recording_tracer::record& each) { return votes(each, "queued") > 0; });
    BOOST_REQUIRE((waited != spans.end()));
    BOOST_TEST(waited->name == "acquire");
    BOOST_TEST(votes(*waited, "attempt") >= 2u);
    BOOST_TEST(!waited->outcome);
    BOOST_TEST(tracer->open() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
