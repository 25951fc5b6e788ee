// Notices that other processes begin to wait for a resource that this one holds.
#include "unit/redis/fence_fixture.hpp"
#include "unit/redis/queue_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

struct notices_fixture : queue_fixture {
    notices_fixture() : queue_fixture(3) { terms.ttl = 9s; }

    std::size_t tracked_by(std::size_t node) { return nodes[node].server.watched().size(); }

    void others_join(std::size_t node)
    {
        reply(node, {"ZADD", "A:holdfast:queue", "1", std::string(32, 'o') + "reference channel"});
        run();
    }
    void report(core::claim_id id)
    {
        core->queue().report_waiters(id, now);
        run();
    }
    bool reports(core::claim_id id) { return core->queue().reports_waiters(id); }
    // The node that was asked to tell; only one may have been.
    std::size_t told_by()
    {
        std::size_t found = nodes.size();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const std::string log = nodes[i].commands();
            if (log.empty())
                continue;
            BOOST_TEST(log == "EXISTS A:holdfast:queue");
            BOOST_REQUIRE(found == nodes.size());
            found = i;
        }
        BOOST_REQUIRE(found < nodes.size());
        return found;
    }
};

BOOST_FIXTURE_TEST_SUITE(redlock_notices, notices_fixture)

BOOST_AUTO_TEST_CASE(the_queue_node_tells_once)
{
    const std::size_t queue_node = queue_node_without_waiters();
    const auto id = acquire(7);
    BOOST_TEST(!reports(id));
    report(id);
    BOOST_TEST(told_by() == queue_node);
    BOOST_TEST(reports(id));
    BOOST_TEST(events() == "");

    others_join(queue_node);
    BOOST_TEST(events() == "7 others wait");
    BOOST_TEST(!reports(id));
    others_join(queue_node);
    BOOST_TEST(events() == "");
}

BOOST_AUTO_TEST_CASE(those_that_wait_already_are_reported_at_once)
{
    const std::size_t queue_node = queue_node_without_waiters();
    const auto id = acquire(7);
    others_join(queue_node);
    report(id);
    BOOST_TEST(events() == "7 others wait");
    BOOST_TEST(!reports(id));
}

// A user without the right to CLIENT CACHING, for example.
BOOST_AUTO_TEST_CASE(a_node_that_refuses_to_track_the_queue)
{
    const std::size_t queue_node = queue_node_without_waiters();
    const auto id = acquire(7);
    nodes[queue_node].errors["CLIENT"] = "NOPERM this user has no permissions";
    report(id);
    BOOST_TEST(!reports(id));
    BOOST_TEST(events() == "");
    nodes[queue_node].errors.clear();
    report(id);
    BOOST_TEST(reports(id));
    nodes[queue_node].errors["CLIENT"] = "NOPERM this user has no permissions";
    others_join(queue_node);
    events();
    report(id);
    BOOST_TEST(events() == "7 others wait"); // but who waits already is seen
}

// Another process has the queue node's key, and waits for the other nodes.
BOOST_AUTO_TEST_CASE(a_refusal_of_the_queue_node_counts_as_a_notice)
{
    occupy(queue_node_without_waiters());
    const auto id = acquire(7);
    report(id);
    BOOST_TEST(events() == "7 others wait");
    BOOST_TEST(!reports(id));
}

BOOST_AUTO_TEST_CASE(a_late_refusal_of_the_queue_node_counts_as_well)
{
    const std::size_t queue_node = queue_node_without_waiters();
    occupy(queue_node);
    nodes[queue_node].silent = true;
    const auto id = acquire(7);
    report(id);
    BOOST_TEST(reports(id));
    BOOST_TEST(events() == "");
    nodes[queue_node].silent = false;
    run();
    BOOST_TEST(events() == "7 others wait");
    BOOST_TEST(!reports(id));
    BOOST_TEST(tracked_by(queue_node) == 0u); // it only tried
}

// A push may be lost: the locker asks again now and then.
BOOST_AUTO_TEST_CASE(it_can_be_asked_for_again)
{
    const std::size_t queue_node = queue_node_without_waiters();
    const auto id = acquire(7);
    report(id);
    report(id);
    BOOST_TEST(nodes[queue_node].commands() == "EXISTS A:holdfast:queue, EXISTS A:holdfast:queue");
    others_join(queue_node);
    BOOST_TEST(events() == "7 others wait");
    report(id); // they still wait
    BOOST_TEST(events() == "7 others wait");
}

