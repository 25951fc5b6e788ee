// Waiting for a turn in the queue at the queue node of a resource.
#include "unit/redis/queue_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <set>
#include <string>
#include <vector>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using core::queueing;

// A holder gives a waiter its turn, and the other nodes keep another key for so many ms.
void release_slowly(queue_fixture& f, char waiter, const std::string& ttl)
{
    const auto first = f.acquire(7, 'x');
    f.ask_in_turn(8, waiter);
    const std::size_t a = f.queue_node();
    for (std::size_t i = 0; i < f.nodes.size(); ++i) {
        if (i != a)
            f.reply(i, {"SET", "A", "still there", "PX", ttl});
    }
    f.core->release(first, f.now);
    f.run();
}

BOOST_FIXTURE_TEST_SUITE(redlock_queue, queue_fixture)

// A release hands the key off to the next client in the queue, which confirms it and asks the other
// nodes at the same time: two round trips, and for each of the two clients one request to each
// node.
BOOST_AUTO_TEST_CASE(a_release_hands_off_to_the_next_client)
{
    const auto first = acquire(7, 'x');
    ask_in_turn(8, 'y');
    const std::size_t a = queue_node();
    BOOST_TEST(events() == "");
    core->release(first, now);
    run();
    BOOST_TEST(events() == "7 released, 8 granted for 988");
    for (std::size_t i = 0; i < nodes.size(); ++i)
        BOOST_TEST(nodes[i].commands() == (i == a ? "PASS A, RENEW A" : "DELETE A, SET A"));
    BOOST_TEST(holders('y') == 5u);
    BOOST_TEST(!has_queue(a));
}

// In an empty queue it is our turn at once.
BOOST_AUTO_TEST_CASE(an_empty_queue)
{
    ask_in_turn(8, 'y');
    BOOST_TEST(events() == "8 granted for 988");
    BOOST_TEST(holders('y') == 5u);
    BOOST_TEST(!has_queue(queue_node()));
}

// First come, first served.
BOOST_AUTO_TEST_CASE(the_order_of_arrival)
{
    auto holder = acquire(1, 'a');
    std::vector<core::claim_id> waiting;
    for (char token = 'b'; token <= 'e'; ++token)
        waiting.push_back(ask_in_turn(static_cast<std::uint64_t>(token), token));
    for (std::size_t i = 0; i < waiting.size(); ++i) {
        core->release(std::exchange(holder, waiting[i]), now);
        run();
        const std::string next = std::to_string('b' + i);
        if (i == 0)
            BOOST_TEST(events() == "1 released, " + next + " granted for 988");
        else // the lease itself is given: less than a millisecond of it is over
            BOOST_TEST(
                events() == next + " granted for 986, " + std::to_string('a' + i) + " released");
    }
}

// A client that left the queue blocks no other client, even if the node does not know that it is
// gone.
BOOST_AUTO_TEST_CASE(clients_that_are_gone)
{
    const auto first = acquire(7, 'x');
    const auto leaves = ask_in_turn(8, 'y');
    const std::size_t a = queue_node();
    const std::string dead = std::string(32, 'd') + std::string(16, '0') + "holdfast:dead";
    reply(a, {"ZADD", "A:holdfast:queue", "5", dead});
    ask_in_turn(9, 'z');
    core->abandon(leaves, now);
    run();
    core->release(first, now);
    run();
    BOOST_TEST(events() == "7 released, 9 granted for 988");
    BOOST_TEST(holders('z') == 5u);
}

// The event for a waiting attempt comes once, however often the attempt asks again. An attempt that
// is served at once emits none.
BOOST_AUTO_TEST_CASE(a_wait_for_a_turn_is_reported_once)
{
    const auto first = acquire(7, 'x');
    ask_in_turn(8, 'y');
    pass(900ms);
    BOOST_TEST(events() == "");
    BOOST_TEST(told_to_wait == std::vector<std::uint64_t>{8}, boost::test_tools::per_element());
    core->release(first, now);
    run();
    BOOST_TEST(events() == "7 released, 8 granted for 988");
    BOOST_TEST(told_to_wait.size() == 1u);
}

