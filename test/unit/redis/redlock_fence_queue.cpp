// The queue in fenced mode: a turn ends with a grant and its token.
#include "unit/redis/fence_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using namespace redis::fenced_status;

struct queued : fence_fixture {
    queued()
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

    // The node announces our turn, with the place that it was given.
    void announce_turn(std::size_t node, const std::string& place)
    {
        const std::string channel = place.substr(48), message = place.substr(0, 48);
        nodes[node].send(*core->connections()[node],
            ">3\r\n+message\r\n$" + std::to_string(channel.size()) + "\r\n" + channel +
                "\r\n$48\r\n" + message + "\r\n",
            now);
        run();
    }

    static std::string argument(const scripted_node::words& call, std::size_t number)
    {
        return call.at(2 + std::stoul(call[2]) + number);
    }
};

BOOST_FIXTURE_TEST_SUITE(redlock_fence_queue, queued)

// In an empty queue the queue node grants the key at once. Its token is compared with the others.
BOOST_AUTO_TEST_CASE(an_empty_queue)
{
    ask(7);
    const std::size_t a = asked_node();
    BOOST_TEST(requests(a) == "enqueue x");
    granted(a, 5000);
    BOOST_TEST(requests(a) == "");
    const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
    BOOST_TEST(requests(b) == "ask x");
    granted(b, 6024); // now the queue node is behind
    BOOST_TEST(requests(a) == "write back 6023 to 7047");
    granted(c, 6024);
    BOOST_TEST(events() == "7 granted 6024 for 988");
}

// After the announcement the client confirms at the queue node, which advances its counter, and
// asks the other nodes.
BOOST_AUTO_TEST_CASE(a_turn)
{
    ask(7);
    const std::size_t a = asked_node();
    const std::string place = argument(nodes[a].asked[0], 12);
    fence_fixture::held(a, 900);
    BOOST_TEST(events() == "");
    announce_turn(a, place);
    BOOST_TEST(requests(a) == "confirm x");
    granted(a, 5000);
    granted((a + 1) % 3, 5000);
    BOOST_TEST(events() == "7 granted 5000 for 988");
}

// The key that was handed off to us has expired: the queue node is asked for nothing more, and does
// not count.
BOOST_AUTO_TEST_CASE(a_turn_that_was_missed)
{
    ask(7);
    const std::size_t a = asked_node();
    const std::string place = argument(nodes[a].asked[0], 12);
    fence_fixture::held(a, 900);
    announce_turn(a, place);
    fence_fixture::held(a);
    granted((a + 1) % 3, 5000);
    BOOST_TEST(events() == "");
    granted((a + 2) % 3, 5000);
    BOOST_TEST(events() == "7 granted 5000 for 988");
}

// A node in quarantine keeps no queue: the next node is the queue node for all claims until the
// quarantine is over.
BOOST_AUTO_TEST_CASE(a_queue_node_in_quarantine)
{
    const auto give_up = [&](core::claim_id id) {
        core->abandon(id, now);
        run();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (!nodes[i].asked.empty())
                number(i, 0);
        }
    };
    const auto first = ask(7);
    const std::size_t a = asked_node();
    answer(a, quarantined, 500);
    const std::size_t b = asked_node();
    BOOST_TEST(b != a);
    fence_fixture::held(b, 400);
    give_up(first);
    const auto second = ask(8);
    BOOST_TEST(asked_node() == b);
    fence_fixture::held(b, 400);
    give_up(second);
    pass(500ms);
    ask(9);
    BOOST_TEST(asked_node() == a);
}

// If no node can give a token, there is no turn to wait for: all nodes are asked, and give the
// reason.
BOOST_AUTO_TEST_CASE(no_queue_node_can_give_a_token)
{
    ask(7);
    for (int i = 0; i < 3; ++i) {
        const std::size_t a = asked_node();
        BOOST_TEST(requests(a) == "enqueue x");
        answer(a, bad_counter, 0);
    }
    BOOST_TEST(events() == "");
    for (std::size_t i = 0; i < 2; ++i) {
        BOOST_TEST(requests(i) == "ask x");
        answer(i, bad_counter, 0);
    }
    BOOST_TEST(events() == "7 refused: fencing_unavailable");
}

// The contents of a request for a place: keys, token and times, in order.
BOOST_AUTO_TEST_CASE(the_arguments_of_a_request)
{
    pass(1500ms);
    ask(7);
    const std::size_t a = asked_node();
    const auto& call = nodes[a].asked[0];
    const std::string id = "node" + std::to_string(a);
    BOOST_TEST(call.size() == 3u + 4u + 14u);
    BOOST_TEST(call[0] == "EVALSHA");
    BOOST_TEST(call[1] == redis::fenced_acquire_script.digest);
    BOOST_TEST(call[3] == "hf:l:A");
    BOOST_TEST(call[4] == "hf:f:A");
    BOOST_TEST(call[5] == "hf:n");
    BOOST_TEST(call[6] == "hf:q:A");
    BOOST_TEST(argument(call, 1) == "enqueue");
    BOOST_TEST(argument(call, 2) == std::string(32, 'x'));
    BOOST_TEST(argument(call, 3) == "1000");
    BOOST_TEST(argument(call, 4) == std::to_string((epoch + 1750) * 1024)); // beyond all clocks
    BOOST_TEST(argument(call, 5) == "1024");
    BOOST_TEST(argument(call, 6) == "60000 1000 604800000");
    BOOST_TEST(argument(call, 7) == "60000");
    BOOST_TEST(argument(call, 8) == "1000");
    BOOST_TEST(argument(call, 9) == "604800000");
    BOOST_TEST(argument(call, 10) == id);
    BOOST_TEST(argument(call, 11) == "");
    BOOST_TEST(argument(call, 12).starts_with(std::string(32, 'x')));
    BOOST_TEST(argument(call, 13) == "3000");
    BOOST_TEST(argument(call, 14) == "500");
}

// The nodes are told whether they are new, or remember everything.
BOOST_AUTO_TEST_CASE(nodes_are_told_whether_they_are_new_or_persistent)
{
    redis::fence_settings first = usual, kept = usual;
    first.first_deployment = first.trusted_persistence = true;
    kept.trusted_persistence = true;
    for (const auto& [settings, said] : {std::pair(first, "first"), std::pair(kept, "kept")}) {
        fence_fixture f(3, settings);
        f.connect();
        f.ask(7);
        for (std::size_t i = 0; i < 3; ++i) {
            BOOST_TEST(argument(f.nodes[i].asked[0], 10) == "node" + std::to_string(i));
            BOOST_TEST(argument(f.nodes[i].asked[0], 11) == said);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
