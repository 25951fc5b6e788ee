// Leases that are given to the next waiter of another client.
#include "unit/redis/baton_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

BOOST_FIXTURE_TEST_SUITE(redlock_baton_gifts, baton_fixture)

// One request to one node. The keys of the others stay as they are.
BOOST_AUTO_TEST_CASE(a_lease_is_given_to_the_next_waiter)
{
    const auto id = get_turn();
    wait_elsewhere('n', "theirs+");
    pass(100ms);
    release(id);
    BOOST_TEST(events() == "8 released");
    BOOST_TEST(requests() == "a: GIVE A");
    BOOST_TEST(value(a) == text_of('y') + text_of('n') + " 0");
    BOOST_TEST(owners() == "yyy");
    BOOST_TEST(told() == text_of('n') + reference + text_of('y') + "900 0\r\n");
    BOOST_TEST(core->cleanup().is_done());
    pass(900ms);
    BOOST_TEST(owners() == "yyy"); // what the other client does with them is its own matter
    BOOST_TEST(requests() == "");
}

// A lease that came by a baton is given on in the same way. Its keys keep their token.
BOOST_AUTO_TEST_CASE(a_lease_is_given_on)
{
    const auto id = get_baton(" 100");
    wait_elsewhere('n', "theirs+");
    release(id);
    BOOST_TEST(events() == "8 released");
    BOOST_TEST(requests() == "a: GIVE A");
    BOOST_TEST(value(a) == text_of('o') + text_of('n') + " 100");
    BOOST_TEST(value(b) == text_of('o'));
    BOOST_TEST(value(c) == text_of('o'));
    BOOST_TEST(told() == text_of('n') + reference + text_of('o') + "1000 100\r\n");
    BOOST_TEST(core->cleanup().is_done());
}

// Two claims of one client are different clients for the queue.
BOOST_AUTO_TEST_CASE(a_lease_is_given_to_another_claim_of_the_same_client)
{
    const auto id = get_turn();
    const auto next = ask_in_turn(9, 'z');
    pass(10ms);
    release(id);
    BOOST_TEST(events() == "9 granted for 966, 8 released");
    BOOST_TEST(value(a) == text_of('y') + text_of('z') + " 0");
    release(next);
    BOOST_TEST(events() == "9 released");
    BOOST_TEST(owners() == "---");
    BOOST_TEST(core->cleanup().is_done());
}

// Places in other queues are left, although the keys stay.
BOOST_AUTO_TEST_CASE(places_in_other_queues_are_left)
{
    terms.ttl = 10s;
    wait(60s);
    pass(1s); // until it joins all queues
    others_give();
    run();
    BOOST_REQUIRE(events().starts_with("8 granted"));
    const auto id = ask_in_turn(9, 'z');
    core->abandon(id, now);
    run();
    BOOST_TEST(has_queue(b));
    BOOST_TEST(has_queue(c));
}

// The last answer that has renewed a key came 10 ms after the request. By as much the majority of
// the keys may end before the key at the queue node.
BOOST_AUTO_TEST_CASE(the_lag_of_keys_of_our_own)
{
    const auto id = get_turn();
    nodes[b].silent = nodes[a].silent = true;
    pass(100ms);
    renew(id);
    pass(10ms);
    nodes[b].silent = nodes[a].silent = false;
    run();
    wait_elsewhere('n', "theirs+");
    release(id);
    BOOST_TEST(value(a) == text_of('y') + text_of('n') + " 10");
    BOOST_TEST(told() == text_of('n') + reference + text_of('y') + "990 10\r\n");
}

// A renewal ends the lag of the holders before.
BOOST_AUTO_TEST_CASE(the_lag_after_a_renewal)
{
    const auto id = get_baton(" 100");
    pass(50ms);
    renew(id);
    wait_elsewhere('n', "theirs+");
    release(id);
    BOOST_TEST(value(a) == text_of('o') + text_of('n') + " 0");
}

