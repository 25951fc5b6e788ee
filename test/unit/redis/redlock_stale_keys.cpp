// A key that a crashed client has left on a minority of the nodes, including the queue node, costs
// each acquire a round trip until it is gone.
#include "redis/node/scripts.hpp"
#include "unit/redis/queue_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using core::queueing;

struct stale_fixture : queue_fixture {
    stale_fixture()
    {
        a = queue_node_without_waiters();
        pass(1100ms); // until that is forgotten
        log();
        terms.ttl = 10s;
    }

    // Of a lease that began a second ago.
    void leave_key(std::size_t node, std::chrono::milliseconds ttl = 9s)
    {
        reply(node, {"SET", "A", dead, "PX", std::to_string(ttl.count())});
    }

    // Requests arrive; then their answers do.
    void round_trip()
    {
        now += 1ms;
        while (core->wake_at() <= now)
            core->wake(now);
        each([](model_node& n) { n.silent = true; });
        each([](model_node& n) {
            n.silent = false;
            n.deaf = true;
        });
        for (model_node& n : nodes)
            n.deaf = false;
    }
    template <class Change>
    void each(Change change)
    {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            change(nodes[i]);
            nodes[i].serve(*core->connections()[i], now);
        }
    }

    // Until the attempt is granted, at most `most`.
    std::size_t round_trips(queueing how, std::size_t most = 100)
    {
        terms.queue = how;
        last = ask(8, 'y');
        std::size_t trips = 0;
        for (bool granted = false; !granted && trips < most; ++trips) {
            round_trip();
            while (const auto e = core->next_event())
                granted = granted || e->kind == core::event_kind::granted;
        }
        return trips;
    }
    void give_back()
    {
        core->release(last, now);
        round_trip();
        while (const auto e = core->next_event())
            BOOST_TEST(
                (e->kind == core::event_kind::released && e->outcome == release_outcome::released));
    }
    // The longest of so many acquires in a row.
    std::size_t slowest(queueing how, std::size_t count)
    {
        std::size_t most = 0;
        for (std::size_t i = 0; i < count; ++i) {
            most = std::max(most, round_trips(how));
            give_back();
        }
        return most;
    }

    std::size_t asked(const std::string& what)
    {
        std::size_t count = 0;
        for (model_node& n : nodes)
            count += static_cast<std::size_t>(std::count(n.log.begin(), n.log.end(), what));
        log();
        return count;
    }
    void log()
    {
        for (model_node& n : nodes)
            n.commands();
    }

    // A client that wants the resource only waits.
    void is_left_alone()
    {
        terms.queue = queueing::now;
        ask(8, 'y');
        pass(25ms);
        BOOST_TEST(asked("SET A") == 0u);
        BOOST_TEST(events() == "");
    }

    const std::string dead = std::string(32, 'd'), other = std::string(32, 'o');
    std::size_t a = 0; // the queue node
    core::claim_id last = 0;
};

BOOST_FIXTURE_TEST_SUITE(redlock_stale_keys, stale_fixture)

// An attempt takes one round trip.
BOOST_AUTO_TEST_CASE(one_round_trip_more_at_the_queue_node)
{
    BOOST_TEST(round_trips(queueing::if_contended) == 1u);
    give_back();
    leave_key(a);
    BOOST_TEST(slowest(queueing::if_contended, 8000) == 2u); // for as long as the key is there
    BOOST_TEST(reply(a, {"EXISTS", "A"}) == ":0\r\n");
}

BOOST_AUTO_TEST_CASE(one_round_trip_more_on_two_nodes)
{
    for (std::size_t also = 0; also < nodes.size(); ++also) {
        if (also == a)
            continue;
        leave_key(a);
        leave_key(also);
        BOOST_TEST(slowest(queueing::if_contended, 500) == 2u);
        for (model_node& n : nodes)
            n.forget_keys();
        pass(11s);
    }
}

// An attempt in the queue takes two round trips, and a client that knows nothing yet needs a third.
BOOST_AUTO_TEST_CASE(one_round_trip_more_in_the_queue)
{
    leave_key(a);
    BOOST_TEST(round_trips(queueing::now) == 3u);
    give_back();
    BOOST_TEST(slowest(queueing::now, 300) <= 3u);
}

// Most of them cost nothing: it is remembered that the key does not move.
BOOST_AUTO_TEST_CASE(a_key_that_does_not_move_is_remembered)
{
    leave_key(a);
    slowest(queueing::if_contended, 1000);
    std::size_t trips = 0;
    for (int i = 0; i < 1000; ++i) {
        trips += round_trips(queueing::if_contended);
        give_back();
    }
    BOOST_TEST(trips == 1000u);
}

// A key without an end is checked every ten seconds.
BOOST_AUTO_TEST_CASE(a_key_that_never_ends)
{
    reply(a, {"SET", "A", dead});
    BOOST_TEST(slowest(queueing::if_contended, 1000) == 2u);
    log();
    slowest(queueing::if_contended, 4000);
    BOOST_TEST(asked("ENQUEUE A") <= 4u);
}

