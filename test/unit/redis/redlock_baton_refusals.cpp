// Leases that are not given, but released by deleting the keys; and gifts without an answer.
#include "unit/redis/baton_fixture.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <string>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

struct baton_in_cluster : baton_fixture {
    baton_in_cluster() : baton_fixture({}, {.in_cluster = true}) {}
};

struct refusal_fixture : baton_fixture {
    // Releases while another client waits. True if the lease was given.
    bool gives(core::claim_id id)
    {
        wait_elsewhere('n', "theirs+");
        requests();
        release(id);
        return requests(a).find("GIVE A") != std::string::npos;
    }
    bool was_handed_off() const { return owners() == "n--"; }
};

BOOST_FIXTURE_TEST_SUITE(redlock_baton_refusals, refusal_fixture)

// Probably nobody waits there.
BOOST_AUTO_TEST_CASE(a_lease_without_the_queue)
{
    BOOST_TEST(!gives(acquire(7, 'x')));
    BOOST_TEST(events() == "7 released");
    BOOST_TEST(was_handed_off());
}
BOOST_AUTO_TEST_CASE(a_lease_without_waiting)
{
    const auto id = ask_in_turn(7, 'x');
    BOOST_TEST(events() == "7 granted for 988");
    BOOST_TEST(!gives(id));
    BOOST_TEST(was_handed_off());
}

BOOST_AUTO_TEST_CASE(a_lease_with_just_enough_time_left)
{
    const auto id = get_turn();
    pass(288ms);
    BOOST_TEST(gives(id));
}
BOOST_AUTO_TEST_CASE(a_lease_with_too_little_time_left)
{
    const auto id = get_turn();
    pass(288ms + 1ns);
    BOOST_TEST(!gives(id));
    BOOST_TEST(events() == "8 released");
    BOOST_TEST(was_handed_off());
}
BOOST_AUTO_TEST_CASE(a_lease_that_was_lost)
{
    const auto id = get_turn();
    for (const auto i : {b, c})
        reply(i, {"DEL", lock});
    renew(id);
    BOOST_TEST(events().ends_with("8 lost"));
    BOOST_TEST(!gives(id));
    BOOST_TEST(was_handed_off());
}
BOOST_AUTO_TEST_CASE(a_lease_that_was_renewed)
{
    const auto id = get_turn();
    pass(600ms);
    renew(id);
    BOOST_TEST(gives(id));
}

// A renewal that is under way could arrive when the next holder has deleted the key, or has renewed
// it for longer.
BOOST_AUTO_TEST_CASE(a_renewal_that_is_answered_in_time)
{
    const auto id = get_turn();
    nodes[c].silent = true;
    renew(id);
    BOOST_TEST(!gives(id));
    pass(2ms - 1ns);
    BOOST_TEST(requests() == "");
    nodes[c].silent = false;
    run();
    BOOST_TEST(requests() == "a: GIVE A");
    BOOST_TEST(events().ends_with("8 released"));
    BOOST_TEST(owners() == "yyy");
}
BOOST_AUTO_TEST_CASE(a_renewal_that_is_not_answered_in_time)
{
    const auto id = get_turn();
    nodes[c].silent = true;
    renew(id);
    BOOST_TEST(!gives(id));
    pass(2ms);
    BOOST_TEST(requests() == "a: PASS A; b: DELETE A; c: DELETE A");
    BOOST_TEST(events().ends_with("8 released"));
    nodes[c].silent = false;
    run();
    BOOST_TEST(was_handed_off());
    BOOST_TEST(core->cleanup().is_done());
}

BOOST_AUTO_TEST_CASE(a_renewal_whose_answer_is_lost)
{
    const auto id = get_turn();
    nodes[c].silent = true;
    renew(id);
    BOOST_TEST(!gives(id));
    events();
    disconnect(c);
    run();
    BOOST_TEST(requests() == "a: PASS A; b: DELETE A");
    BOOST_TEST(events() == "8 released");
}
BOOST_AUTO_TEST_CASE(a_renewal_whose_answer_is_lost_when_all_connections_are_closed)
{
    const auto id = get_turn();
    nodes[c].silent = true;
    renew(id);
    BOOST_TEST(!gives(id));
    events();
    core->close(now);
    BOOST_TEST(events() == "8 unconfirmed");
    BOOST_TEST(core->cleanup().is_done());
}

