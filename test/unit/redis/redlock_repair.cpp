// Repair and loss of leases of the redlock core, over model nodes.
#include "redis/redlock_core.hpp"

#include "support/model_cluster.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::test;
using namespace std::chrono_literals;
namespace core = holdfast::core;

BOOST_AUTO_TEST_SUITE(redlock_repair)

// A minority that has lost the key is given it again, which excludes other clients; the lease goes
// on.
BOOST_AUTO_TEST_CASE(a_minority_is_repaired)
{
    model_cluster c(3);
    c.run();
    const auto id = c.acquire(7);
    c.nodes[0].forget_keys();
    c.pass(300ms);
    c.renew(id);
    BOOST_TEST(c.events() == "7 valid for 988");
    BOOST_TEST(c.holders() == 2u);
    c.pass(300ms);
    c.renew(id);
    BOOST_TEST(c.holders() == 3u);
    BOOST_TEST(c.nodes[0].commands() == "RENEW A, SET A");
    BOOST_TEST(c.events() == "7 valid for 988");
}

// A node that refuses a repair may hold our own first SET, which arrived late over an old
// connection. It is renewed before it is sent a SET again. Found by the simulator: 6067.
BOOST_AUTO_TEST_CASE(a_node_that_refuses_a_repair_is_renewed_first)
{
    model_cluster c(3);
    c.run();
    const auto id = c.acquire(7);
    c.nodes[0].forget_keys();
    c.pass(100ms);
    c.renew(id);
    c.nodes[0].command({"SET", "A", std::string(32, 'x'), "PX", "900"}, c.now);
    c.pass(100ms);
    c.renew(id);
    c.pass(100ms);
    c.renew(id);
    BOOST_TEST(c.nodes[0].commands() == "RENEW A, SET A, RENEW A");
    BOOST_TEST(c.holders() == 3u);
}

// A node that has forgotten the key does not replace another node that is lost, before the time is
// over for which it had granted the key.
BOOST_AUTO_TEST_CASE(a_node_that_has_forgotten_the_key_does_not_count_at_once)
{
    model_cluster c(3);
    c.run();
    const auto id = c.acquire(7);
    c.nodes[0].forget_keys();
    for (int i = 0; i < 3; ++i) { // missing, repaired, renewed
        c.pass(200ms);
        c.renew(id);
    }
    BOOST_TEST(c.holders() == 3u);
    c.events();
    c.nodes[1].forget_keys();
    c.pass(200ms);
    c.renew(id);
    BOOST_TEST(c.events().starts_with("7 lost"));
}

// Nodes are restarted one after the other during a long lease. Each is away for longer than its key
// lasts, or has forgotten the key and is back at once. After the time of its grant it counts again.
void restart_all_during_a_lease(bool at_once)
{
    model_cluster c(3);
    c.run();
    const auto id = c.acquire(7);
    for (model_node& n : c.nodes) {
        const auto i = static_cast<std::size_t>(&n - c.nodes.data());
        n.up = at_once;
        n.disconnect(*c.core->connections()[i], c.now);
        n.forget_keys();
        for (int renewals = 0; renewals < 20; ++renewals) {
            n.up = n.up || renewals == 6;
            c.pass(200ms);
            c.renew(id);
        }
        BOOST_TEST(c.holders() == 3u);
    }
    BOOST_TEST(c.events().find("lost") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_long_lease_survives_that_all_nodes_are_away_one_after_the_other)
{
    restart_all_during_a_lease(false);
}

BOOST_AUTO_TEST_CASE(a_long_lease_survives_that_all_nodes_forget_it_one_after_the_other)
{
    restart_all_during_a_lease(true);
}

// A node that was down when the lease began is asked when it is back, and then counts.
BOOST_AUTO_TEST_CASE(a_node_that_was_down_at_the_grant_counts_later)
{
    model_cluster c(3);
    c.nodes[2].up = false;
    c.run();
    const auto id = c.acquire(7);
    c.nodes[2].up = true;
    c.pass(200ms);
    c.renew(id);
    BOOST_TEST(c.holders() == 3u);
    c.events();
    c.nodes[0].forget_keys();
    c.pass(100ms);
    c.renew(id);
    BOOST_TEST(c.events() == "7 valid for 988");
}

// When a majority has lost the key, the lease is lost at once, and the remaining keys are deleted.
BOOST_AUTO_TEST_CASE(a_majority_loses_the_key)
{
    model_cluster c(3);
    c.run();
    const auto id = c.acquire(7);
    c.nodes[0].forget_keys();
    c.occupy(1);
    c.renew(id);
    BOOST_TEST(c.events().starts_with("7 lost"));
    BOOST_TEST(c.keys_left); // at the third node
    c.core->release(id, c.now);
    c.run();
    BOOST_TEST(c.events() == "7 expired");
    BOOST_TEST(c.holders() == 0u);
    BOOST_TEST(c.nodes[1].owner("A", c.now) == "another");
}

// Without a majority no key is repaired: a renewal never makes a lease.
BOOST_AUTO_TEST_CASE(nothing_is_repaired_without_a_majority)
{
    model_cluster c(3);
    c.run();
    const auto id = c.acquire(7);
    for (model_node& n : c.nodes)
        n.forget_keys();
    c.renew(id);
    BOOST_TEST(c.events().ends_with("7 lost"));
    BOOST_TEST(!c.keys_left);
    c.renew(id);
    BOOST_TEST(c.holders() == 0u);
    for (model_node& n : c.nodes)
        BOOST_TEST(n.commands() == "RENEW A");
}

BOOST_AUTO_TEST_SUITE_END()