// At its end it looks like a hand-off: a client that comes then waits for a moment at most.
BOOST_AUTO_TEST_CASE(a_stale_key_that_is_about_to_end)
{
    leave_key(a, 450ms);
    BOOST_TEST(round_trips(queueing::now) <= 70u);
}

// A key that has just been handed off is not taken, even if all other nodes are free.
BOOST_AUTO_TEST_CASE(a_key_that_is_changing_hands_is_no_stale_one)
{
    leave_key(a, 500ms);
    is_left_alone();
}

// Its owner is about to ask the other nodes.
BOOST_AUTO_TEST_CASE(a_key_that_was_set_a_moment_ago_is_no_stale_one)
{
    leave_key(a, 10s); // its whole ttl
    is_left_alone();
}

// That moment may have been too short: then the others wait at the queue node, and nobody hands off
// where this client waits.
BOOST_AUTO_TEST_CASE(a_waiter_returns_to_the_queue_node_after_a_moment)
{
    leave_key(a);
    terms.queue = queueing::now;
    ask(8, 'y');
    // All nodes but the queue node have another holder by now.
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (i != a)
            reply(i, {"SET", "A", other, "PX", "10000"});
    }
    pass(5ms);
    log();
    pass(150ms);
    const auto& there = nodes[a].log;
    BOOST_TEST(std::count(there.begin(), there.end(), "ENQUEUE A") >= 1);
}

// The holder is not the owner at the queue node: it will hand the resource off where its own key
// is.
BOOST_AUTO_TEST_CASE(a_holder_without_the_queue_node)
{
    for (std::size_t i = 0; i < nodes.size(); ++i)
        reply(i, {"SET", "A", i == a ? dead : other, "PX", "9000"});
    terms.queue = queueing::now;
    ask(8, 'y');
    for (int trips = 0; trips < 3; ++trips)
        round_trip();
    std::size_t b = nodes.size();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (i != a && has_queue(i))
            b = i;
    }
    BOOST_REQUIRE(b != nodes.size());
    reply(b, {"EVAL", std::string(redis::pass_on_script.text), "2", "A", "A:holdfast:queue", other,
                 "500", ""});
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (i != a && i != b)
            reply(i, {"DEL", "A"});
    }
    run();
    BOOST_TEST(events().starts_with("8 granted"));
    BOOST_TEST(holders('y') == 4u);
}

// We are such a holder: a client that has found that out waits where our key is.
BOOST_AUTO_TEST_CASE(a_lease_without_the_queue_node_is_handed_off)
{
    leave_key(a);
    round_trips(queueing::if_contended);
    log();
    give_back();
    std::size_t passed = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        passed += nodes[i].commands() == "PASS A" && i != a ? 1u : 0u;
    BOOST_TEST(passed == 1u);
}

// A client that waits for a living holder asks the other nodes once, when it arrives.
BOOST_AUTO_TEST_CASE(a_living_holder_is_asked_for_once)
{
    for (std::size_t i = 0; i < nodes.size(); ++i)
        reply(i, {"SET", "A", other, "PX", "10000"});
    ask_in_turn(8, 'y');
    pass(700ms);
    BOOST_TEST(asked("OWNER A by text") == 5u);
}

// Clients that take turns ask no such questions: their queue works.
BOOST_AUTO_TEST_CASE(taking_turns_costs_no_questions)
{
    terms.ttl = 5s;
    auto holder = acquire(1, 'a');
    auto next = ask_in_turn(2, 'b');
    log();
    for (std::uint64_t tag = 3; tag < 20; ++tag) {
        core->release(std::exchange(holder, next), now);
        run();
        next = ask_in_turn(tag, static_cast<char>('a' + tag));
    }
    BOOST_TEST(asked("OWNER A by text") == 0u);
}

// A node that grants its key is a queue node again.
BOOST_AUTO_TEST_CASE(a_queue_node_that_is_usable_again)
{
    leave_key(a);
    slowest(queueing::if_contended, 400);
    nodes[a].forget_keys();
    round_trips(queueing::if_contended);
    give_back();
    log();
    ask_in_turn(9, 'z');
    BOOST_TEST(queue_node() == a);
}

// The question for the holder is sent late. That gives no other claim more time: here a release
// that has been waiting for its majority. Both are the first of their kind, so their ids are equal.
BOOST_AUTO_TEST_CASE(a_question_that_is_sent_late_extends_nothing_else)
{
    queue_fixture c;
    const core::claim_id lease = c.acquire(7, 'x', "B");
    for (std::size_t i = 0; i < c.nodes.size(); ++i) {
        c.occupy(i);
        c.nodes[i].silent = true;
    }
    c.ask_in_turn(8, 'y');
    const std::size_t queue_node = c.queue_node();
    c.core->release(lease, c.now);
    c.run();
    for (model_node& n : c.nodes)
        n.deaf = true;
    c.nodes[queue_node].silent = false;
    c.run(); // it answers that the key is taken; no node reads the question that follows
    c.now += 40ms;
    for (model_node& n : c.nodes)
        n.deaf = false;
    c.nodes[queue_node].silent = true;
    c.pass(9ms);
    BOOST_TEST(c.events() == "");
    c.pass(1ms);
    BOOST_TEST(c.events() == "7 unconfirmed");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