// So do the confirmations of a lease whose time was nearly over.
BOOST_AUTO_TEST_CASE(the_lag_after_confirmations)
{
    const auto id = wait(600ms);
    others_give();
    nodes[a].deaf = true; // it renews its key later
    run();
    pass(20ms);
    nodes[a].deaf = false;
    run();
    BOOST_TEST(events().starts_with("8 granted"));
    requests();
    wait_elsewhere('n', "theirs+");
    release(id);
    BOOST_TEST(requests() == "a: GIVE A");
    BOOST_TEST(value(a) == text_of('o') + text_of('n') + " 20");
    BOOST_TEST(told() == text_of('n') + reference + text_of('o') + "1000 20\r\n");
}

// Such a node may have the key: it is not set again, but renewed, and deleted in the end.
BOOST_AUTO_TEST_CASE(a_node_that_cannot_confirm_the_key)
{
    const auto id = wait(600ms);
    nodes[b].errors["RENEW"] = "MISCONF no snapshots";
    others_give();
    run();
    BOOST_TEST(events().starts_with("8 granted"));
    nodes[b].errors.clear();
    requests();
    renew(id);
    BOOST_TEST(requests() == "a: RENEW A; b: RENEW A; c: RENEW A");
    pass(100ms);
    BOOST_TEST(requests() == "");
    release(id);
    BOOST_TEST(events().ends_with("8 released"));
    BOOST_TEST(owners() == "---");
}

// A renewal that the queue node does not get leaves its key as it is, while the others end later.
BOOST_AUTO_TEST_CASE(the_lag_after_a_renewal_without_the_queue_node)
{
    const auto id = wait(1s);
    others_give(" 200");
    run();
    BOOST_TEST(events() == "8 granted for 786");
    nodes[a].up = false;
    run();
    pass(300ms);
    renew(id);
    nodes[a].up = true;
    pass(50ms);
    events();
    requests();
    wait_elsewhere('n', "theirs+");
    release(id);
    BOOST_TEST(requests() == "a: GIVE A");
    BOOST_TEST(value(a) == text_of('o') + text_of('n') + " 0");
    BOOST_TEST(told() == text_of('n') + reference + text_of('o') + "650 0\r\n");
}

// A renewal that is answered during the release counts, too: the queue node's key has a new end.
BOOST_AUTO_TEST_CASE(the_lag_after_a_renewal_that_is_answered_during_the_release)
{
    const auto id = get_turn();
    for (const auto i : {b, c}) {
        disconnect(i);
        nodes[i].silent = true; // during the greeting, too
    }
    pass(100ms);
    nodes[a].silent = true;
    renew(id); // only at the queue node
    nodes[b].silent = nodes[c].silent = false;
    run();
    requests();
    wait_elsewhere('n', "theirs+");
    release(id);
    pass(1ms);
    nodes[a].silent = false;
    run();
    BOOST_TEST(requests() == "a: GIVE A");
    BOOST_TEST(events() == "8 released");
    BOOST_TEST(value(a) == text_of('y') + text_of('n') + " 101");
    BOOST_TEST(told() == text_of('n') + reference + text_of('y') + "999 101\r\n");
}

// A client of an earlier version, whose channel has no mark, is handed the key as before.
BOOST_AUTO_TEST_CASE(the_next_waiter_knows_no_batons)
{
    const auto id = get_turn();
    wait_elsewhere('n', "theirs");
    release(id);
    BOOST_TEST(events() == "8 released");
    BOOST_TEST(requests() == "a: GIVE A; b: DELETE A; c: DELETE A");
    BOOST_TEST(owners() == "n--");
    BOOST_TEST(value(a) == text_of('n'));
    BOOST_TEST(told() == text_of('n') + reference + "\r\n");
    BOOST_TEST(core->cleanup().is_done());
    pass(502ms);
    BOOST_TEST(owners() == "---");
}
BOOST_AUTO_TEST_CASE(the_next_waiter_knows_no_batons_and_the_lease_came_by_one)
{
    const auto id = get_baton();
    wait_elsewhere('n', "theirs");
    release(id);
    BOOST_TEST(events() == "8 released");
    BOOST_TEST(owners() == "n--");
    BOOST_TEST(value(a) == text_of('n'));
    BOOST_TEST(core->cleanup().is_done());
}

