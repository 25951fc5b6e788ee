// Renewal of leases of the redlock core, over model nodes.
#include "redis/redlock_core.hpp"

#include "support/model_cluster.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;
namespace core = holdfast::core;

BOOST_AUTO_TEST_SUITE(redlock_keep)

// Many leases are renewed in one call to each node, at most a hundred at a time.
BOOST_AUTO_TEST_CASE(renews_in_batches)
{
    model_cluster c(3);
    c.run();
    std::vector<core::claim_id> all;
    for (std::uint64_t i = 0; i < 101; ++i)
        all.push_back(c.acquire(i, 'x', "R" + std::to_string(i)));
    c.pass(300ms);
    c.core->renew(all, false, c.now);
    c.run();
    for (model_node& n : c.nodes) {
        BOOST_TEST(n.log.size() == 2u);
        BOOST_TEST(n.log.back() == "RENEW R100");
    }
    std::size_t confirmed = 0;
    while (const auto e = c.core->next_event()) {
        BOOST_TEST(e->kind == core::event_kind::validity);
        BOOST_TEST(e->valid.until == c.now + 988ms);
        ++confirmed;
    }
    BOOST_TEST(confirmed == all.size());
}

// A node that has forgotten the script is sent its text.
BOOST_AUTO_TEST_CASE(a_forgotten_script_is_sent_as_text)
{
    model_cluster c(1);
    c.run();
    const auto id = c.acquire(7);
    c.nodes[0].server.forget_scripts();
    c.pass(300ms);
    c.renew(id);
    BOOST_TEST(c.events() == "7 valid for 988");
    BOOST_TEST(c.nodes[0].commands() == "RENEW A, RENEW A by text");
    c.core->release(id, c.now);
    c.run();
    BOOST_TEST(c.events() == "7 released");
    BOOST_TEST(c.nodes[0].commands() == "PASS A, PASS A by text");
    BOOST_TEST(!c.core->nodes().stats()[0].last_error);
}

// While a renewal is unanswered no second one is sent, unless the caller asks for that.
BOOST_AUTO_TEST_CASE(one_renewal_at_a_time)
{
    model_cluster c(1);
    c.run();
    const auto id = c.acquire(7);
    c.nodes[0].silent = true;
    c.renew(id);
    c.renew(id);
    BOOST_TEST(c.nodes[0].commands() == "RENEW A");
    c.renew(id, true);
    BOOST_TEST(c.nodes[0].commands() == "RENEW A");
    c.nodes[0].silent = false;
    c.run();
    c.events();
    c.renew(id);
    BOOST_TEST(c.nodes[0].commands() == "RENEW A");
}

// The others confirm them, so the user does not wait for it.
BOOST_AUTO_TEST_CASE(extensions_in_a_loop_do_not_flood_a_silent_node)
{
    model_cluster c(3);
    c.run();
    const auto id = c.acquire(7);
    c.nodes[0].silent = true;
    for (int i = 0; i < 1000; ++i) {
        c.renew(id, true);
        BOOST_TEST(c.nodes[1].commands() == "RENEW A");
    }
    c.nodes[0].silent = false;
    c.run();
    BOOST_TEST(c.nodes[0].log.size() == 100u);
    c.renew(id, true);
    BOOST_TEST(c.nodes[0].log.size() == 101u);
}

// A busy or stopped node is still sent the renewals of leases: as soon as it goes on, it finds
// them.
BOOST_AUTO_TEST_CASE(renewals_are_sent_whatever_else_is_under_way)
{
    model_cluster c(1);
    c.run();
    const auto id = c.acquire(7);
    c.nodes[0].silent = true;
    c.ask(8, 'y', "B");
    c.pass(300ms);
    c.renew(id);
    BOOST_TEST(c.nodes[0].commands() == "SET B, PASS B, RENEW A");
    c.pass(600ms);
    for (std::uint64_t tag = 9; tag < 60; ++tag)
        c.ask(tag, 'y', "B" + std::to_string(tag));
    c.run();
    c.nodes[0].commands();
    const auto late = c.ask(60, 'z', "C");
    c.nodes[0].silent = false;
    c.run();
    BOOST_TEST(c.events().find("60 granted") != std::string::npos);
    c.nodes[0].silent = true;
    c.ask(61, 'y', "D");
    c.pass(200ms);
    c.renew(late);
    BOOST_TEST(c.nodes[0].commands().ends_with("RENEW C"));
}

// Silence neither extends nor ends a lease.
BOOST_AUTO_TEST_CASE(silence_does_not_change_a_lease)
{
    model_cluster c(3);
    c.run();
    const auto id = c.acquire(7);
    c.pass(300ms);
    c.nodes[1].silent = c.nodes[2].silent = true;
    c.renew(id);
    c.pass(100ms);
    BOOST_TEST(c.events() == ""); // one of three is no majority
    c.nodes[1].silent = false;
    c.run();
    BOOST_TEST(c.events() == "7 valid for 888"); // from when it was asked
}