// It may be the answer to another request, so this one may still arrive.
BOOST_AUTO_TEST_CASE(a_renewal_with_an_answer_of_the_wrong_type)
{
    const auto id = get_turn();
    nodes[c].wrong["RENEW"] = ":1\r\n";
    renew(id);
    run();
    BOOST_REQUIRE(!core->nodes().stats()[c].connected);
    events();
    BOOST_TEST(!gives(id));
    BOOST_TEST(events() == "8 released");
}
BOOST_AUTO_TEST_CASE(a_confirmation_with_an_answer_of_the_wrong_type)
{
    const auto id = wait(500ms);
    nodes[c].wrong["RENEW"] = ":1\r\n";
    others_give();
    run();
    BOOST_REQUIRE(!core->nodes().stats()[c].connected);
    BOOST_TEST(events() == "8 granted for 988");
    BOOST_TEST(!gives(id));
    BOOST_TEST(events() == "8 released");
}
BOOST_AUTO_TEST_CASE(a_key_that_is_set_again_with_an_answer_of_the_wrong_type)
{
    const auto id = get_turn();
    reply(c, {"DEL", lock});
    renew(id);
    run();
    nodes[c].wrong["SET"] = ":1\r\n";
    renew(id); // this sets it
    run();
    BOOST_REQUIRE(!core->nodes().stats()[c].connected);
    events();
    BOOST_TEST(!gives(id));
    BOOST_TEST(events() == "8 released");
}

// The key may not count yet. For the next holder it would.
BOOST_AUTO_TEST_CASE(a_key_that_is_set_again)
{
    const auto id = get_turn();
    for (int i = 0; i < 2; ++i) { // found missing, and set again
        reply(c, i == 0 ? std::vector<std::string>{"DEL", lock} : std::vector<std::string>{"PING"});
        renew(id);
        run();
    }
    BOOST_TEST(owners() == "yyy");
    events();
    BOOST_TEST(!gives(id));
    BOOST_TEST(events() == "8 released");
}

// It may be the answer to another request, and the node may have given the lease to another client:
// its keys are not deleted.
BOOST_DATA_TEST_CASE_F(refusal_fixture, a_baton_with_an_answer_that_is_none,
    boost::unit_test::data::make({"+OK\r\n", ":7\r\n", "_\r\n"}), answer)
{
    terms.ttl = 10s;
    const auto id = get_turn();
    wait_elsewhere('n', "theirs+");
    const std::string given = reply(a, {"EVAL", std::string(redis::baton_script.text), "2", lock,
                                           queue, text_of('y'), " 0", "500"});
    BOOST_REQUIRE(given == ":2\r\n");
    nodes[a].wrong["GIVE"] = answer; // instead of doing so
    release(id);
    BOOST_TEST(events() == "8 unconfirmed");
    pass(1s); // the connection is opened again
    BOOST_TEST(core->cleanup().is_done());
    BOOST_TEST(owners() == "yyy");
}

BOOST_AUTO_TEST_CASE(a_place_with_an_answer_of_the_wrong_type)
{
    others_hold();
    nodes[a].wrong["ENQUEUE"] = "+1\r\n";
    const auto id = ask_in_turn(8, 'y');
    BOOST_REQUIRE(!core->nodes().stats()[a].connected);
    BOOST_REQUIRE(has_queue(b) != has_queue(c));
    std::swap(a, has_queue(b) ? b : c); // now this one keeps the queue
    reply(b, {"DEL", lock});
    reply(c, {"DEL", lock});
    reply(a, {"EVAL", std::string(redis::pass_on_script.text), "2", lock, queue, text_of('o'),
                 "500", ""});
    run();
    BOOST_TEST(events() == "8 granted for 988");
    BOOST_TEST(!gives(id));
    BOOST_TEST(events() == "8 released");
}

// After a wait in vain none is made for a second.
BOOST_AUTO_TEST_CASE(waits_in_vain_are_not_repeated)
{
    const auto deletes_at_once = [this] {
        const auto id = get_turn();
        nodes[c].silent = true;
        renew(id);
        release(id);
        const bool at_once = requests(b).find("DELETE A") != std::string::npos;
        pass(10ms);
        nodes[c].silent = false;
        run();
        events();
        return at_once;
    };
    BOOST_TEST(!deletes_at_once());
    BOOST_TEST(deletes_at_once());
    BOOST_TEST(gives(get_turn())); // nothing is under way
    BOOST_TEST(events() == "8 released");
    for (const auto i : {a, b, c})
        reply(i, {"DEL", lock, queue});
    pass(900ms);
    BOOST_TEST(deletes_at_once());
    pass(82ms); // a second after the wait
    BOOST_TEST(!deletes_at_once());
}

// Its answer is lost, so nobody knows when it arrives. Another connection does not help.
BOOST_AUTO_TEST_CASE(a_stray_request)
{
    const auto id = get_turn();
    nodes[c].silent = true;
    renew(id);
    disconnect(c);
    nodes[c].silent = false;
    pass(100ms);
    BOOST_REQUIRE(core->nodes().stats()[c].connected);
    renew(id);
    events();
    BOOST_TEST(!gives(id));
    BOOST_TEST(events() == "8 released");
    BOOST_TEST(was_handed_off());
}
BOOST_AUTO_TEST_CASE(a_stray_request_before_the_lease)
{
    others_hold();
    const auto id = ask_in_turn(8, 'y');
    reply(b, {"DEL", lock});
    nodes[c].silent = true;
    reply(a, {"EVAL", std::string(redis::pass_on_script.text), "2", lock, queue, text_of('o'),
                 "500", ""});
    run();
    BOOST_TEST(events() == "8 granted for 988");
    disconnect(c);
    nodes[c].silent = false;
    pass(100ms);
    BOOST_TEST(!gives(id));
}

