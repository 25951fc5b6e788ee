// Attempts of the redlock core, over model nodes.
#include "redis/redlock_core.hpp"

#include "support/model_cluster.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;
namespace core = holdfast::core;

BOOST_AUTO_TEST_SUITE(redlock_acquire)

// With any number of nodes, a free resource is granted by all, for the ttl less the drift.
BOOST_AUTO_TEST_CASE(acquires)
{
    for (const std::size_t n : {1u, 2u, 3u, 4u, 5u, 15u}) {
        model_cluster c(n);
        c.run();
        c.ask(7);
        c.run();
        BOOST_TEST(c.events() == "7 granted for 988");
        BOOST_TEST(c.holders() == n);
        for (model_node& node : c.nodes)
            BOOST_TEST(node.commands() == "SET A");
    }
}

// No attempt is refused before the first connection: the requests wait for the connections.
BOOST_AUTO_TEST_CASE(waits_for_the_first_connection)
{
    model_cluster c(3);
    c.ask(7);
    BOOST_TEST(c.events() == "");
    c.run();
    BOOST_TEST(c.events() == "7 granted for 988");
}

// The backend is cut off as soon as the last try to connect to so many nodes has failed that no
// majority is left, and until one is connected again.
BOOST_AUTO_TEST_CASE(is_cut_off_without_a_majority)
{
    model_cluster c(3);
    c.nodes[0].up = c.nodes[1].up = false;
    BOOST_TEST(c.core->nodes().cut_off() == errc{});
    c.run();
    BOOST_TEST(c.core->nodes().cut_off() == errc::unreachable);
    c.nodes[0].up = true;
    c.pass(2s);
    BOOST_TEST(c.core->nodes().cut_off() == errc{});
    c.nodes[2].up = false;
    c.nodes[2].disconnect(*c.core->connections()[2], c.now);
    BOOST_TEST(c.core->nodes().cut_off() == errc{}); // it may come back at once
    c.run();
    BOOST_TEST(c.core->nodes().cut_off() == errc::unreachable);
    c.nodes[1].up = c.nodes[2].up = true;
    c.pass(2s);
    BOOST_TEST(c.core->nodes().cut_off() == errc{});
}

// If a person must act before there can be a majority, that is the reason.
BOOST_AUTO_TEST_CASE(is_cut_off_by_what_a_person_must_correct)
{
    model_cluster c(3);
    c.nodes[0].errors = c.nodes[1].errors = {{"HELLO", "WRONGPASS no"}};
    c.run();
    BOOST_TEST(c.core->nodes().cut_off() == errc::authentication_failed);
    c.nodes[1].errors.clear();
    c.pass(2s);
    BOOST_TEST(c.core->nodes().cut_off() == errc{});
    c.nodes[2].up = false;
    c.nodes[2].disconnect(*c.core->connections()[2], c.now);
    c.pass(1s);
    BOOST_TEST(
        c.core->nodes().cut_off() == errc::unreachable); // one of two could come back by itself
}

// A refused attempt deletes its key on every node that has not refused, after the SET.
BOOST_AUTO_TEST_CASE(refused_and_cleaned_up)
{
    model_cluster c(3);
    c.run();
    c.occupy(0);
    c.occupy(1);
    c.ask(7);
    c.run();
    BOOST_TEST(c.events() == "7 refused: contended");
    BOOST_TEST(c.nodes[0].commands() == "SET A");
    BOOST_TEST(c.holders() == 0u);
    BOOST_TEST(c.nodes[2].commands() == "SET A, DELETE A");
    BOOST_TEST(c.core->cleanup().is_done());
}

// Half of the nodes is no majority: the attempt is refused, and leaves nothing behind.
BOOST_AUTO_TEST_CASE(a_tie_of_two_nodes_is_contended)
{
    model_cluster c(2);
    c.run();
    c.occupy(0);
    c.ask(7);
    c.run();
    BOOST_TEST(c.events() == "7 refused: contended");
    BOOST_TEST(c.holders() == 0u);
}

// A majority decides: a slow node delays nothing, and its late grant joins the lease.
BOOST_AUTO_TEST_CASE(a_late_grant_joins)
{
    model_cluster c(3);
    c.run();
    c.nodes[2].silent = true;
    const auto id = c.ask(7);
    c.run();
    BOOST_TEST(c.events() == "7 granted for 988");
    c.pass(100ms);
    c.nodes[2].silent = false;
    c.run();
    BOOST_TEST(c.events() == ""); // the same validity as before
    c.nodes[0].forget_keys();
    c.renew(id); // node 0 has lost it: the late grant makes the majority
    BOOST_TEST(c.events() == "7 valid for 988");
}

