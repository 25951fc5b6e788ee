// Attempts in fenced mode, over scripted nodes: which ballots are sent, and when a token is
// published.
#include "unit/redis/fence_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

BOOST_FIXTURE_TEST_SUITE(redlock_fence, connected_fence)

// One round trip: the key, and behind it the ballot, to all nodes at once.
BOOST_AUTO_TEST_CASE(a_majority_of_acceptances_gives_the_token)
{
    redlock_fixture::ask(7);
    for (std::size_t i = 0; i < 3; ++i) {
        const std::string_view sent = core->connections()[i]->output();
        BOOST_TEST(sent.find("SET\r\n$6\r\nhf:l:A\r\n") < sent.find("ZADD\r\n$4\r\nhf:f\r\n"));
    }
    run();
    BOOST_TEST(requests() == "set x, ballot 0");
    grant(0);
    BOOST_TEST(events() == ""); // one node is no majority
    key(1);
    BOOST_TEST(events() == ""); // a key without a ballot does not count
    accept(1);
    const auto e = core->next_event();
    BOOST_REQUIRE(e.has_value());
    BOOST_TEST(in_words(*e) == granted(7, 0));
    BOOST_TEST(e->fence.value() == 1'700'000'000'000u * 8 * 128); // the clock of the nodes
    grant(2);                                                     // joins
    BOOST_TEST(events() == "");
    BOOST_TEST(requests() == "");
}

// A single node is a majority of one.
BOOST_AUTO_TEST_CASE(one_node)
{
    fence_fixture alone(1);
    alone.connect();
    alone.ask(7);
    alone.grant(0);
    BOOST_TEST(alone.events() == granted(7, 0));
}

// Time passes between two attempts: an eighth of a millisecond for each ballot.
BOOST_AUTO_TEST_CASE(ballots_follow_the_clock)
{
    pass(10ms);
    ask(7);
    BOOST_TEST(requests() == "set x, ballot 80");
    pass(125us - 1ns);
    ask(8, 'y', "B");
    BOOST_TEST(requests() == "set x, ballot 80, set y, ballot 80");
}

// A node accepts a ballot once. A client that is faster than the ballots uses the next one.
BOOST_AUTO_TEST_CASE(the_same_resource_again_at_once_gets_a_larger_ballot)
{
    release(acquire(7, 0));
    release(acquire(8, 1));
    ask(9); // an attempt without success uses its ballot, too
    BOOST_TEST(requests() == "set x, ballot 2");
    for (std::size_t i = 0; i < 3; ++i) {
        taken(i);
        accept(i);
    }
    deleted(2); // it had not answered when the attempt was over
    BOOST_TEST(events() == "9 refused: contended");
    ask(10);
    BOOST_TEST(requests() == "set x, ballot 3");
    ask(11, 'y', "B"); // another resource
    BOOST_TEST(requests(0) == "set x, ballot 3, set y, ballot 0");
    pass(3 * 125us);
    ask(12, 'z');
    BOOST_TEST(requests(0).ends_with("set z, ballot 4"));
}

// The refusals of a minority cost nothing, if the others are a majority.
BOOST_AUTO_TEST_CASE(a_minority_that_is_behind_needs_no_second_round)
{
    ask(7);
    grant(0);
    grant_behind(1, 500);
    for (std::size_t i = 0; i < 2; ++i)
        BOOST_TEST(requests(i) == "");
    grant(2);
    BOOST_TEST(events() == granted(7, 0));
    BOOST_TEST(requests() == "");
}

// Nodes that refuse the ballot tell of a larger one. The next ballot is beyond it, and goes to all
// nodes that have our key. Only its acceptance counts.
BOOST_AUTO_TEST_CASE(a_second_round)
{
    ask(7);
    grant(0);
    key(1);
    refuse(1);
    key(2);
    refuse(2);
    BOOST_TEST(requests(0) == "");
    BOOST_TEST(requests(1) == "largest");
    largest(1, 500);
    BOOST_TEST(requests(0) == ""); // another answer may tell of a larger one
    largest(2, 300);
    BOOST_TEST(requests() == "ballot 501");
    accept(1);
    BOOST_TEST(events() == ""); // the acceptance of the first ballot by 0 does not count
    accept(0);
    BOOST_TEST(events() == granted(7, 501));
    accept(2); // joins
    BOOST_TEST(events() == "");
}

// The next ballot follows the clock if that is beyond all registers.
BOOST_AUTO_TEST_CASE(a_second_round_follows_the_clock)
{
    ask(7);
    grant(0);
    key(1);
    taken(2);
    accept(2);
    pass(10ms);
    refuse(1);
    largest(1, 5);
    BOOST_TEST(requests(0) == "ballot 80");
    BOOST_TEST(requests(1) == "ballot 80");
    BOOST_TEST(requests(2) == ""); // without our key
}

