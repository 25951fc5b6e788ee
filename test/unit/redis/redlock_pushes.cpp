// Pushes that a key has changed: the first in the queue learns of a release by other clients sooner
// than by asking.
#include "unit/redis/queue_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <map>
#include <string>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

// A client that does not use the queue has the key for a long time.
struct pushes_fixture : queue_fixture {
    explicit pushes_fixture(const std::map<std::string, std::string>& errors = {})
        : queue_fixture(3, errors)
    {
        for (std::size_t i = 0; i < nodes.size(); ++i)
            occupy(i, 60s);
    }

    void free_all()
    {
        for (std::size_t i = 0; i < nodes.size(); ++i)
            reply(i, {"DEL", "A"});
        run();
    }

    // From the check for the first in the queue until the next request for a turn.
    void between_looks() { pass(100ms); }
};

BOOST_FIXTURE_TEST_SUITE(redlock_pushes, pushes_fixture)

BOOST_AUTO_TEST_CASE(the_first_is_told_that_the_key_is_free)
{
    ask_in_turn(8, 'y');
    const std::size_t a = queue_node();
    between_looks();
    BOOST_TEST(nodes[a].commands() == "ZRANGE A:holdfast:queue, PTTL A");
    free_all();
    BOOST_TEST(events() == "8 granted for 988");
    BOOST_TEST(holders('y') == 3u);
}

// The waiters behind are not woken by every change.
BOOST_AUTO_TEST_CASE(only_the_first_asks_for_pushes)
{
    ask_in_turn(8, 'y');
    const std::size_t a = queue_node();
    between_looks();
    nodes[a].commands();
    ask_in_turn(9, 'z');
    nodes[a].commands();
    between_looks();
    BOOST_TEST(nodes[a].commands() == "ZRANGE A:holdfast:queue");
}

// The holder may renew the key: that is a change, but costs only one request.
BOOST_AUTO_TEST_CASE(the_holder_renews)
{
    ask_in_turn(8, 'y');
    const std::size_t a = queue_node();
    between_looks();
    nodes[a].commands();
    for (int i = 0; i < 3; ++i) {
        reply(a, {"PEXPIRE", "A", "60000"});
        run();
    }
    BOOST_TEST(nodes[a].commands() == "ENQUEUE A");
    between_looks();
    BOOST_TEST(nodes[a].commands() == "ZRANGE A:holdfast:queue, PTTL A");
    free_all();
    BOOST_TEST(events() == "8 granted for 988");
}

// However often the queue node pushes changes, the other nodes are asked once a second: it may not
// be the right queue node. Found by the simulator: 80327.
BOOST_AUTO_TEST_CASE(changes_do_not_postpone_questions_that_are_due)
{
    ask_in_turn(8, 'y');
    const std::size_t a = queue_node();
    const std::size_t other = a == 0 ? 1 : 0;
    for (int i = 0; i < 10; ++i) {
        pass(100ms);
        reply(a, {"PEXPIRE", "A", "60000"});
        run();
    }
    BOOST_TEST(nodes[other].commands() == "JOIN A by text, OWNER A by text");
}

// The key may have been released just before we asked for pushes.
BOOST_AUTO_TEST_CASE(it_was_free_before_we_asked)
{
    ask_in_turn(8, 'y');
    const std::size_t a = queue_node();
    nodes[a].silent = true;
    between_looks();
    free_all();
    nodes[a].silent = false;
    run();
    BOOST_TEST(nodes[a].commands().starts_with("ZRANGE A:holdfast:queue, PTTL A, ENQUEUE A"));
    BOOST_TEST(events() == "8 granted for 988");
}

// One push for all keys: the node has lost them.
BOOST_AUTO_TEST_CASE(all_keys_are_gone)
{
    ask_in_turn(8, 'y');
    queue_node();
    between_looks();
    for (model_node& n : nodes)
        n.forget_keys();
    run();
    BOOST_TEST(events() == "8 granted for 988");
}

// A push for a claim that no longer waits is ignored.
BOOST_AUTO_TEST_CASE(a_push_without_a_waiter)
{
    const auto leaves = ask_in_turn(8, 'y');
    const std::size_t a = queue_node();
    between_looks();
    core->abandon(leaves, now);
    run();
    nodes[a].commands();
    free_all();
    BOOST_TEST(nodes[a].commands() == "");
    BOOST_TEST(events() == "");
}

// The next queue node knows nothing of the requests to the first one.
BOOST_AUTO_TEST_CASE(another_queue_node)
{
    ask_in_turn(8, 'y');
    const std::size_t a = queue_node();
    between_looks();
    nodes[a].up = false;
    nodes[a].disconnect(*core->connections()[a], now);
    run();
    const std::size_t next = queue_node();
    BOOST_TEST(next != a);
    between_looks();
    BOOST_TEST(nodes[next].commands() == "ZRANGE A:holdfast:queue, PTTL A");
}

// Without permission for pushes, the claim asks once a second, as it does in any case.
BOOST_AUTO_TEST_CASE(a_node_that_forbids_tracking)
{
    const std::map<std::string, std::string> forbidden{
        {"CLIENT", "NOPERM no permissions to run the command"}};
    pushes_fixture c(forbidden);
    c.ask_in_turn(8, 'y');
    const std::size_t a = c.queue_node();
    c.between_looks();
    BOOST_TEST(c.nodes[a].commands() == "");
    c.free_all();
    BOOST_TEST(c.events() == "");
    c.pass(1s);
    BOOST_TEST(c.events().starts_with("8 granted"));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
