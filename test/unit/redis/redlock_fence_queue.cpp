// The queue in fenced mode: a turn ends with a ballot at the queue node, too.
#include "unit/redis/fence_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

struct fence_queue : fence_fixture {
    fence_queue()
    {
        connect();
        terms.queue = core::queueing::now;
    }

    // The only node with an unanswered request.
    std::size_t asked_node() const
    {
        std::size_t found = nodes.size();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (nodes[i].asked.empty())
                continue;
            BOOST_TEST(found == nodes.size());
            found = i;
        }
        BOOST_REQUIRE(found < nodes.size());
        return found;
    }

    // Our turn has come at the queue node `a` after some waiting; `b` and `c` are the others.
    void wait_for_turn()
    {
        enqueue();
        announce_turn();
    }
    void enqueue()
    {
        ask(7);
        a = asked_node();
        b = (a + 1) % 3;
        c = (a + 2) % 3;
        const auto& call = nodes[a].asked.at(0);
        place = call.at(2 + std::stoul(call[2]) + 3);
        answer(a, "enqueue", ":900\r\n");
        BOOST_TEST(events() == "");
    }
    void announce_turn()
    {
        const std::string channel = place.substr(48), message = place.substr(0, 48);
        nodes[a].send(*core->connections()[a],
            ">3\r\n+message\r\n$" + std::to_string(channel.size()) + "\r\n" + channel +
                "\r\n$48\r\n" + message + "\r\n",
            now);
        run();
    }

    std::size_t a = 0, b = 0, c = 0;
    std::string place;
};

BOOST_FIXTURE_TEST_SUITE(redlock_fence_queue, fence_queue)

// In an empty queue the queue node grants the key at once. It gets its ballot with the others. As
// the last owner may have been another client, just before, the ballot is a little larger.
BOOST_AUTO_TEST_CASE(an_empty_queue)
{
    ask(7);
    a = asked_node();
    b = (a + 1) % 3;
    BOOST_TEST(requests(a) == "enqueue");
    answer(a, ":0\r\n");
    BOOST_TEST(requests(a) == "ballot 8");
    for (const std::size_t i : {b, (a + 2) % 3})
        BOOST_TEST(requests(i) == "set x, ballot 8");
    accept(a);
    BOOST_TEST(events() == "");
    grant(b);
    BOOST_TEST(events() == granted(7, 8));
}

// After the announcement the client confirms at the queue node, and sends the ballot behind it.
BOOST_AUTO_TEST_CASE(a_turn)
{
    wait_for_turn();
    BOOST_TEST(requests(a) == "renew, ballot 8");
    BOOST_TEST(requests(b) == "set x, ballot 8");
    BOOST_TEST(requests(c) == "set x, ballot 8");
    renewed(a, 1);
    grant(b);
    BOOST_TEST(events() == "");
    accept(a);
    BOOST_TEST(events() == granted(7, 8));
}

// The queue node may be behind like any other.
BOOST_AUTO_TEST_CASE(a_turn_with_a_second_round)
{
    wait_for_turn();
    renewed(a, 1);
    refuse(a);
    grant_behind(b, 100);
    largest(a, 200);
    BOOST_TEST(requests(a) == "ballot 201");
    BOOST_TEST(requests(b) == "ballot 201");
    accept(a);
    accept(b);
    BOOST_TEST(events() == granted(7, 201));
}

// The key that was handed off to us has expired: the queue node is asked for nothing more, and does
// not count, though it accepts the ballot.
BOOST_AUTO_TEST_CASE(a_turn_that_was_missed)
{
    wait_for_turn();
    renewed(a, 0);
    accept(a);
    grant(b);
    BOOST_TEST(events() == "");
    grant(c);
    BOOST_TEST(events() == granted(7, 8));
}

// The deletion of the last owner has not arrived at a node. It is asked for the key again, without
// a ballot: it may have accepted that ballot already, before we got the key.
BOOST_AUTO_TEST_CASE(a_node_that_is_asked_again_gets_no_second_ballot_with_the_same_number)
{
    wait_for_turn();
    taken(b);
    BOOST_TEST(requests(b) == "ballot 8, set x");
    accept(b);
    key(b);
    renewed(a, 1);
    accept(a);
    BOOST_TEST(events() == ""); // b does not count
    BOOST_TEST(requests(b) == "");
    grant(c);
    BOOST_TEST(events() == granted(7, 8));
}

// If the majority needs such a node, a larger ballot goes to all.
BOOST_AUTO_TEST_CASE(nodes_that_are_asked_again_get_a_larger_ballot)
{
    wait_for_turn();
    renewed(a, 1);
    accept(a);
    for (const std::size_t i : {b, c}) {
        BOOST_TEST(requests(a) == ""); // c may still count
        taken(i);
        accept(i);
        key(i);
    }
    for (const std::size_t i : {a, b, c})
        BOOST_TEST(requests(i) == "ballot 9");
    accept(b);
    BOOST_TEST(events() == "");
    accept(c);
    BOOST_TEST(events() == granted(7, 9));
}