// No further ballot can help if the key of a majority is another client's.
BOOST_AUTO_TEST_CASE(no_second_round_without_a_majority_of_keys)
{
    ask(7);
    taken(1);
    accept(1);
    key(0);
    taken(2);
    BOOST_TEST(events() == "7 refused: contended");
    refuse(0);
    BOOST_TEST((requests(0) == "delete" || requests(0) == "pass"));
}

// The nodes that are left must all count: their ballot is chosen before the last has answered.
BOOST_AUTO_TEST_CASE(a_second_round_begins_as_soon_as_it_is_needed)
{
    ask(7);
    grant_behind(0, 500);
    BOOST_TEST(requests(0) == "");
    taken(1);
    BOOST_TEST(requests(0) == "ballot 501");
    BOOST_TEST(requests(2) == "set x, ballot 0");
    key(2);
    BOOST_TEST(requests(2) == "ballot 0, ballot 501");
}

// A node whose key comes during the second round is sent the current ballot at once.
BOOST_AUTO_TEST_CASE(a_node_that_answers_during_the_second_round)
{
    ask(7);
    grant_behind(0, 500);
    grant_behind(1, 400);
    BOOST_TEST(requests(0) == "ballot 501");
    BOOST_TEST(requests(2) == "set x, ballot 0");
    key(2);
    BOOST_TEST(requests(2) == "ballot 0, ballot 501");
    accept(2);
    accept(0);
    BOOST_TEST(events() == "");
    accept(2);
    BOOST_TEST(events() == granted(7, 501));
}

// Each round has its own time. The lease counts from the request for the key.
BOOST_AUTO_TEST_CASE(the_lease_counts_from_the_key_not_from_the_ballot)
{
    ask(7);
    pass(30ms);
    grant_behind(0, 500);
    grant_behind(1, 500);
    BOOST_TEST(requests(0) == "ballot 501");
    pass(40ms); // one node timeout after the last ballot was sent
    BOOST_TEST(events() == "");
    accept(0);
    accept(1);
    BOOST_TEST(events() == granted(7, 501, 918));
}

// Nodes that are slow to take the ballots get their time.
BOOST_AUTO_TEST_CASE(a_second_round_that_is_sent_late)
{
    ask(7);
    grant_behind(0, 500);
    key(1);
    refuse(1);
    nodes[0].deaf = nodes[1].deaf = true;
    largest(1, 500);
    pass(49ms);
    BOOST_TEST(requests(0) == "");
    nodes[0].deaf = nodes[1].deaf = false;
    run();
    BOOST_TEST(requests(0) == "ballot 501");
    pass(50ms - 1ns);
    BOOST_TEST(events() == "");
    accept(0);
    pass(1ns);
    BOOST_TEST(events() == "7 refused: unreachable");
}

BOOST_AUTO_TEST_CASE(a_second_round_without_answers)
{
    ask(7);
    pass(30ms);
    grant_behind(0, 500);
    grant_behind(1, 500);
    pass(50ms - 1ns);
    BOOST_TEST(events() == "");
    pass(1ns);
    BOOST_TEST(events() == "7 refused: unreachable");
    accept(0); // too late
    accept(1);
    BOOST_TEST(events() == "");
    BOOST_TEST(core->nodes().stats()[1].timeouts == 1u);
}

// Other clients may be faster each time. After some ballots the attempt has lost.
BOOST_AUTO_TEST_CASE(an_attempt_has_few_ballots)
{
    ask(7);
    for (std::size_t i = 0; i < 3; ++i)
        key(i);
    for (std::int64_t ballot : {0, 101, 201, 301}) {
        BOOST_TEST(events() == "");
        BOOST_TEST(requests() == "ballot " + std::to_string(ballot));
        for (std::size_t i = 0; i < 3; ++i)
            refuse(i);
        for (std::size_t i = 0; i < 3; ++i)
            largest(i, ballot == 0 ? 100 : ballot + 99);
    }
    BOOST_TEST(events() == "7 refused: contended");
    for (std::size_t i = 0; i < 3; ++i)
        BOOST_TEST((requests(i) == "delete" || requests(i) == "pass"));
}

// Nothing is sent for an attempt that was given up, whatever comes late.
BOOST_AUTO_TEST_CASE(an_abandoned_attempt_sends_no_ballot)
{
    const auto id = ask(7);
    for (std::size_t i = 0; i < 2; ++i) {
        key(i);
        refuse(i);
    }
    core->abandon(id, now);
    run();
    for (std::size_t i = 0; i < 2; ++i)
        largest(i, 500);
    grant(2);
    for (std::size_t i = 0; i < 3; ++i)
        deleted(i);
    BOOST_TEST(requests() == "");
    BOOST_TEST(events() == "");
    BOOST_TEST(core->cleanup().is_done());
}

