// Hints that a key has changed: the first in the queue hears when others leave it, sooner than it
// would have asked.
#include "unit/redis/queue_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <map>
#include <string>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

// Somebody who knows nothing of the queue has the key for a long time.
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

    // From when it looks who is the first, until it asks for its turn again.
    void between_looks() { pass(100ms); }
};

BOOST_FIXTURE_TEST_SUITE(redlock_pushes, pushes_fixture)

BOOST_AUTO_TEST_CASE(the_first_hears_that_the_key_is_free)
{
    ask_in_turn(8, 'y');
    const std::size_t a = queue_node();
    between_looks();
    BOOST_TEST(nodes[a].commands() == "ZRANGE A:holdfast:queue, PTTL A");
    free_all();
    BOOST_TEST(events() == "8 granted for 988");
    BOOST_TEST(holders('y') == 3u);
}

// Those behind are not woken by every change.
BOOST_AUTO_TEST_CASE(only_the_first_asks_to_hear_of_it)
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

// Whoever has the key may renew it: that is a change, but costs one question.
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

// However often the queue_node tells of changes, the other nodes are asked once a second: it need
// not be the right one. Found by the simulator: 80327.
BOOST_AUTO_TEST_CASE(changes_do_not_put_off_what_is_due)
{
    ask_in_turn(8, 'y');
    const std::size_t a = queue_node();
    const std::size_t other = a == 0 ? 1 : 0;
    for (int i = 0; i < 10; ++i) {
        pass(100ms);
        reply(a, {"PEXPIRE", "A", "60000"});
        run();
    }
    BOOST_TEST(nodes[other].commands() == "JOIN by text, OWNER A by text");
}

// The key may have been given up just before we asked to hear of it.
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

// One notice for all keys: the node has lost them.
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

// A notice for one who does not wait any more is nobody's.
BOOST_AUTO_TEST_CASE(nobody_waits_any_more)
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

// The next queue_node knows nothing of what was asked of the first.
BOOST_AUTO_TEST_CASE(another_arbiter)
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

// Where it may not be told, it asks once a second, as it would in any case.
BOOST_AUTO_TEST_CASE(a_node_that_does_not_tell)
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