BOOST_AUTO_TEST_CASE(nobody_waits)
{
    const auto id = get_turn();
    release(id);
    BOOST_TEST(events() == "8 released");
    BOOST_TEST(requests() == "a: GIVE A, PASS A; b: DELETE A; c: DELETE A");
    BOOST_TEST(owners() == "---");
    BOOST_TEST(core->cleanup().is_done());
}

// Clients that are gone, and an entry of a holder of this lease, are no waiters.
BOOST_AUTO_TEST_CASE(nobody_waits_any_more)
{
    const auto id = get_baton();
    for (const std::string& gone : {text_of('d') + reference + "holdfast:dead+",
             text_of('o') + place.substr(32), text_of('y') + place.substr(32)})
        reply(a, {"ZADD", queue, "1", gone});
    release(id);
    BOOST_TEST(events() == "8 released");
    BOOST_TEST(owners() == "---");
    BOOST_TEST(!has_queue(a));
    BOOST_TEST(core->cleanup().is_done());
}

// The key has gone meanwhile: there is nothing to give, and the others are deleted.
BOOST_AUTO_TEST_CASE(the_key_at_the_queue_node_is_gone)
{
    const auto id = get_turn();
    wait_elsewhere('n', "theirs+");
    reply(a, {"DEL", lock});
    release(id);
    BOOST_TEST(events() == "8 released");
    BOOST_TEST(owners() == "---");
    BOOST_TEST(told() == "");
    BOOST_TEST(core->cleanup().is_done());
}

// A request for a place in all queues may have crossed the turn. The queue could set the key to our
// token again, after the lease has ended. Found by fuzzing.
BOOST_AUTO_TEST_CASE(our_place_may_be_in_the_queue)
{
    const auto id = wait(300ms);
    pass(290ms);
    others_hold(10s);
    pass(50ms); // until it joins all queues
    for (const auto i : {b, c})
        reply(i, {"DEL", lock});
    reply(a, {"EVAL", std::string(redis::pass_on_script.text), "2", lock, queue, text_of('o'),
                 "500", ""});
    run();
    BOOST_REQUIRE(events().starts_with("8 granted"));
    requests();
    reply(a, {"ZADD", queue, "200", place});
    wait_elsewhere('n', "theirs+");
    release(id);
    BOOST_TEST(requests(a) == "PASS A");
    BOOST_TEST(owners() == "n--");
    BOOST_TEST(value(a) == text_of('n'));
    BOOST_TEST(core->cleanup().is_done());
}

// A node that has forgotten the script is sent its text.
BOOST_AUTO_TEST_CASE(a_lease_is_given_by_the_text_of_the_script)
{
    const auto id = get_turn();
    wait_elsewhere('n', "theirs+");
    nodes[a].server.forget_scripts();
    release(id);
    BOOST_TEST(events() == "8 released");
    BOOST_TEST(requests() == "a: GIVE A, GIVE A by text");
    BOOST_TEST(owners() == "yyy");
    BOOST_TEST(core->cleanup().is_done());
}

// A refused script has changed nothing.
BOOST_AUTO_TEST_CASE(a_node_that_refuses_the_script)
{
    const auto id = get_turn();
    wait_elsewhere('n', "theirs+");
    nodes[a].errors["GIVE"] = "MISCONF no snapshots";
    release(id);
    BOOST_TEST(events() == "8 released");
    BOOST_TEST(owners() == "n--");
    BOOST_TEST(told() == text_of('n') + reference + "\r\n");
    BOOST_TEST(core->cleanup().is_done());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