// A late grant to an attempt that has ended is deleted after it, on the same connection.
BOOST_AUTO_TEST_CASE(a_late_grant_of_a_lost_round_is_deleted)
{
    model_cluster c(3);
    c.run();
    c.occupy(0);
    c.occupy(1);
    c.nodes[2].silent = true;
    c.ask(7);
    c.run();
    BOOST_TEST(c.events() == "7 refused: contended");
    BOOST_TEST(c.nodes[2].commands() == "SET A, DELETE A");
    BOOST_TEST(!c.core->cleanup().is_done());
    c.nodes[2].silent = false;
    c.run();
    BOOST_TEST(c.core->cleanup().is_done());
    BOOST_TEST(c.holders() == 0u);
}

// A silent node is waited for until the node timeout, and silence is no refusal. A timeout does not
// close the connection, and the late answer is not taken for that of a later request.
BOOST_AUTO_TEST_CASE(silence_is_unknown)
{
    model_cluster c(3);
    c.run();
    c.nodes[1].silent = c.nodes[2].silent = true;
    c.ask(7);
    c.pass(50ms - 1ns);
    BOOST_TEST(c.events() == "");
    c.pass(1ns);
    BOOST_TEST(c.events() == "7 refused: unreachable");
    BOOST_TEST(c.core->nodes().stats()[1].timeouts == 1u);
    BOOST_TEST(c.core->nodes().stats()[1].connected);
    BOOST_TEST(c.core->nodes().stats()[1].last_error == holdfast::make_error_code(errc::no_reply));
    c.nodes[1].silent = c.nodes[2].silent = false;
    c.ask(8, 'y');
    c.run();
    BOOST_TEST(c.events() == "8 granted for 988");
    BOOST_TEST(c.holders('x') == 0u);
    BOOST_TEST(c.holders('y') == 3u);
}

// The node timeout depends on the ttl unless it is set.
BOOST_AUTO_TEST_CASE(patience)
{
    model_cluster by_ttl(1, std::nullopt), fixed(1, 70ms);
    BOOST_TEST(by_ttl.core->patience(20ms) == core::duration(5ms));
    BOOST_TEST(by_ttl.core->patience(1s) == core::duration(50ms));
    BOOST_TEST(by_ttl.core->patience(1h) == core::duration(500ms));
    BOOST_TEST(fixed.core->patience(1h) == core::duration(70ms));
}

// A minority that is down costs no time, and no requests.
BOOST_AUTO_TEST_CASE(down_nodes_cost_nothing)
{
    model_cluster c(5);
    c.nodes[0].up = c.nodes[3].up = false;
    c.run();
    c.ask(7);
    c.run();
    BOOST_TEST(c.events() == "7 granted for 988");
    BOOST_TEST(c.core->nodes().stats()[0].commands == 0u);
}

// With too many nodes down, an attempt is refused in the call itself, with the reason.
BOOST_AUTO_TEST_CASE(all_down)
{
    model_cluster c(3);
    for (model_node& n : c.nodes)
        n.up = false;
    c.run();
    c.ask(7);
    BOOST_TEST(c.events() == "7 refused: unreachable");
    BOOST_TEST(c.core->cleanup().is_done());
}

// A fault that a person must fix is the reason if it alone prevents a majority, and only then.
BOOST_AUTO_TEST_CASE(a_majority_that_refuses_us)
{
    for (const std::size_t refusing : {1u, 2u, 3u}) {
        model_cluster c(3);
        for (std::size_t i = 0; i < refusing; ++i)
            c.nodes[i].errors["HELLO"] = "WRONGPASS invalid username-password pair";
        if (refusing == 1)
            c.nodes[2].up = false;
        c.run();
        c.ask(7);
        c.run();
        BOOST_TEST(c.events() ==
                   (refusing == 1 ? "7 refused: unreachable" : "7 refused: authentication_failed"));
    }
}

// A node that is silent now does not get the reason that it gave to an earlier request.
BOOST_AUTO_TEST_CASE(an_old_error_is_not_the_reason_of_silence)
{
    model_cluster c(3);
    c.run();
    for (model_node& n : c.nodes)
        n.errors["TYPE"] = n.errors["PTTL"] = "NOPERM this user has no permissions to run it";
    c.core->watch(9, "B", c.now);
    c.run();
    BOOST_TEST(c.core->nodes().stats()[0].last_error ==
               holdfast::make_error_code(errc::permission_denied));
    for (model_node& n : c.nodes)
        n.silent = true;
    const auto id = c.ask(7);
    BOOST_TEST(c.core->pending_error(id) == errc::unreachable);
    c.pass(100ms);
    BOOST_TEST(c.events() == "7 refused: unreachable");
}

// The answers to this attempt are the reason, not the latest answers to other requests.
BOOST_AUTO_TEST_CASE(the_reason_is_the_answer_to_this_attempt)
{
    model_cluster c(3);
    c.run();
    c.nodes[0].errors["SET"] = c.nodes[1].errors["SET"] = "NOPERM not for you";
    c.ask(7);
    c.run();
    BOOST_TEST(c.events() == "7 refused: permission_denied");
    c.nodes[1].silent = true;
    c.ask(8);
    c.pass(100ms);
    BOOST_TEST(c.events() == "8 refused: unreachable");
}