// A lease survives a broken connection to a node, and is renewed there when the node is back.
BOOST_AUTO_TEST_CASE(connections_may_break)
{
    model_cluster c(3);
    c.run();
    c.pass(200ms);
    const auto id = c.acquire(7);
    for (std::size_t i = 0; i < 3; ++i) {
        c.nodes[i].silent = true;
        c.renew(id);
        c.nodes[i].disconnect(*c.core->connections()[i], c.now);
        c.nodes[i].silent = false;
        c.pass(200ms);
        c.renew(id);
    }
    BOOST_TEST(c.events().find("lost") == std::string::npos);
    BOOST_TEST(c.holders() == 3u);
}

// An answer of the wrong type or length ends that connection, and changes nothing else.
BOOST_AUTO_TEST_CASE(a_wrong_answer_ends_only_its_connection)
{
    model_cluster c(3);
    c.run();
    const auto id = c.acquire(7);
    c.nodes[0].errors["RENEW"] = "ERR x\r\n+and something else"; // two replies to one request
    c.renew(id);
    BOOST_TEST(c.events() == "");
    BOOST_TEST(!c.core->nodes().stats()[0].connected);
    BOOST_TEST(
        c.core->nodes().stats()[0].last_error == holdfast::make_error_code(errc::protocol_error));
    BOOST_TEST(c.core->nodes().stats()[1].connected);
}

// A node that connects only after a majority has granted is asked then, and counts. Without it the
// first lease of a process would have no spare node.
BOOST_AUTO_TEST_CASE(a_node_that_connects_late_joins_the_lease)
{
    model_cluster c(3);
    c.nodes[2].deaf = true; // it connects, but does not read the greeting
    c.run();
    const auto id = c.ask(7);
    c.run();
    BOOST_TEST(c.events() == "7 granted for 988");
    BOOST_TEST(c.nodes[2].commands() == "");

    c.pass(100ms);
    c.nodes[2].deaf = false;
    c.run();
    BOOST_TEST(c.nodes[2].commands() == "SET A");
    BOOST_TEST(c.holders() == 3u);

    c.nodes[0].forget_keys();
    c.renew(id);
    BOOST_TEST(c.core->nodes().stats().size() == 3u);
    BOOST_TEST(c.events() == "7 valid for 988"); // by two nodes, one of them the late one
}

// A node that does not know a script even after its text was sent is not asked for ever.
BOOST_AUTO_TEST_CASE(a_script_is_sent_as_text_only_once)
{
    model_cluster c(1);
    c.run();
    const auto id = c.acquire(7);
    for (const char* const script : {"RENEW", "DELETE", "PASS"})
        c.nodes[0].errors[script] = "NOSCRIPT no such script";
    c.pass(300ms);
    c.renew(id);
    BOOST_TEST(c.nodes[0].commands() == "RENEW A, RENEW A by text");
    c.core->release(id, c.now);
    c.run();
    BOOST_TEST(c.events() == "7 unconfirmed");
    const std::string once = "PASS A, PASS A by text, DELETE A, DELETE A by text";
    BOOST_TEST(c.nodes[0].commands() == once + ", " + once); // once more for the clean-up
}

// A release waits for one node timeout. A second request to a node that has refused the first one
// is part of the same release: it gets no further time, however late it is sent.
void release_after(const std::string& refusal)
{
    model_cluster c(1);
    c.run();
    const auto id = c.acquire(7);
    model_node& node = c.nodes[0];
    node.errors["PASS"] = refusal;
    node.silent = true;
    c.core->release(id, c.now);
    c.run();
    c.now += 30ms;
    node.silent = false;
    node.deaf = true;
    c.run(); // the node refuses; the second request waits
    c.now += 15ms;
    node.deaf = false;
    node.silent = true;
    c.pass(4ms);
    BOOST_TEST(c.events() == "");
    c.pass(1ms);
    BOOST_TEST(c.events() == "7 unconfirmed");
}

BOOST_AUTO_TEST_CASE(a_script_that_is_sent_again_late_does_not_extend_a_release)
{
    release_after("NOSCRIPT no such script");
}

BOOST_AUTO_TEST_CASE(a_deletion_that_follows_a_refusal_late_does_not_extend_a_release)
{
    release_after("OOM command not allowed");
}

// Only deletions decide a release. A look for waiters to the same node is not counted, too.
BOOST_AUTO_TEST_CASE(a_look_that_is_sent_late_does_not_extend_a_release)
{
    for (std::size_t slow = 0; slow < 4; ++slow) { // one of them has the queue
        model_cluster c(4);
        c.run();
        const auto id = c.acquire(7);
        for (model_node& each : c.nodes)
            each.silent = true;
        c.nodes[slow].deaf = true;
        c.core->queue().probe_waiters(id, c.now);
        c.core->release(id, c.now);
        c.run();
        c.now += 15ms;
        c.nodes[slow].deaf = false;
        c.pass(34ms);
        BOOST_TEST(c.events() == "");
        c.pass(1ms);
        BOOST_TEST(c.events() == "7 unconfirmed");
    }
}

BOOST_AUTO_TEST_SUITE_END()
