// The clocks of nodes in fenced mode, over scripted nodes: when they are asked for, and what they
// permit.
#include "unit/redis/fence_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

struct clocks : connected_fence {
    // How often each node was asked for its clock since the last call.
    std::string asked()
    {
        std::string all;
        for (scripted_node& n : nodes) {
            all += (all.empty() ? "" : " ") + std::to_string(n.times_asked);
            n.times_asked = 0;
        }
        return all;
    }
};

BOOST_FIXTURE_TEST_SUITE(redlock_fence_clock_samples, clocks)

// In the greeting, and once more, because the greeting takes long.
BOOST_AUTO_TEST_CASE(a_node_is_asked_for_its_clock_when_it_connects)
{
    BOOST_TEST(asked() == "2 2 2");
    pass(200ms);
    disconnect(1);
    pass(100ms);
    BOOST_TEST(asked() == "0 2 0");
}

// Attempts ask for it, in front of their own requests, but not each.
BOOST_AUTO_TEST_CASE(a_clock_is_asked_for_once_a_second_while_locks_are_acquired)
{
    asked();
    pass(999ms);
    ask(7);
    BOOST_TEST(asked() == "0 0 0");
    for (std::size_t i = 0; i < 3; ++i)
        grant(i);
    pass(1ms);
    redlock_fixture::ask(8, 'y', "B");
    const std::string_view sent = core->connections()[0]->output();
    BOOST_TEST(sent.find("TIME") < sent.find("SET"));
    run();
    BOOST_TEST(asked() == "1 1 1");
    for (int i = 0; i < 9; ++i) {
        pass(100ms);
        ask(9, 'z', "C");
    }
    BOOST_TEST(asked() == "0 0 0");
    pass(100ms);
    ask(9, 'z', "C");
    nodes[0].asked.pop_back(); // the answers to the attempts are due first
    BOOST_TEST(asked() == "1 1 1");
}

BOOST_AUTO_TEST_CASE(a_clock_is_asked_for_every_30_seconds_while_no_locks_are_acquired)
{
    asked();
    pass(30s - 1ns);
    BOOST_TEST(asked() == "0 0 0");
    pass(1ns);
    BOOST_TEST(asked() == "1 1 1");
    pass(90s);
    BOOST_TEST(asked() == "3 3 3");
}

// One clock of three changes nothing. It is counted that it was set.
BOOST_AUTO_TEST_CASE(a_clock_that_is_set)
{
    nodes[0].ahead = 24h;
    pass(1s);
    acquire(7, 8000);
    pass(100ms);
    acquire(8, 8800, "B");
    BOOST_TEST(core->nodes().stats()[0].clock_jumps == 1u);
    BOOST_TEST(core->nodes().stats()[1].clock_jumps == 0u);
}

// Ballots follow a majority, forward as soon as it is known.
BOOST_AUTO_TEST_CASE(ballots_follow_a_majority_of_the_clocks)
{
    nodes[0].ahead = nodes[2].ahead = 10s;
    pass(1s);
    acquire(7, 8000); // it asks for the clocks
    acquire(8, 88'000, "B");
}

// A node that is gone has no say: of two clocks, the one behind counts.
BOOST_AUTO_TEST_CASE(the_clock_of_a_node_that_is_gone)
{
    nodes[0].ahead = nodes[1].ahead = 500ms;
    pass(1s);
    acquire(7, 8000);
    acquire(8, 12'000, "B");
    nodes[0].accepts = false;
    disconnect(0);
    run();
    ask(9, 'z', "C");
    BOOST_TEST(requests(1) == "set z, ballot 8000");
}

// Backward they do not: until the clocks have reached the last ballot, less `ahead`, there is none.
// The wait for the lock goes on.
BOOST_AUTO_TEST_CASE(no_ballot_is_further_ahead_of_the_clocks_than_permitted)
{
    pass(1s);
    release(acquire(7, 8000));
    for (scripted_node& n : nodes)
        n.ahead = -10s;
    pass(1s);
    release(acquire(8, 16'000));
    ask(9);
    BOOST_TEST(events() == "9 refused: fencing_unavailable, passes");
    BOOST_TEST(requests() == ""); // not even for the key
    BOOST_TEST(reason(0) == "a register in hf:f is too far ahead of the clocks of the nodes for "
                            "another 10 s");
    pass(9s); // the nodes show 1 s, and the last ballot was 2 s
    ask(10);
    BOOST_TEST(events() == "10 refused: fencing_unavailable, passes");
    pass(125us);
    acquire(11, 16'001);
    ask(12, 'y', "B"); // other resources are not concerned
    BOOST_TEST(requests() == "set y, ballot 8001");
}

// A clock that no server can show says nothing.
BOOST_AUTO_TEST_CASE(nodes_without_a_clock)
{
    fence_fixture f(1);
    f.nodes[0].ahead = 24h * 365 * 300;
    f.connect();
    f.ask(7);
    BOOST_TEST(f.events() == "7 refused: fencing_unavailable, passes");
    BOOST_TEST(f.requests() == "");
    BOOST_TEST(f.reason(0) ==
               "its clock is not known: it shows no usable time, or takes too long to answer");
    f.nodes[0].ahead = {};
    f.pass(50ms);
    f.ask(8); // the clock is asked for, soon after the last time
    BOOST_TEST(f.events() == "8 refused: fencing_unavailable, passes");
    f.ask(9);
    BOOST_TEST(f.requests().starts_with("set "));
}

// A node is opened with what this client knows. Without a clock of its own it knows that of others.
BOOST_AUTO_TEST_CASE(a_node_is_opened_with_the_time)
{
    pass(200ms);
    disconnect(1);
    nodes[1].ahead = -24h;
    pass(100ms);
    const auto& call = nodes[1].asked.at(0);
    BOOST_TEST(call.size() == 10u);
    BOOST_TEST(call[0] == "EVAL");
    BOOST_TEST(call[1] == redis::open_script.text);
    BOOST_TEST(call[2] == "2");
    BOOST_TEST(call[3] == "hf:n");
    BOOST_TEST(call[4] == "hf:f");
    BOOST_TEST(call[5] == "60000 1000 16384");
    BOOST_TEST(call[6] == "node1");
    BOOST_TEST(call[7] == "62000"); // the quarantine, and twice `ahead`
    BOOST_TEST(std::stoll(call[8]) >= scripted_node::epoch + 200);
    BOOST_TEST(std::stoll(call[8]) <= scripted_node::epoch + 300);
    BOOST_TEST(call[9] == "");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
