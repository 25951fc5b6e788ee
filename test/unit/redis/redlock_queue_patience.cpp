// How long a waiter relies on its queue node, and what it keeps meanwhile.
#include "unit/redis/baton_fixture.hpp"
#include "unit/redis/queue_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

// Three nodes, a lease, and a waiter at the queue node `a`.
struct three_nodes : queue_fixture {
    three_nodes() : queue_fixture(3)
    {
        terms.ttl = 30s;
        acquire(7, 'x');
        ask_in_turn(8, 'y');
        a = queue_node();
    }
    std::size_t a = 0;
};

BOOST_AUTO_TEST_SUITE(redlock_queue_patience)

// With a round without its turn, a waiter would give up its place, and could not succeed.
BOOST_AUTO_TEST_CASE(silence_of_the_only_node_costs_no_place)
{
    queue_fixture c(1);
    c.terms.ttl = 30s;
    c.acquire(7, 'x');
    const auto waits = c.ask_in_turn(8, 'y');
    c.pass(100ms); // it has looked whether it is the first
    c.nodes[0].silent = true;
    c.pass(2s); // it asks for its turn, and gets no answer in time
    BOOST_TEST(c.core->pending_error(waits) == errc::unreachable);
    BOOST_TEST(c.core->nodes().stats()[0].timeouts == 1u); // one request
    c.nodes[0].silent = false;
    c.pass(100ms);
    BOOST_TEST(c.core->pending_error(waits) == errc::contended);
    BOOST_TEST(c.events() == "");
    BOOST_TEST(c.has_queue(0));
}

// The same if another request finds that the node is silent.
BOOST_AUTO_TEST_CASE(silence_that_is_known_before_the_turn_is_asked_for)
{
    queue_fixture c(1);
    c.terms.ttl = 30s;
    const auto first = c.acquire(7, 'x');
    c.ask_in_turn(8, 'y');
    c.pass(500ms);
    c.nodes[0].silent = true;
    c.core->renew({&first, 1}, false, c.now);
    c.pass(1s);
    c.nodes[0].silent = false;
    c.run();
    BOOST_TEST(c.events().find("8 ") == std::string::npos);
    BOOST_TEST(c.has_queue(0));
}

BOOST_AUTO_TEST_CASE(silence_of_all_nodes_costs_no_place)
{
    three_nodes c;
    for (auto& n : c.nodes)
        n.silent = true;
    c.pass(2s);
    for (auto& n : c.nodes)
        n.silent = false;
    c.run();
    BOOST_TEST(c.events() == "");
    BOOST_TEST(c.has_queue(c.a));
}

// While a node that cannot keep the queue makes a majority with others that answer, a round may
// succeed.
BOOST_AUTO_TEST_CASE(silence_of_the_only_node_with_a_queue)
{
    three_nodes c;
    for (std::size_t i = 0; i < 3; ++i) {
        if (i != c.a)
            c.nodes[i].errors["ENQUEUE"] = c.nodes[i].errors["JOIN"] = "NOPERM not for you";
    }
    c.nodes[c.a].silent = true;
    c.pass(2s);
    BOOST_TEST(c.events() == "8 refused: contended");
}

// However long the node timeout is, a waiter goes to the next node before its places end.
BOOST_AUTO_TEST_CASE(places_outlive_the_patience_with_a_queue_node)
{
    model_cluster c(3, 5s);
    c.run();
    c.terms.ttl = 60s;
    c.acquire(7, 'x');
    c.terms.queue = core::queueing::now;
    c.ask(8, 'y');
    c.pass(1200ms); // it is in all queues
    const auto has_queue = [&c](model_node& n) {
        return n.command({"EXISTS", "A:holdfast:queue"}, c.now) == ":1\r\n";
    };
    std::size_t silent = 3;
    for (std::size_t i = 0; i < 3; ++i) {
        const auto log = c.nodes[i].commands();
        silent = log.find("ENQUEUE A") != std::string::npos ? i : silent;
        BOOST_TEST(has_queue(c.nodes[i]));
    }
    BOOST_REQUIRE(silent != 3u);
    c.nodes[silent].silent = true;
    for (int i = 0; i < 8; ++i) {
        c.pass(500ms);
        for (std::size_t n = 0; n < 3; ++n)
            BOOST_TEST((n == silent || has_queue(c.nodes[n])));
    }
}

// A waiter that becomes the first may find that the others' keys are free, because the lease is
// changing hands. What it knows of the queue node's key is from before.
BOOST_FIXTURE_TEST_CASE(a_turn_of_another_client_is_not_taken_for_a_dead_key, baton_fixture)
{
    const auto first = get_turn(); // so turns are known
    pass(100ms);
    wait_elsewhere('n', "theirs");
    ask_in_turn(9, 'z');
    events();
    pass(10ms);
    release(first); // handed off to the other client, who is slow
    BOOST_TEST(owners() == "n--");
    pass(70ms);
    BOOST_TEST(events().find("9 ") == std::string::npos);
}

// A release waits for other answers once, not for as long as they come.
BOOST_FIXTURE_TEST_CASE(the_wait_for_other_answers_is_not_begun_anew, baton_fixture)
{
    const auto id = get_turn();
    wait_elsewhere('n', "theirs+");
    nodes[c].silent = nodes[b].silent = true;
    renew(id);
    requests();
    release(id);
    BOOST_TEST(requests(a) == "");
    pass(1500us);
    nodes[b].silent = false; // one answer comes, another one is still due
    run();
    BOOST_TEST(requests(a) == "");
    pass(600us);
    BOOST_TEST(requests(a) != "");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
