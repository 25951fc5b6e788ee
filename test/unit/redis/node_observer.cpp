// What observers are told about nodes and votes.
#include "redis/node_observer.hpp"

#include "support/model_cluster.hpp"
#include "unit/redis/fence_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

class silent_tracer final : public tracer {
public:
    std::shared_ptr<trace_span> begin_acquire(std::string_view) noexcept override { return {}; }
};

core::journal of_everything()
{
    return core::journal({.on_event = [](const event&) {},
        .event_level = event_level::debug,
        .tracer = std::make_shared<silent_tracer>()});
}

std::string told(core::journal& journal)
{
    std::string all;
    while (const auto e = journal.next_event())
        all += (all.empty() ? "" : "; ") + describe(e->what);
    return all;
}

struct observed_cluster : model_cluster {
    core::journal journal = of_everything();

    observed_cluster() : model_cluster(3) { core->nodes().report_to(journal); }

    std::string votes()
    {
        std::string all;
        while (const auto m = journal.next_mark())
            all += std::to_string(m->claim) + " node" + std::to_string(m->node) + " " +
                   (m->reason == errc{} ? "yes" : std::string(name_of(m->reason))) + "; ";
        return all;
    }
};

struct observed_fences : fence_fixture {
    core::journal journal = of_everything();

    observed_fences() { core->nodes().report_to(journal); }
};

BOOST_AUTO_TEST_SUITE(redlock_node_observer)

BOOST_FIXTURE_TEST_CASE(nodes_that_come_and_go, observed_cluster)
{
    nodes[2].up = false;
    run();
    const std::string down = told(journal);
    BOOST_TEST(down.find("info: node_up node=node0; info: node_up node=node1") != down.npos);
    BOOST_TEST(down.find("warning: node_down node=node2 error=") != down.npos);
    pass(1s); // more attempts, the same reason
    BOOST_TEST(told(journal) == "");
    nodes[2].up = true;
    pass(5s);
    BOOST_TEST(told(journal) == "info: node_up node=node2");
    nodes[1].disconnect(*core->connections()[1], now);
    BOOST_TEST(told(journal).starts_with("warning: node_down node=node1 error="));
    run();
    pass(5s);
    BOOST_TEST(told(journal) == "info: node_up node=node1");
}

BOOST_FIXTURE_TEST_CASE(a_server_that_was_restarted, observed_cluster)
{
    run();
    told(journal);
    nodes[0].disconnect(*core->connections()[0], now);
    nodes[0].server = redis_model("another");
    pass(5s);
    BOOST_TEST(told(journal).ends_with(
        "warning: node_up node=node0 text=the server was restarted, or is another one"));
    BOOST_TEST(core->nodes().stats()[0].restarts == 1u);
    BOOST_TEST(core->nodes().stats()[1].restarts == 0u);
}

// The end of the locker is no trouble of the nodes.
BOOST_FIXTURE_TEST_CASE(closing, observed_cluster)
{
    run();
    told(journal);
    core->close(now);
    run();
    BOOST_TEST(told(journal) == "");
}

BOOST_FIXTURE_TEST_CASE(votes_of_nodes, observed_cluster)
{
    run();
    occupy(1);
    nodes[2].errors["SET"] = "OOM full";
    ask(7);
    run();
    BOOST_TEST(votes() == "7 node0 yes; 7 node1 contended; 7 node2 node_error; ");
}

BOOST_FIXTURE_TEST_CASE(latencies_and_errors, observed_cluster)
{
    run();
    nodes[0].silent = true;
    nodes[2].errors["SET"] = "OOM full";
    ask(7);
    run();
    now += 3ms;
    nodes[0].silent = false;
    run();
    const std::vector<node_stats> all = core->nodes().stats();
    BOOST_TEST((all[0].latency.sum() >= 3ms && all[0].latency.sum() < 10ms));
    BOOST_TEST((all[1].latency.sum() < 1us && all[1].latency.count() > 0));
    BOOST_TEST(all[0].errors == 0u);
    BOOST_TEST(all[2].errors == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_quarantine, observed_fences)
{
    run();
    told(journal);
    opened(0, 1000);
    const std::string began = told(journal);
    BOOST_TEST(began.starts_with("warning: node_quarantined node=node0 error="), began);
    answer(0, "record", "_\r\n");
    ask(7);
    BOOST_TEST(requests(0) == "");
    pass(1s - 1ns);
    BOOST_TEST(told(journal) == ""); // still the same
    pass(1ns);
    ask(8);
    key(0);
    accept(0);
    BOOST_TEST(told(journal) == "info: node_up node=node0 text=the quarantine is over");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