// The same when the last hope for another node ends without an answer of that node.
BOOST_AUTO_TEST_CASE(a_node_that_goes_down_while_it_is_to_be_asked_again)
{
    wait_for_turn();
    taken(b);
    accept(b);
    key(b);
    taken(c);
    accept(c);
    taken(c);
    renewed(a, 1);
    accept(a);
    BOOST_TEST(requests(a) == "");
    disconnect(c); // it waits to be asked again, so no request is lost
    pass(2ms);
    BOOST_TEST(requests(a) == "ballot 16");
    BOOST_TEST(requests(b) == "ballot 16");
    accept(a);
    accept(b);
    BOOST_TEST(events() == granted(7, 16, 986));
}

// A node that was found to be in quarantine is not asked again. The attempt does not wait for it.
BOOST_AUTO_TEST_CASE(a_node_in_quarantine_is_not_asked_again)
{
    fence_queue like_this;
    like_this.enqueue();
    const std::size_t other = like_this.b, opening = like_this.c;
    pass(200ms);
    for (const std::size_t i : {other, opening}) {
        nodes[i].accepts = false;
        disconnect(i);
    }
    pass(100ms);
    enqueue();
    nodes[opening].accepts = true;
    run();
    announce_turn();
    BOOST_TEST(requests(opening) == "open, record, set x, ballot 2408");
    renewed(a, 1);
    accept(a);
    opened(opening, 60'000);
    answer(opening, "record", "_\r\n");
    disconnect(other);
    run();
    BOOST_TEST(events() == "");
    taken(opening);
    BOOST_TEST(requests(opening) == "ballot 2408");
    accept(opening);
    BOOST_TEST(events() == "7 refused: unreachable");
}

// A node that has forgotten the script is sent its text, behind the ballot: that ballot is spent.
BOOST_AUTO_TEST_CASE(a_confirmation_by_text_makes_the_ballot_spent)
{
    wait_for_turn();
    answer(a, "renew", "-NOSCRIPT No matching script. Please use EVAL.\r\n");
    BOOST_TEST(requests(a) == "ballot 8, renew by text");
    accept(a);
    grant(b);
    renewed(a, 1);
    BOOST_TEST(events() == ""); // only b counts
    BOOST_TEST(requests(a) == "");
    disconnect(c);
    run();
    BOOST_TEST(requests(a) == "ballot 9");
    BOOST_TEST(requests(b) == "ballot 9");
    accept(a);
    accept(b);
    BOOST_TEST(events() == granted(7, 9));
}

// A node in quarantine keeps no queue: the next node is the queue node for all claims until the
// quarantine is over.
BOOST_AUTO_TEST_CASE(a_queue_node_in_quarantine)
{
    const auto waits_at = [&](std::uint64_t tag) {
        const auto id = ask(tag);
        const std::size_t found = asked_node();
        answer(found, "enqueue", ":400\r\n");
        core->abandon(id, now);
        run();
        for (std::size_t i = 0; i < 3; ++i) {
            while (!nodes[i].asked.empty())
                answer(i, ":0\r\n");
        }
        return found;
    };
    a = waits_at(7);
    pass(200ms);
    disconnect(a);
    pass(100ms);
    opened(a, 500);
    answer(a, "record", "_\r\n");
    b = waits_at(8);
    BOOST_TEST(b != a);
    pass(500ms - 1ns);
    BOOST_TEST(waits_at(9) == b);
    pass(1ns);
    BOOST_TEST(waits_at(10) == a);
}

// The queue gives the turn, but the nodes give no token.
BOOST_AUTO_TEST_CASE(a_turn_at_nodes_with_other_settings)
{
    fence_queue f;
    f.pass(200ms);
    for (std::size_t i = 0; i < 3; ++i)
        f.disconnect(i);
    f.pass(100ms);
    for (std::size_t i = 0; i < 3; ++i) {
        f.opened(i, redis::open_status::disagreed);
        for (int k = 0; k < 2; ++k)
            f.answer(i, "record", "_\r\n");
    }
    f.ask(7);
    f.answer(f.asked_node(), "enqueue", ":0\r\n");
    BOOST_TEST(f.events() == "7 refused: misconfigured_node");
}

// The contents of a request for a place: keys, token and times, in order. It is that of plain mode,
// with other keys.
BOOST_AUTO_TEST_CASE(the_arguments_of_a_request)
{
    ask(7);
    const auto& call = nodes[asked_node()].asked.at(0);
    BOOST_TEST(call.size() == 3u + 3u + 5u);
    BOOST_TEST(call[0] == "EVALSHA");
    BOOST_TEST(call[1] == redis::enqueue_script.digest);
    BOOST_TEST(call[3] == "hf:l:A");
    BOOST_TEST(call[4] == "hf:q:A");
    BOOST_TEST(call[5] == "hf:w:A");
    BOOST_TEST(call[6] == std::string(32, 'x'));
    BOOST_TEST(call[7] == "500");
    BOOST_TEST(call[8].starts_with(std::string(32, 'x')));
    BOOST_TEST(call[9] == "1000");
    BOOST_TEST(call[10] == "3000");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
