// Answers of nodes in fenced mode that are no grant, and the outcome of the attempt.
#include "redis/dialect/fence_answer.hpp"
#include "unit/redis/fence_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>
#include <string>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using namespace redis::fenced_status;

BOOST_FIXTURE_TEST_SUITE(redlock_fence_troubles, connected_fence)

// A lock that another client holds is a refusal, as in plain mode.
BOOST_AUTO_TEST_CASE(another_client_holds_the_lock)
{
    ask(7);
    fence_fixture::held(0, 300);
    fence_fixture::held(1, -1);
    BOOST_TEST(events() == "7 refused: contended");
}

// A quarantine ends by itself, so it must not end a wait. The node reports how long it lasts.
BOOST_AUTO_TEST_CASE(nodes_in_quarantine)
{
    ask(7);
    answer(0, quarantined, 59'001);
    BOOST_TEST(events() == "");
    answer(1, quarantined, 1000);
    BOOST_TEST(events() == "7 refused: fencing_unavailable, passes");
    BOOST_TEST(core->nodes().stats()[0].last_error == make_error_code(errc::fencing_unavailable));
    BOOST_TEST(core->nodes().stats()[0].connected);
    BOOST_TEST(reason(0) == "in quarantine for another 60 s: it is new, or may have forgotten "
                            "leases and counters");
    BOOST_TEST(reason(1).starts_with("in quarantine for another 1 s"));

    ask(8);
    granted(2, 5000); // its answer to the first attempt
    number(2, 1);
    granted(0, 5000);
    granted(1, 5000);
    BOOST_TEST(events() == "8 granted 5000 for 988");
    BOOST_TEST(reason(0) == "");
}

// One node in quarantine leaves a majority. If another one is silent, the reason is `unreachable`.
BOOST_AUTO_TEST_CASE(a_minority_in_quarantine)
{
    ask(7);
    answer(0, quarantined, 59'000);
    granted(1, 5000);
    granted(2, 5000);
    BOOST_TEST(events() == "7 granted 5000 for 988");
    ask(8, 'y');
    answer(0, quarantined, 59'000);
    fence_fixture::held(1, 100);
    BOOST_TEST(events() == "8 refused: contended");
    ask(9, 'z');
    answer(0, quarantined, 59'000);
    pass(50ms);
    BOOST_TEST(events() == "9 refused: unreachable");
}

// A counter that is not a number must be fixed by a person: waiting is of no use. It belongs to one
// resource.
BOOST_AUTO_TEST_CASE(a_spoilt_counter)
{
    ask(7);
    answer(0, bad_counter, 0);
    answer(1, bad_counter, 0);
    BOOST_TEST(events() == "7 refused: fencing_unavailable");
    BOOST_TEST(reason(0) == "the counter hf:f:A is no number, or at the end of all tokens");
    nodes[2].asked.clear();
    ask(8, 'y');
    pass(50ms); // the answers to the other attempt are no reason here
    BOOST_TEST(events() == "8 refused: unreachable");
}

// One node grants a token that its own clock contradicts, near the largest token. It does not
// count, causes no write-backs, and is asked to delete the key that it may have.
BOOST_AUTO_TEST_CASE(a_token_that_the_clock_of_its_node_contradicts)
{
    const auto id = ask(7);
    granted(0, 9007199254739968);
    BOOST_TEST(events() == "");
    granted(1, 5000);
    BOOST_TEST(requests(1) == "");
    granted(2, 5000);
    BOOST_TEST(events() == "7 granted 5000 for 988");
    BOOST_TEST(reason(0) == "its clock, or what it grants, is too far ahead of the clocks of most "
                            "nodes");
    core->release(id, now);
    run();
    for (std::size_t i = 0; i < 3; ++i)
        BOOST_TEST((requests(i) == "delete hf:l:A" || requests(i) == "pass hf:l:A"));
}

// The same from a node whose clock is as wrong: the other nodes could not store the token.
BOOST_AUTO_TEST_CASE(a_token_that_the_other_nodes_cannot_store)
{
    const std::int64_t day = 86'400'000;
    ask(7);
    answer(0, "*3\r\n:" + std::to_string((clock() + day) * 1024) +
                  "\r\n:0\r\n:" + std::to_string(clock() + day) + "\r\n");
    granted(1, 5000);
    granted(2, 5000);
    BOOST_TEST(events() == "7 granted 5000 for 988");
    BOOST_TEST(requests(1) == "");
}

// If that leaves no majority, the refusal is temporary: clocks get corrected.
BOOST_AUTO_TEST_CASE(clocks_that_differ_too_much)
{
    ask(7);
    granted(0, 9007199254739968);
    granted(1, 9007199254739968);
    BOOST_TEST(events() == "7 refused: fencing_unavailable, passes");

    fence_fixture f;
    f.connect();
    f.ask(8);
    f.granted(0, 5000);
    f.granted(1, 1024);
    f.number(1, -1);
    BOOST_TEST(f.reason(1) == "its clock is too far behind those of other nodes to store a token "
                              "of theirs");
    f.answer(2, fast, 0);
    BOOST_TEST(f.events() == "8 refused: fencing_unavailable, passes");
}

// A counter that is ahead of its node's clock: for a while, or for longer than any client waits.
BOOST_AUTO_TEST_CASE(counters_that_are_ahead)
{
    ask(7);
    answer(0, ahead, 60'000);
    answer(1, ahead, 1);
    BOOST_TEST(events() == "7 refused: fencing_unavailable, passes");
    BOOST_TEST(
        reason(0) == "the counter hf:f:A is too far ahead of the node's clock for another 60 s");
    answer(2, ahead, 1);
    ask(8);
    answer(0, ahead, 60'001);
    answer(1, ahead, 60'001);
    BOOST_TEST(events() == "8 refused: fencing_unavailable");
}

// One node must be fixed, and another is in quarantine: the outcome is open until that is over.
BOOST_AUTO_TEST_CASE(a_spoilt_counter_and_a_quarantine)
{
    ask(7);
    answer(0, bad_counter, 0);
    answer(1, quarantined, 59'000);
    BOOST_TEST(events() == "7 refused: fencing_unavailable, passes");
}

// Clients with other settings: both settings are reported, and asked for only once.
BOOST_AUTO_TEST_CASE(clients_that_disagree)
{
    ask(7);
    answer(0, disagreed, 0);
    BOOST_TEST(requests(0) == "GET hf:n");
    answer(0, "+90000 1000 86400000 node0 1700000000000\r\n");
    answer(1, disagreed, 0);
    BOOST_TEST(events() == "7 refused: misconfigured_node");
    BOOST_TEST(core->nodes().stats()[0].connected);
    BOOST_TEST(reason(0) ==
               "other clients have other settings of fencing: quarantine 90000 ms, ahead 1000 ms, "
               "counter_lifetime 86400000 ms; ours are: quarantine 60000 ms, ahead 1000 ms, "
               "counter_lifetime 604800000 ms");
    BOOST_TEST(reason(1) == "other clients have other settings of fencing; ours are: quarantine "
                            "60000 ms, ahead 1000 ms, counter_lifetime 604800000 ms");
    ask(8, 'y');
    answer(0, disagreed, 0);
    BOOST_TEST(requests(0) == "");
    BOOST_TEST(reason(0).find("90000") != std::string::npos);
}

// The same if the greeting finds it: then it is known when the first attempt fails.
BOOST_AUTO_TEST_CASE(clients_that_disagree_from_the_beginning)
{
    fence_fixture f(1);
    f.ask(7);
    BOOST_TEST(f.requests(0) == "confirm nobody, GET hf:n, ask x");
    f.answer(0, disagreed, 0);
    f.answer(0, "+90000 1000 86400000 node0 1700000000000\r\n");
    BOOST_TEST(f.requests(0) == "ask x");
    BOOST_TEST(f.reason(0).find("quarantine 90000 ms") != std::string::npos);
    f.answer(0, disagreed, 0);
    BOOST_TEST(f.events() == "7 refused: misconfigured_node");
    BOOST_TEST(f.reason(0).find("quarantine 90000 ms") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(keys_of_another_kind)
{
    ask(7);
    answer(0, conflict, 0);
    answer(1, conflict, 0);
    BOOST_TEST(events() == "7 refused: key_conflict");
    BOOST_TEST(reason(0) == "the key hf:l:A or hf:n holds data of another kind");
}

// An error proves that nothing was granted.
BOOST_AUTO_TEST_CASE(errors)
{
    ask(7);
    answer(0, "-LOADING Redis is loading the dataset in memory\r\n");
    answer(1, "-OOM command not allowed when used memory > 'maxmemory'.\r\n");
    BOOST_TEST(events() == "7 refused: unreachable");
    BOOST_TEST(requests(0) == "");
    BOOST_TEST(requests(1) == "");
}

// The findings of the greeting are reported before the first attempt: the quarantine begins with
// it.
BOOST_AUTO_TEST_CASE(a_node_that_comes_back_in_quarantine)
{
    pass(200ms); // a connection that lasts
    disconnect(0);
    run();
    BOOST_TEST(requests(0) == "confirm nobody, GET hf:n");
    answer(0, quarantined, 60'000);
    answer(0, "+60000 1000 604800000 node0 1700000060000\r\n");
    BOOST_TEST(reason(0).starts_with("in quarantine for another 60 s"));
    BOOST_TEST(core->nodes().stats()[0].connected);
}

// Every answer that the script can give, and some that it cannot.
BOOST_AUTO_TEST_CASE(answers_are_read)
{
    using redis::fence_trouble;
    using redis::vote;
    const struct {
        std::string bytes;
        vote said;
        fence_trouble trouble;
        std::uint64_t start;
    } table[] = {
        {"*3\r\n:1\r\n:0\r\n:5\r\n", vote::granted, fence_trouble::none, 1},
        {"*3\r\n:9007199254739968\r\n:0\r\n:5\r\n", vote::granted, fence_trouble::none,
            9007199254739968},
        {"*3\r\n:9007199254739969\r\n:0\r\n:5\r\n", vote::unknown, fence_trouble::none, 0},
        {"*3\r\n:0\r\n:7\r\n:5\r\n", vote::refused, fence_trouble::none, 0},
        {"*3\r\n:-1\r\n:7\r\n:5\r\n", vote::failed, fence_trouble::quarantine, 0},
        {"*3\r\n:-2\r\n:0\r\n:5\r\n", vote::failed, fence_trouble::counter, 0},
        {"*3\r\n:-3\r\n:0\r\n:5\r\n", vote::failed, fence_trouble::settings, 0},
        {"*3\r\n:-4\r\n:0\r\n:5\r\n", vote::failed, fence_trouble::conflict, 0},
        {"*3\r\n:-5\r\n:7\r\n:5\r\n", vote::failed, fence_trouble::ahead, 0},
        {"*3\r\n:-6\r\n:0\r\n:5\r\n", vote::failed, fence_trouble::fast_clock, 0},
        {"*3\r\n:-7\r\n:0\r\n:5\r\n", vote::unknown, fence_trouble::none, 0},
        {"-ERR\r\n", vote::failed, fence_trouble::none, 0},
        {"*2\r\n:1\r\n:0\r\n", vote::unknown, fence_trouble::none, 0},
        {"*3\r\n+1\r\n:0\r\n:5\r\n", vote::unknown, fence_trouble::none, 0},
        {"*3\r\n:1\r\n+0\r\n:5\r\n", vote::unknown, fence_trouble::none, 0},
        {"*3\r\n:1\r\n:0\r\n+5\r\n", vote::unknown, fence_trouble::none, 0},
        {"*1\r\n*2\r\n:1\r\n:0\r\n", vote::unknown, fence_trouble::none, 0},
        {":1\r\n", vote::unknown, fence_trouble::none, 0},
        {"+OK\r\n", vote::unknown, fence_trouble::none, 0},
        {"_\r\n", vote::unknown, fence_trouble::none, 0},
    };
    for (const auto& row : table) {
        resp::reader reader;
        reader.feed(row.bytes);
        BOOST_REQUIRE((reader.next() == resp::reader::status::reply));
        const auto read = redis::read_fence_answer(reader.reply());
        BOOST_TEST((read.said == row.said), row.bytes);
        BOOST_TEST((read.trouble == row.trouble), row.bytes);
        BOOST_TEST(read.start == row.start, row.bytes);
    }
}

// Numbers that no correct node sends cause no nonsensical text, and nothing worse.
BOOST_AUTO_TEST_CASE(numbers_without_bounds)
{
    for (const auto left : {std::numeric_limits<std::int64_t>::max(),
             std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}}) {
        fence_fixture f(1);
        f.connect();
        f.ask(7);
        f.answer(
            0, "*3\r\n:-1\r\n:" + std::to_string(left) + "\r\n:" + std::to_string(left) + "\r\n");
        BOOST_TEST(f.events() == "7 refused: fencing_unavailable, passes");
        BOOST_TEST(f.reason(0).starts_with("in quarantine for another "));
        BOOST_TEST(f.reason(0).find('-') == std::string::npos);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