// When the last client leaves, the queue is deleted.
BOOST_AUTO_TEST_CASE(an_unused_queue_is_deleted)
{
    acquire(7, 'x');
    const auto leaves = ask_in_turn(8, 'y');
    const std::size_t a = queue_node();
    BOOST_TEST(has_queue(a));
    core->abandon(leaves, now);
    run();
    BOOST_TEST(!has_queue(a));
    BOOST_TEST(core->cleanup().is_done());
    BOOST_TEST(holders('x') == 5u);
}

// A client that leaves while the key is being handed off to it hands it off to the next.
BOOST_AUTO_TEST_CASE(leaving_during_a_hand_off)
{
    const auto first = acquire(7, 'x');
    const auto leaves = ask_in_turn(8, 'y');
    const std::size_t a = queue_node();
    ask_in_turn(9, 'z');
    nodes[a].silent = true; // the notification is on its way
    core->release(first, now);
    run();
    core->abandon(leaves, now);
    run();
    nodes[a].silent = false;
    run();
    BOOST_TEST(events() == "7 released, 9 granted for 988");
}

// Nodes at which the deletion of the old holder is still under way are asked again.
BOOST_AUTO_TEST_CASE(deletions_that_come_late)
{
    const auto first = acquire(7, 'x');
    ask_in_turn(8, 'y');
    const std::size_t a = queue_node();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (i != a)
            reply(i, {"SET", "A", "still there", "PX", i < 2 ? "2" : "8"});
    }
    core->release(first, now);
    run();
    BOOST_TEST(holders('y') == 1u);
    pass(50ms);
    BOOST_TEST(events() == "7 expired, 8 granted for 938, 8 valid for 943");
    BOOST_TEST(holders('y') == 5u);
}

// Keys that nobody deletes end at different times. A turn may last longer than one answer takes.
BOOST_AUTO_TEST_CASE(keys_of_the_last_lease_end_one_by_one)
{
    release_slowly(*this, 'y', "80");
    pass(130ms); // the time for an answer is 50 ms
    BOOST_TEST(events().starts_with("7 expired, 8 granted"));
}

// But only as long as that leaves enough of its own keys' time.
BOOST_AUTO_TEST_CASE(a_turn_with_a_short_ttl_does_not_last_longer)
{
    terms.ttl = 200ms;
    release_slowly(*this, 'y', "80");
    pass(130ms);
    BOOST_TEST(events() == "7 expired, 8 refused: contended");
}

// The pauses before that differ. Else the same waiter could give up too early each time, where the
// keys of the holders end one after another: process 1 of a simulated world was never served.
BOOST_AUTO_TEST_CASE(pauses_before_nodes_are_asked_again_differ)
{
    std::set<core::duration> pauses;
    for (const char token : {'a', 'b', 'c', 'd'}) {
        queue_fixture each;
        release_slowly(each, token, "1000");
        const core::duration pause = each.core->wake_at() - each.now;
        BOOST_TEST((pause >= 750us && pause < 1250us));
        pauses.insert(pause);
    }
    BOOST_TEST(pauses.size() == 4u);
}

// But not for ever: another client may hold them without using the queue.
BOOST_AUTO_TEST_CASE(nodes_that_keep_refusing)
{
    const auto first = acquire(7, 'x');
    ask_in_turn(8, 'y');
    const std::size_t a = queue_node();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (i != a)
            occupy(i);
    }
    core->release(first, now);
    pass(200ms);
    BOOST_TEST(events().ends_with("8 refused: contended"));
    BOOST_TEST(holders('y') == 0u);
    for (std::size_t i = 0; i < nodes.size(); ++i)
        BOOST_TEST(nodes[i].log.size() <= 12u);
}