// The keys would stay until it answers.
BOOST_AUTO_TEST_CASE(a_queue_node_that_answers_in_time)
{
    BOOST_TEST(gives(get_turn(25ms)));
}
BOOST_AUTO_TEST_CASE(a_queue_node_that_answers_late)
{
    const auto id = get_turn(25ms + 1ns);
    BOOST_TEST(!gives(id));
    BOOST_TEST(events() == "8 released");
    BOOST_TEST(was_handed_off());
}

BOOST_AUTO_TEST_CASE(a_queue_node_that_cannot_be_reached)
{
    const auto id = get_baton();
    nodes[a].up = false;
    run();
    release(id);
    BOOST_TEST(events() == "8 released");
    BOOST_TEST(requests(b) + ", " + requests(c) == "PASS A, DELETE A");
    BOOST_TEST(value(b) + value(c) == "");
}

// A window for clients that poll is due.
BOOST_AUTO_TEST_CASE(a_due_window)
{
    terms.polling = {.window_ms = 200, .period_ms = 5000};
    const auto id = get_turn();
    core->queue().leave_open(id);
    BOOST_TEST(!gives(id));
    BOOST_TEST(events() == "8 released");
    BOOST_TEST(owners() == "---");
    BOOST_TEST(has_queue(a));
    BOOST_TEST(reply(a, {"EXISTS", "A:holdfast:open"}) == ":1\r\n");
}
BOOST_AUTO_TEST_CASE(a_window_that_is_not_due)
{
    terms.polling = {.window_ms = 200, .period_ms = 5000};
    BOOST_TEST(gives(get_turn()));
}

// A lease that came by a baton can be given only where its key names the holder. Another node keeps
// the queue now.
BOOST_AUTO_TEST_CASE(a_lease_that_came_from_another_queue_node)
{
    terms.ttl = 5s;
    for (const auto i : {a, b, c})
        reply(i, {"SET", lock, text_of('o'), "PX", "5000"});
    nodes[a].silent = true;
    const auto id = ask_in_turn(8, 'y');
    pass(110ms);
    BOOST_REQUIRE(has_queue(b));
    reply(b, {"EVAL", std::string(redis::baton_script.text), "2", lock, queue, text_of('o'), " 0",
                 "500"});
    nodes[a].silent = false;
    run();
    BOOST_TEST(events().starts_with("8 granted"));
    BOOST_TEST(owners() == "ooo");
    BOOST_TEST(!gives(id));
    BOOST_TEST(events() == "8 released");
    BOOST_TEST(was_handed_off());
}

// In a cluster a key may move to another node, and there is only one: nothing is gained.
BOOST_FIXTURE_TEST_CASE(a_lease_in_a_cluster, baton_in_cluster)
{
    const auto id = get_turn();
    BOOST_TEST(!place.ends_with('+'));
    wait_elsewhere('n', "theirs+");
    release(id);
    BOOST_TEST(events() == "8 released");
    BOOST_TEST(requests(a).starts_with("PASS A"));
    BOOST_TEST(owners() == "n--");
    BOOST_TEST(told() == text_of('n') + reference + "\r\n");
}
// Nor is a lease given to us there.
BOOST_FIXTURE_TEST_CASE(a_waiter_in_a_cluster, baton_in_cluster)
{
    wait();
    BOOST_TEST(!place.ends_with('+'));
    BOOST_TEST(others_give() == ":3\r\n");
    for (const auto i : {b, c})
        reply(i, {"DEL", lock});
    run();
    BOOST_TEST(events() == "8 granted for 988");
    BOOST_TEST(owners() == "yyy");
}

// In the queue of another node its turn may come later. The key there would have the token of the
// lease, and neither its new holder nor this client could delete it. Found by the simulator: 135805
// of contended worlds.
BOOST_AUTO_TEST_CASE(a_holder_that_is_in_another_queue)
{
    others_hold();
    nodes[a].silent = true;
    const auto id = ask_in_turn(8, 'y');
    pass(110ms); // until it asks the next node for a place
    nodes[a].silent = false;
    run();
    const std::size_t turn = requests(b).find("ENQUEUE") != std::string::npos ? b : c;
    reply(b + c - turn, {"DEL", lock});
    reply(turn, {"EVAL", std::string(redis::pass_on_script.text), "2", lock, queue, text_of('o'),
                    "500", ""});
    run();
    BOOST_REQUIRE(events().starts_with("8 granted"));
    pass(200ms);
    requests();
    release(id);
    BOOST_TEST(events() == "8 released");
    BOOST_TEST(requests(turn) == "PASS A");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
