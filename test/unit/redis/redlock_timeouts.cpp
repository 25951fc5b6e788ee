// When the redlock core starts to count the time of a request, and when an answer is late.
#include "redis/redlock_core.hpp"

#include "support/model_cluster.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::test;
using namespace std::chrono_literals;
namespace core = holdfast::core;

BOOST_AUTO_TEST_SUITE(redlock_timeouts)

// Our own loop was busy, and answers wait to be read: no node is late before they are read.
BOOST_AUTO_TEST_CASE(no_timeout_is_judged_before_what_has_arrived_is_read)
{
    model_cluster c(3);
    c.run();
    c.ask(7);
    for (std::size_t i = 0; i < 3; ++i)
        c.nodes[i].silent = true; // it has answered, and we have not read it
    c.run();
    const core::time_point read = c.now + 49ms;
    c.now += 80ms;
    c.core->wake(c.now, read);
    BOOST_TEST(c.events() == "");
    for (std::size_t i = 0; i < 3; ++i) {
        c.nodes[i].silent = false;
        c.nodes[i].serve(*c.core->connections()[i], c.now);
    }
    BOOST_TEST(c.events() == "7 granted for 908");
}

// The timeout is judged as soon as everything that arrived in time has been read.
BOOST_AUTO_TEST_CASE(a_timeout_is_judged_when_what_has_arrived_is_read)
{
    model_cluster c(3);
    c.run();
    c.ask(7);
    for (model_node& n : c.nodes)
        n.silent = true;
    c.run();
    const core::time_point deadline = c.now + 50ms;
    c.now += 80ms;
    c.core->wake(c.now, deadline);
    BOOST_TEST(c.events() == "7 refused: unreachable");
}

// A request in our own output buffer has not been asked yet. The node timeout and the lease count
// from when it is sent.
BOOST_AUTO_TEST_CASE(an_attempt_counts_from_when_it_is_sent)
{
    model_cluster c(3);
    c.run();
    c.ask(7);
    c.now += 45ms; // for example in a handler of the user
    for (model_node& n : c.nodes)
        n.silent = true;
    for (std::size_t i = 0; i < 3; ++i)
        c.nodes[i].serve(*c.core->connections()[i], c.now);
    c.pass(49ms);
    BOOST_TEST(c.events() == "");
    for (model_node& n : c.nodes)
        n.silent = false;
    c.run();
    BOOST_TEST(c.events() == "7 granted for 939");
}

// A node that does not accept our requests delays neither an attempt nor a release.
BOOST_AUTO_TEST_CASE(a_minority_that_is_asked_late_delays_nothing)
{
    model_cluster c(3);
    c.run();
    c.nodes[0].deaf = true;
    c.nodes[1].silent = c.nodes[2].silent = true;
    const auto id = c.ask(7);
    c.run();
    c.pass(40ms);
    c.nodes[0].deaf = false;
    c.nodes[0].silent = true;
    c.pass(10ms);
    BOOST_TEST(c.events() == "7 refused: unreachable");
    for (model_node& n : c.nodes)
        n.silent = false;
    c.run();
    BOOST_TEST(c.core->cleanup().is_done());
    BOOST_TEST(id != 0u);
}

BOOST_AUTO_TEST_SUITE_END()
