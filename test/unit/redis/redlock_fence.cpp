// Attempts in fenced mode, over scripted nodes: when a token is published, and which write-backs
// come first.
#include "unit/redis/fence_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

BOOST_FIXTURE_TEST_SUITE(redlock_fence, connected_fence)

// One round trip: the nodes choose the same start, which is the token.
BOOST_AUTO_TEST_CASE(a_majority_of_equal_grants_gives_the_token)
{
    ask(7);
    for (std::size_t i = 0; i < 3; ++i)
        BOOST_TEST(requests(i) == "ask x");
    granted(0, 5000);
    BOOST_TEST(events() == ""); // one node is no majority
    granted(1, 5000);
    BOOST_TEST(events() == "7 granted 5000 for 988");
    granted(2, 5000); // joins
    BOOST_TEST(events() == "");
    for (std::size_t i = 0; i < 3; ++i)
        BOOST_TEST(requests(i) == "");
}

// A single node is a majority of one.
BOOST_AUTO_TEST_CASE(one_node)
{
    fence_fixture alone(1);
    alone.connect();
    alone.ask(7);
    alone.granted(0, 5000);
    BOOST_TEST(alone.events() == "7 granted 5000 for 988");
}

// A node that granted less gets a write-back before it counts; other nodes get none. It names the
// counter of the node's own grant, and replaces it by the end of the token's block.
BOOST_AUTO_TEST_CASE(a_node_that_granted_less_gets_a_write_back_first)
{
    ask(7);
    granted(0, 5000);
    granted(1, 1024);
    BOOST_TEST(events() == "");
    BOOST_TEST(requests(0) == "");
    BOOST_TEST(requests(1) == "write back 2047 to 6023");
    BOOST_TEST(requests(2) == "ask x");
    number(1, 1);
    BOOST_TEST(events() == "7 granted 5000 for 988");
}

// The answer to a write-back is not waited for when another node completes the majority.
BOOST_AUTO_TEST_CASE(another_grant_makes_the_write_back_unnecessary)
{
    ask(7);
    granted(0, 5000);
    granted(1, 1024);
    granted(2, 5000);
    BOOST_TEST(events() == "7 granted 5000 for 988");
    number(1, 1); // a spare node
    BOOST_TEST(events() == "");
}

// The validity counts from before the first round; the second one only takes its time.
BOOST_AUTO_TEST_CASE(the_lease_counts_from_the_grant_not_from_the_write_back)
{
    ask(7);
    granted(0, 5000);
    pass(30ms);
    granted(1, 1024);
    pass(40ms); // one node timeout after the write-back was sent, not after the first request
    BOOST_TEST(events() == "");
    number(1, 1);
    BOOST_TEST(events() == "7 granted 5000 for 918");
}

// A node that has lost our key in the meantime does not count, and the attempt fails. All nodes
// that may have the key delete it.
BOOST_AUTO_TEST_CASE(a_write_back_that_finds_no_key)
{
    ask(7);
    granted(0, 5000);
    granted(1, 1024);
    held(2, 300);
    number(1, 0);
    BOOST_TEST(events() == "7 refused: contended");
    for (std::size_t i = 0; i < 2; ++i)
        BOOST_TEST((requests(i) == "delete hf:l:A" || requests(i) == "pass hf:l:A"));
    BOOST_TEST(requests(2) == "");
}

// Without an answer to the write-back there is no token. A late answer changes nothing.
BOOST_AUTO_TEST_CASE(a_write_back_that_is_not_answered)
{
    nodes[2].asked.clear();
    ask(7);
    granted(0, 5000);
    granted(1, 1024);
    pass(50ms - 1ns);
    BOOST_TEST(events() == "");
    pass(1ns);
    BOOST_TEST(events() == "7 refused: unreachable");
    number(1, 1);
    BOOST_TEST(events() == "");
    BOOST_TEST(core->nodes().stats()[1].timeouts == 1u);
}

// A node that refuses the write-back, for example because it is short of memory, does not count,
// but it is reachable.
BOOST_AUTO_TEST_CASE(a_write_back_that_is_refused)
{
    ask(7);
    granted(0, 5000);
    granted(1, 1024);
    held(2, 300);
    answer(1, "-OOM command not allowed when used memory > 'maxmemory'.\r\n");
    BOOST_TEST(events() == "7 refused: contended");
    BOOST_TEST(reason(1).starts_with("OOM"));
}

// Late grants never change the token. A smaller grant gets a write-back, and then is a spare node.
// A larger grant keeps our key, which excludes other clients, but never counts.
BOOST_AUTO_TEST_CASE(late_grants)
{
    fence_fixture five(5);
    five.connect();
    const auto id = five.ask(7);
    for (std::size_t i = 0; i < 3; ++i)
        five.granted(i, 5000);
    BOOST_TEST(five.events() == "7 granted 5000 for 988");
    five.granted(3, 4000);
    five.granted(4, 9000);
    BOOST_TEST(five.requests(3) == "write back 5023 to 6023");
    BOOST_TEST(five.requests(4) == "");
    five.number(3, 1);
    BOOST_TEST(five.events() == "");

    five.pass(100ms);
    five.core->renew({&id, 1}, false, five.now);
    five.run();
    for (std::size_t i = 0; i < 5; ++i) {
        BOOST_TEST(five.requests(i) == "renew to 6023");
        five.renewed(i, i == 0 ? 0 : 1);
    }
    BOOST_TEST(five.events() == "7 valid for 988"); // by 1, 2 and 3
    five.pass(100ms);
    five.core->renew({&id, 1}, false, five.now);
    five.run();
    five.answer(0, "+OK\r\n"); // it is repaired without a token
    five.renewed(1, 0);
    BOOST_TEST(five.events() == "7 lost"); // 2 and 3 are left: 0 and 4 do not count
}

