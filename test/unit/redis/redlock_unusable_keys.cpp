// Keys that hold other data, in the place of a lock or of the queue of a lock.
#include "unit/redis/queue_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

struct unusable_fixture : queue_fixture {
    void on_all(const std::vector<std::string>& command)
    {
        for (std::size_t i = 0; i < nodes.size(); ++i)
            reply(i, command);
    }
    std::size_t asked_for_a_place()
    {
        std::size_t count = 0;
        for (model_node& n : nodes)
            count += n.commands().find("ENQUEUE A") != std::string::npos ? 1u : 0u;
        return count;
    }
};

BOOST_FIXTURE_TEST_SUITE(redlock_unusable_keys, unusable_fixture)

// A key that is no lock does not become one: the refusal comes at once, and the nodes report the
// reason.
BOOST_AUTO_TEST_CASE(a_key_of_another_type)
{
    on_all({"LPUSH", "A", "x"});
    terms.queue = core::queueing::if_contended;
    ask(7, 'x');
    run();
    BOOST_TEST(events() == "7 refused: contended"); // a node gives no reason
    ask_in_turn(8, 'y');
    BOOST_TEST(events() == "8 refused: key_conflict");
    BOOST_TEST(!has_queue(queue_node()));
    std::size_t named = 0; // by the nodes that have decided it
    for (const node_stats& node : core->nodes().stats()) {
        BOOST_TEST((node.last_error == errc::key_conflict));
        named += node.reason.starts_with("the key A is no lock: WRONGTYPE ") ? 1u : 0u;
    }
    BOOST_TEST(named >= 3u);
}

// The key of a SET by hand, without a ttl, keeps all locks out until a person deletes it: the state
// of the queue node says so, as long as it is true.
BOOST_AUTO_TEST_CASE(a_key_without_a_ttl)
{
    const auto reports = [this] {
        std::string all;
        for (const node_stats& node : core->nodes().stats()) {
            BOOST_TEST(!node.last_error);
            all += node.reason;
        }
        return all;
    };
    const std::string said = "the key A was found without a ttl, so it does not end by itself";
    on_all({"SET", "A", "by hand"});
    const auto waiting = ask_in_turn(7, 'x');
    BOOST_TEST(reports() == said);
    on_all({"PEXPIRE", "A", "5000"});
    pass(2s); // it asks again once a second
    BOOST_TEST(reports() == "");
    on_all({"SET", "A", "by hand"});
    pass(2s);
    BOOST_TEST(reports() == said);
    on_all({"DEL", "A"});
    pass(2s);
    BOOST_TEST(events().starts_with("7 granted"));
    BOOST_TEST(reports() == "");
    core->release(waiting, now);
}

// Without a queue, nodes are asked when the key ends, and report that it does not.
BOOST_AUTO_TEST_CASE(a_key_without_a_ttl_that_is_watched)
{
    on_all({"SET", "A", "by hand"});
    core->watch(7, "A", now);
    run();
    std::size_t named = 0; // by a majority: the answers of the others are not waited for
    for (const node_stats& node : core->nodes().stats())
        named += node.reason == "the key A was found without a ttl, so it does not end by itself"
                     ? 1u
                     : 0u;
    BOOST_TEST(named == 3u);
    on_all({"PEXPIRE", "A", "5000"});
    core->watch(7, "A", now);
    run();
    for (const node_stats& node : core->nodes().stats())
        BOOST_TEST(node.reason == "");
    BOOST_TEST(events() == "7 frees in 5000");
}

// A minority does not count, but blocks no client.
BOOST_AUTO_TEST_CASE(a_key_of_another_type_on_a_minority)
{
    const std::size_t a = queue_node_without_waiters();
    reply(a, {"LPUSH", "A", "x"});
    reply(a == 0 ? 1 : 0, {"LPUSH", "A", "x"});
    ask_in_turn(8, 'y');
    BOOST_TEST(events() == "8 granted for 988");
    BOOST_TEST(holders('y') == 3u);
}

// If no queue of a resource can be used, attempts are made without it, and the next attempt does
// not look for a queue.
BOOST_AUTO_TEST_CASE(a_queue_of_another_type_on_all_nodes)
{
    const auto first = acquire(7, 'x');
    on_all({"SET", "A:holdfast:queue", "junk"});
    ask_in_turn(8, 'y');
    BOOST_TEST(events() == "8 refused: contended");
    BOOST_TEST(asked_for_a_place() == 5u);
    for (const node_stats& node : core->nodes().stats()) {
        BOOST_TEST((node.last_error == errc::key_conflict));
        BOOST_TEST(node.reason.starts_with("the queue A:holdfast:queue cannot be used: WRONGTYPE"),
            node.reason);
    }
    core->release(first, now);
    run();
    ask_in_turn(9, 'z');
    BOOST_TEST(events() == "7 released, 9 granted for 988");
    BOOST_TEST(asked_for_a_place() == 0u);
    BOOST_TEST(core->queue().is_usable()); // of other resources
}

// A client that waits meanwhile learns of it, and gets the lock as soon as it is free.
BOOST_AUTO_TEST_CASE(a_queue_that_becomes_something_else)
{
    terms.ttl = 5s;
    const auto first = acquire(7, 'x');
    ask_in_turn(8, 'y');
    on_all({"SET", "A:holdfast:queue", "junk"});
    core->release(first, now);
    run();
    BOOST_TEST(events() == "7 released");
    pass(1s);
    BOOST_TEST(events().starts_with("8 granted"));
}

// Only at the queue node: another node takes its place.
BOOST_AUTO_TEST_CASE(a_queue_of_another_type_at_the_queue_node)
{
    const std::size_t a = queue_node_without_waiters();
    const auto first = acquire(7, 'x');
    reply(a, {"SET", "A:holdfast:queue", "junk"});
    ask_in_turn(8, 'y');
    BOOST_TEST(asked_for_a_place() == 2u);
    core->release(first, now);
    run();
    BOOST_TEST(events() == "7 released, 8 granted for 988");
}

// Errors of one queue do not affect the other queues of a node.
BOOST_AUTO_TEST_CASE(an_error_of_one_queue_does_not_affect_the_others)
{
    for (const char* const error :
        {"ERR Error running script: @user_script: 1: WRONGTYPE Operation against a key",
            "ERR value is not a valid float"}) {
        queue_fixture c;
        const std::size_t a = c.queue_node_without_waiters();
        const auto first = c.acquire(7, 'x');
        c.nodes[a].errors["ENQUEUE"] = error;
        c.ask_in_turn(8, 'y');
        c.nodes[a].errors.clear();
        c.core->release(first, c.now);
        c.run();
        BOOST_TEST(c.events() == "7 released, 8 granted for 988");
        c.pass(4s);
        for (model_node& n : c.nodes)
            n.commands();
        c.ask_in_turn(9, 'z');
        BOOST_TEST(c.queue_node() == a);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