// The waiters may not reach the node that is to tell. Found by the simulator: 123895 (lingering).
BOOST_AUTO_TEST_CASE(waiters_at_any_other_node_are_found_when_it_is_asked_again)
{
    const std::size_t queue_node = queue_node_without_waiters();
    for (std::size_t at = 0; at < 3; ++at) {
        if (at == queue_node)
            continue;
        const auto id = acquire(7);
        report(id);
        others_join(at);
        BOOST_TEST(events() == "");
        for (int again = 0; again < 2 && reports(id); ++again)
            report(id);
        BOOST_TEST(events() == "7 others wait");
        BOOST_TEST(!reports(id));
        BOOST_TEST(tracked_by(queue_node) == 0u);
        core->release(id, now);
        run();
        for (model_node& n : nodes)
            n.forget_keys();
        run();
        events();
    }
}

// But no node is asked again before it has answered.
BOOST_AUTO_TEST_CASE(silent_nodes_are_asked_once_for_waiters)
{
    const std::size_t queue_node = queue_node_without_waiters();
    const std::size_t silent = (queue_node + 1) % 3, other = (queue_node + 2) % 3;
    const auto id = acquire(7);
    report(id);
    nodes[silent].silent = nodes[other].silent = true;
    for (int i = 0; i < 5; ++i)
        report(id);
    BOOST_TEST(nodes[silent].commands() + nodes[other].commands() == "EXISTS A:holdfast:queue");
    nodes[silent].disconnect(*core->connections()[silent], now);
    nodes[other].silent = false;
    run();
    report(id);
    BOOST_TEST(nodes[other].commands() == "EXISTS A:holdfast:queue");
}

// A claim that has waited for long may still have places of its own in other queues.
BOOST_AUTO_TEST_CASE(own_places_are_not_taken_for_those_of_others)
{
    const std::size_t queue_node = queue_node_without_waiters();
    const std::size_t other = (queue_node + 1) % 3;
    for (std::size_t i = 0; i < 3; ++i)
        occupy(i, 1200ms);
    const auto id = ask_in_turn(7, 'x');
    pass(1300ms); // it joins all queues, and then has its turn
    BOOST_TEST(events().starts_with("7 granted for "));
    BOOST_REQUIRE(has_queue(other));
    for (int again = 0; again < 4; ++again)
        report(id);
    BOOST_TEST(events() == "");
    BOOST_TEST(reports(id));
}

// The holder of that time is told.
BOOST_AUTO_TEST_CASE(a_transfer_keeps_it)
{
    const std::size_t queue_node = queue_node_without_waiters();
    const auto id = acquire(7);
    report(id);
    core->transfer(id, 8);
    BOOST_TEST(reports(id));
    others_join(queue_node);
    BOOST_TEST(events() == "8 others wait");
}

BOOST_AUTO_TEST_CASE(another_node_is_asked_when_the_first_is_down)
{
    const std::size_t queue_node = queue_node_without_waiters();
    const auto id = acquire(7);
    report(id);
    told_by();
    nodes[queue_node].up = false;
    run();
    const std::size_t other = told_by();
    BOOST_TEST(other != queue_node);
    BOOST_TEST(reports(id));
    others_join(other);
    BOOST_TEST(events() == "7 others wait");
}

// The node that was asked in the place of the queue node does not track the queue for good.
BOOST_AUTO_TEST_CASE(the_queue_node_is_asked_again_when_it_is_up)
{
    const std::size_t queue_node = queue_node_without_waiters();
    const auto id = acquire(7);
    nodes[queue_node].up = false;
    run();
    report(id);
    const std::size_t other = told_by();
    BOOST_TEST(other != queue_node);
    BOOST_TEST(tracked_by(other) == 1u);
    nodes[queue_node].up = true;
    pass(50ms);
    report(id);
    BOOST_TEST(reports(id));
    BOOST_TEST(tracked_by(queue_node) == 1u);
    BOOST_TEST(tracked_by(other) == 0u);
}

// It has lost the keys, and what it was to tell.
BOOST_AUTO_TEST_CASE(a_flush_counts_as_a_notice)
{
    const std::size_t queue_node = queue_node_without_waiters();
    const auto id = acquire(7);
    report(id);
    nodes[queue_node].forget_keys();
    run();
    BOOST_TEST(events() == "7 others wait");
    BOOST_TEST(!reports(id));
}