// A late, smaller grant gets no write-back after the attempt was given up.
BOOST_AUTO_TEST_CASE(an_abandoned_attempt_sends_no_write_back)
{
    const auto id = ask(7);
    granted(0, 5000);
    core->abandon(id, now);
    run();
    for (std::size_t i = 1; i < 3; ++i)
        granted(i, 1024);
    for (std::size_t i = 0; i < 3; ++i)
        BOOST_TEST((requests(i) == "delete hf:l:A" || requests(i) == "pass hf:l:A"));
    BOOST_TEST(events() == "");
    for (std::size_t i = 0; i < 3; ++i)
        number(i, 1);
    BOOST_TEST(core->cleanup().is_done());
}

// A renewal finds our key on a node whose grant was not received: that node may have given any
// token.
BOOST_AUTO_TEST_CASE(a_renewal_proves_no_token)
{
    const auto id = ask(7);
    granted(0, 5000);
    granted(1, 5000);
    BOOST_TEST(events() == "7 granted 5000 for 988");
    pass(100ms);
    core->renew({&id, 1}, false, now);
    run();
    renewed(0, 1);
    renewed(1, 0);
    BOOST_TEST(events() == "7 lost");
    BOOST_TEST(requests(2) == "ask x, renew to 6023");
}

// A node that has forgotten a script is sent its text once.
BOOST_AUTO_TEST_CASE(scripts_that_were_forgotten)
{
    const std::string forgotten = "-NOSCRIPT No matching script. Please use EVAL.\r\n";
    ask(7);
    answer(0, forgotten);
    BOOST_TEST(requests(0) == "ask x by text");
    granted(0, 5000);
    granted(1, 1024);
    answer(1, forgotten);
    BOOST_TEST(requests(1) == "write back 2047 to 6023 by text");
    number(1, 1);
    BOOST_TEST(events() == "7 granted 5000 for 988");
    answer(2, forgotten);
    BOOST_TEST(requests(2) == "ask x by text"); // it joins
    answer(2, forgotten);
    BOOST_TEST(requests(2) == "");
}

// A reply that is no answer to these scripts closes the connection.
BOOST_AUTO_TEST_CASE(answers_of_the_wrong_type)
{
    ask(7);
    answer(0, ":1\r\n");
    BOOST_TEST(core->nodes().stats()[0].last_error == make_error_code(errc::protocol_error));
    granted(1, 5000);
    granted(2, 1024);
    answer(2, "+OK\r\n");
    BOOST_TEST(core->nodes().stats()[2].last_error == make_error_code(errc::protocol_error));
    BOOST_TEST(events() == "7 refused: unreachable");
}

// The connection breaks before the write-back is answered: the node does not count.
BOOST_AUTO_TEST_CASE(a_write_back_whose_connection_breaks)
{
    ask(7);
    granted(0, 5000);
    granted(1, 1024);
    held(2, 300);
    disconnect(1);
    BOOST_TEST(events() == "7 refused: contended");
}

// Each holder in the process has its own token, until the block is used up.
BOOST_AUTO_TEST_CASE(each_holder_in_the_process_has_its_own_token)
{
    const auto id = acquire(7, 5000);
    for (std::uint64_t i = 1; i < redis::largest_block; ++i) {
        BOOST_TEST(core->can_transfer(id));
        BOOST_TEST(core->transfer(id, 100 + i).value() == 5000 + i);
    }
    BOOST_TEST(!core->can_transfer(id));
    core->release(id, now);
    run();
    for (std::size_t i = 0; i < 2; ++i)
        number(i, 1);
    BOOST_TEST(events() == "1123 released");
    const auto next = ask(8);
    granted(0, 6024);
    granted(1, 6024);
    BOOST_TEST(events() == "8 granted 6024 for 988");
    BOOST_TEST(core->transfer(next, 9).value() == 6025u);
}

// A claim without further local waiters reserves fewer tokens, and allows no more transfers than
// these.
BOOST_AUTO_TEST_CASE(a_claim_without_local_waiters_takes_fewer_tokens)
{
    terms.others_follow = false;
    const auto id = ask(7);
    granted(0, 5000);
    granted(1, 4000);
    BOOST_TEST(requests(1) == "write back 4063 to 5063");
    number(1, 1);
    BOOST_TEST(events() == "7 granted 5000 for 988");
    for (std::uint64_t i = 1; i < 64; ++i)
        BOOST_TEST(core->transfer(id, 100 + i).value() == 5000 + i);
    BOOST_TEST(!core->can_transfer(id));
}

// A key that a node has lost is set again without a token: it excludes other clients.
BOOST_AUTO_TEST_CASE(a_repair_needs_no_token)
{
    const auto id = acquire(7, 5000);
    for (const char* const expected : {"renew to 6023", "SET hf:l:A"}) {
        core->renew({&id, 1}, false, now);
        run();
        BOOST_TEST(requests(0) == expected);
        renewed(1, 1);
        renewed(2, 1);
        if (requests(0) == "renew to 6023")
            renewed(0, 0);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