// The connection breaks between the two answers: the node may have accepted the ballot, or not.
BOOST_AUTO_TEST_CASE(a_connection_that_is_lost_between_the_key_and_the_ballot)
{
    ask(7);
    grant(0);
    key(1);
    disconnect(1);
    run();
    BOOST_TEST(events() == "");
    taken(2);
    BOOST_TEST(events() == "7 refused: contended");

    connected_fence f; // in another order: the outcome needs no further answer
    f.ask(7);
    f.taken(2);
    f.key(1);
    f.disconnect(1);
    BOOST_TEST(f.events() == "7 refused: contended");
}

// The same while the largest ballot is asked for: the attempt goes on without the answer.
BOOST_AUTO_TEST_CASE(a_connection_that_is_lost_with_the_largest_ballot)
{
    fence_fixture five(5);
    five.connect();
    five.ask(7);
    for (std::size_t i = 0; i < 4; ++i) {
        five.key(i);
        five.refuse(i);
    }
    for (std::size_t i = 0; i < 3; ++i)
        five.largest(i, 500);
    BOOST_TEST(five.requests(0) == "");
    five.disconnect(3);
    five.run();
    for (std::size_t i = 0; i < 3; ++i) {
        BOOST_TEST(five.requests(i) == "ballot 501");
        five.accept(i);
    }
    BOOST_TEST(five.events() == granted(7, 501));
}

// A reply that is no answer to the request closes the connection.
BOOST_AUTO_TEST_CASE(answers_of_the_wrong_type)
{
    ask(7);
    answer(0, "set", ":1\r\n");
    BOOST_TEST(core->nodes().stats()[0].last_error == make_error_code(errc::protocol_error));
    grant(1);
    key(2);
    answer(2, "ballot", "+OK\r\n");
    BOOST_TEST(core->nodes().stats()[2].last_error == make_error_code(errc::protocol_error));
    BOOST_TEST(events() == "7 refused: unreachable");
}

// A node that refuses to execute the ballot does not count, but is reachable.
BOOST_AUTO_TEST_CASE(a_ballot_that_the_node_does_not_execute)
{
    ask(7);
    grant(0);
    key(1);
    answer(1, "ballot", "-OOM command not allowed when used memory > 'maxmemory'.\r\n");
    BOOST_TEST(reason(1).starts_with("OOM"));
    BOOST_TEST(core->nodes().stats()[1].connected);
    BOOST_TEST(requests(0) == ""); // no larger one
    taken(2);
    BOOST_TEST(events() == "7 refused: contended");
    for (std::size_t i = 0; i < 2; ++i)
        BOOST_TEST((requests(i) == "delete" || requests(i) == "pass"));
}

// An error proves that nothing was granted.
BOOST_AUTO_TEST_CASE(a_key_that_is_refused_with_an_error)
{
    ask(7);
    answer(0, "set", "-LOADING Redis is loading the dataset in memory\r\n");
    answer(0, "ballot", "-LOADING Redis is loading the dataset in memory\r\n");
    answer(1, "set", "-OOM command not allowed when used memory > 'maxmemory'.\r\n");
    BOOST_TEST(events() == "7 refused: unreachable");
    accept(1);
    BOOST_TEST(requests(0) == "");
    BOOST_TEST(requests(1) == "");
}

// A node that cannot be asked, and one that connects later: it is sent both requests.
BOOST_AUTO_TEST_CASE(a_node_that_connects_during_the_attempt)
{
    fence_fixture late(3);
    late.redlock_fixture::ask(7);
    late.run();
    BOOST_TEST(late.requests() == "open, record, set x, ballot 0");
    for (std::size_t i = 0; i < 2; ++i) {
        late.opened(i);
        late.answer(i, "record", "_\r\n");
        late.grant(i);
    }
    BOOST_TEST(late.events() == granted(7, 0));
}

// A node was being connected, and fails. Now the majority needs the node that is behind.
BOOST_AUTO_TEST_CASE(a_node_that_does_not_connect_during_the_attempt)
{
    fence_fixture f(3);
    f.nodes[2].accepts = false;
    f.ask(7);
    for (std::size_t i = 0; i < 2; ++i) {
        f.opened(i);
        f.answer(i, "record", "_\r\n");
    }
    f.grant(0);
    f.grant_behind(1, 500);
    BOOST_TEST(f.requests(0) == "");
    f.disconnect(2);
    f.run();
    for (std::size_t i = 0; i < 2; ++i) {
        BOOST_TEST(f.requests(i) == "ballot 501");
        f.accept(i);
    }
    BOOST_TEST(f.events() == granted(7, 501));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