// A node becomes unusable while it is asked, and is then down for that reason.
BOOST_AUTO_TEST_CASE(a_reason_for_being_down_counts)
{
    model_cluster c(3);
    c.run();
    c.nodes[0].errors["SET"] = c.nodes[1].errors["SET"] = "READONLY You can't write against it";
    c.ask(7);
    c.run();
    BOOST_TEST(c.events() == "7 refused: misconfigured_node");
    BOOST_TEST(!c.core->nodes().stats()[0].connected);
    c.ask(8);
    c.run();
    BOOST_TEST(c.events() == "8 refused: misconfigured_node");
}

// An error proves that the node did not execute the request: there is nothing to clean up there. It
// is not silence.
BOOST_AUTO_TEST_CASE(an_error_is_a_failed_vote)
{
    model_cluster c(3);
    c.run();
    c.nodes[0].errors["SET"] = "OOM command not allowed when used memory > 'maxmemory'.";
    c.nodes[1].errors["SET"] = "LOADING Redis is loading the dataset in memory";
    c.ask(7);
    c.run();
    BOOST_TEST(c.events() == "7 refused: unreachable");
    BOOST_TEST(c.nodes[0].commands() == "SET A");
    BOOST_TEST(c.nodes[2].commands() == "SET A, DELETE A");
    BOOST_TEST(
        c.core->nodes().stats()[0].last_error == holdfast::make_error_code(errc::node_error));
    BOOST_TEST(c.core->nodes().stats()[0].connected);
}

// A grant that comes so late that no useful part of the lease is left is deleted.
BOOST_AUTO_TEST_CASE(too_late)
{
    model_cluster c(3, 2s);
    c.run();
    c.nodes[1].silent = c.nodes[2].silent = true;
    c.ask(7);
    c.pass(938ms); // 988 - 938 is not above the guard
    c.nodes[1].silent = c.nodes[2].silent = false;
    c.run();
    BOOST_TEST(c.events() == "7 refused: too_late");
    BOOST_TEST(c.holders() == 0u);
}

// The error of a pending attempt can be asked for. After it is abandoned, it emits no event and
// leaves nothing behind.
BOOST_AUTO_TEST_CASE(abandoned)
{
    model_cluster c(3);
    c.run();
    c.nodes[1].silent = c.nodes[2].silent = true;
    const auto id = c.ask(7);
    c.run();
    BOOST_TEST(c.core->pending_error(id) == errc::unreachable);
    c.core->abandon(id, c.now);
    c.run();
    c.nodes[1].silent = c.nodes[2].silent = false;
    c.run();
    BOOST_TEST(c.events() == "");
    BOOST_TEST(c.holders() == 0u);
    BOOST_TEST(c.core->cleanup().is_done());
}

// A SET whose connection broke may have been executed. It is never sent again, and when the node is
// back, its key is deleted.
BOOST_AUTO_TEST_CASE(an_orphaned_set_is_deleted_after_reconnecting)
{
    model_cluster c(1);
    c.run();
    c.pass(200ms); // a connection that lasts
    c.nodes[0].silent = true;
    c.ask(7);
    c.run();
    c.nodes[0].disconnect(*c.core->connections()[0], c.now);
    BOOST_TEST(c.events() == "7 refused: unreachable");
    BOOST_TEST(c.holders() == 1u);
    c.nodes[0].silent = false;
    c.run();
    BOOST_TEST(c.nodes[0].commands() == "SET A, PASS A");
    BOOST_TEST(c.holders() == 0u);
    BOOST_TEST(c.core->cleanup().is_done());
}

// One server that is listed twice has one vote: the second session is refused with the name of the
// first.
BOOST_AUTO_TEST_CASE(one_server_twice)
{
    model_cluster c(3);
    c.nodes[2].server.restart("node0", {});
    c.run();
    BOOST_TEST(!c.core->nodes().stats()[2].connected);
    BOOST_TEST(c.core->nodes().stats()[2].last_error ==
               holdfast::make_error_code(errc::misconfigured_node));
    BOOST_TEST(c.core->nodes().stats()[2].reason == "the same server as node0");
    c.ask(7);
    c.run();
    BOOST_TEST(c.events() == "7 granted for 988");
    BOOST_TEST(c.nodes[2].commands() == "");
}

// A resource that other clients hold becomes free when a majority of the nodes is free, according
// to the nodes.
BOOST_AUTO_TEST_CASE(watches_when_a_resource_becomes_free)
{
    model_cluster c(3);
    c.run();
    c.occupy(0, 300ms);
    c.occupy(1, 200ms);
    c.occupy(2, 400ms);
    c.core->watch(9, "A", c.now);
    c.run();
    BOOST_TEST(c.events() == "9 frees in 300"); // then two of three are free
    for (model_node& n : c.nodes) {
        n.forget_keys();
        n.command({"LPUSH", "A", "x"}, c.now);
        n.command({"PEXPIRE", "A", "300"}, c.now);
    }
    c.core->watch(9, "A", c.now);
    c.run();
    BOOST_TEST(c.events() == "9 key_conflict");
}

BOOST_AUTO_TEST_SUITE_END()