BOOST_AUTO_TEST_CASE(a_claim_that_is_over_is_not_told)
{
    const std::size_t queue_node = queue_node_without_waiters();
    const auto first = acquire(7);
    report(first);
    core->release(first, now);
    run();
    BOOST_TEST(events() == "7 released");
    others_join(queue_node);
    BOOST_TEST(events() == "");
    BOOST_TEST(!reports(first));
}

// A node tracks a name until its key changes, even if the client is gone: a name that is used once
// would take memory for good.
BOOST_AUTO_TEST_CASE(a_claim_that_is_over_is_not_tracked_any_more)
{
    const std::size_t queue_node = queue_node_without_waiters();
    const auto first = acquire(7);
    report(first);
    BOOST_TEST(tracked_by(queue_node) == 1u);
    nodes[queue_node].commands();
    core->release(first, now);
    run();
    BOOST_TEST(events() == "7 released");
    BOOST_TEST(tracked_by(queue_node) == 0u);
    BOOST_TEST(nodes[queue_node].commands() == "UNTRACK by text, PASS A");
    BOOST_TEST(nodes[queue_node].server.contents()[0].empty());

    const auto second = acquire(8, 'y');
    report(second);
    BOOST_TEST(reports(second));
    BOOST_TEST(tracked_by(queue_node) == 1u);
    others_join(queue_node);
    BOOST_TEST(tracked_by(queue_node) == 0u);
    nodes[queue_node].commands();
    core->release(second, now);
    run();
    BOOST_TEST(nodes[queue_node].commands().find("UNTRACK") == std::string::npos);
}

// The queue's key changes for a moment then.
BOOST_AUTO_TEST_CASE(the_end_of_the_tracking_is_no_notice_for_the_next_claim)
{
    const std::size_t queue_node = queue_node_without_waiters();
    const auto first = acquire(7);
    report(first);
    nodes[queue_node].silent = true;
    core->release(first, now);
    const auto second = ask(8, 'y');
    run();
    BOOST_TEST(events() == "7 released, 8 granted for 8988");
    report(second);
    BOOST_TEST(reports(second));
    nodes[queue_node].silent = false;
    run();
    BOOST_TEST(events() == "");
    BOOST_TEST(reports(second));
    others_join(queue_node);
    BOOST_TEST(events() == "8 others wait");
}

// The first claim ends when the second is told already.
BOOST_AUTO_TEST_CASE(the_next_claim_is_told_in_its_place)
{
    const std::size_t queue_node = queue_node_without_waiters();
    const auto first = acquire(7);
    report(first);
    nodes[queue_node == 0 ? 1 : 0].silent = true;
    core->release(first, now);
    run();
    BOOST_TEST(events() == "7 released");
    const auto second = acquire(8, 'y');
    report(second);
    nodes[queue_node == 0 ? 1 : 0].silent = false;
    run();
    events();
    others_join(queue_node);
    BOOST_TEST(events() == "8 others wait");
    BOOST_TEST(!reports(second));
}

// The node that is to tell has been looked at just before, and has not answered.
BOOST_AUTO_TEST_CASE(a_look_at_the_node_that_is_to_tell_by_now)
{
    fence_fixture f(3);
    f.connect();
    const auto id = f.acquire(7, 0);
    const auto report = [&] {
        f.core->queue().report_waiters(id, f.now);
        f.run();
    };
    const auto asked = [&](std::size_t node) {
        return f.requests(node).ends_with("EXISTS");
    };
    report();
    std::size_t first = 0;
    while (!asked(first))
        ++first;
    f.answer(first, ":0\r\n");
    f.renew(id);
    for (std::size_t i = 0; i < 3; ++i) {
        if (i != first)
            f.renewed(i, 1);
    }
    f.pass(60ms); // it does not answer in time: another node is to tell
    while (!asked(first)) {
        report();
        for (std::size_t i = 0; i < 3; ++i) {
            while (i != first && asked(i))
                f.answer(i, ":0\r\n");
        }
    }
    f.renewed(first, 1);
    report(); // it is to tell again
    while (asked(first))
        f.answer(first, ":0\r\n");
    report();
    BOOST_TEST((asked((first + 1) % 3) || asked((first + 2) % 3)));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