// If the queue is forbidden, attempts are made without it.
BOOST_AUTO_TEST_CASE(nodes_without_a_queue)
{
    acquire(7, 'x');
    for (model_node& n : nodes)
        n.errors["ENQUEUE"] = n.errors["PASS"] = "NOPERM not for you";
    BOOST_TEST(core->queue().is_usable());
    ask_in_turn(8, 'y');
    BOOST_TEST(events() == "8 refused: contended");
    BOOST_TEST(!core->queue().is_usable());
    ask_in_turn(9, 'z');
    BOOST_TEST(events() == "9 refused: contended");
    BOOST_TEST(core->cleanup().is_done());
    BOOST_TEST(holders('x') == 5u);
}

// Temporary trouble is no reason to choose another queue node than other clients do.
BOOST_AUTO_TEST_CASE(temporary_trouble)
{
    const auto first = acquire(7, 'x');
    const auto waits = ask_in_turn(8, 'y');
    const std::size_t a = queue_node();
    nodes[a].errors["PASS"] = "MISCONF no snapshots";
    core->abandon(waits, now);
    run();
    nodes[a].errors.clear();
    ask_in_turn(9, 'z');
    BOOST_TEST(queue_node() == a);
    core->release(first, now);
    pass(1600ms); // the abandoned claim is still in the queue, and does not answer to its turn
    BOOST_TEST(events().find("9 granted") != std::string::npos);
}

// When other clients are known to want a resource, we ask for our turn first.
BOOST_AUTO_TEST_CASE(known_contention_is_remembered)
{
    const auto first = acquire(7, 'x');
    const auto second = ask_in_turn(8, 'y');
    core->release(first, now);
    run();
    core->release(second, now); // no other client waits any more
    run();
    pass(11ms); // nor comes back at once
    const auto alone = ask_in_turn(12, 'u');
    core->release(alone, now);
    run();
    events();
    for (model_node& n : nodes)
        n.commands();
    terms.queue = queueing::if_contended;
    const auto third = ask(9, 'z');
    run();
    BOOST_TEST(nodes[0].log.front() == "SET A");
    ask_in_turn(10, 'w');
    queue_node();
    core->release(third, now);
    run();
    terms.queue = queueing::if_contended;
    ask(11, 'v');
    run();
    queue_node(); // was asked
    BOOST_TEST(holders('w') == 5u);
}

// All nodes are asked whether other clients wait.
BOOST_AUTO_TEST_CASE(probing_waiters)
{
    const auto first = acquire(7, 'x');
    core->queue().probe_waiters(first, now);
    BOOST_TEST(core->queue().is_probing(first));
    run();
    BOOST_TEST(!core->queue().is_probing(first));
    BOOST_TEST(events() == "7 alone");
    ask_in_turn(8, 'y');
    core->queue().probe_waiters(first, now);
    run();
    BOOST_TEST(events() == "");
    BOOST_TEST(!core->queue().is_probing(first));
}

// Another client has the queue node's key. It waits for the other nodes, and is in no queue. Found
// by the simulator: 80327.
BOOST_AUTO_TEST_CASE(a_queue_node_that_has_not_granted_knows_no_waiters)
{
    const std::size_t a = queue_node_without_waiters();
    occupy(a);
    const auto first = acquire(7, 'x');
    core->queue().probe_waiters(first, now);
    BOOST_TEST(!core->queue().is_probing(first));
    run();
    BOOST_TEST(events() == "");
    BOOST_TEST(nodes[a].commands() == "");
}

// A renewal that finds nothing proves nothing about a request that was sent after it.
BOOST_AUTO_TEST_CASE(a_key_that_is_asked_for_again_is_cleaned_up)
{
    const auto first = acquire(7, 'x');
    const auto second = ask_in_turn(8, 'y');
    const std::size_t a = queue_node();
    const std::size_t late = a == 0 ? 1 : 0;
    reply(late, {"SET", "A", "still there", "PX", "1"});
    nodes[late].deaf = true;
    core->release(first, now);
    run();
    renew(second, true); // after the first request
    nodes[late].deaf = false;
    run();
    nodes[late].silent = true;
    pass(2ms);
    core->release(second, now);
    nodes[late].silent = false;
    pass(100ms);
    BOOST_TEST(holders('y') == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
