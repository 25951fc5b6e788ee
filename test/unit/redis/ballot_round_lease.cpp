// Ballots of a lease: nodes that join it late, and spare nodes. And all small rounds.
#include "unit/redis/ballots.hpp"

#include "support/printing.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdint>
#include <vector>

using namespace holdfast::redis;
using holdfast::test::ballots;

namespace {

// Three of five nodes have made the lease. 3 and 4 have been asked.
struct lease : ballots {
    lease() : ballots(5)
    {
        ask_all();
        for (std::size_t i = 0; i < 3; ++i)
            accept(i);
        publish();
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(redlock_ballot_lease, lease)

// A straggler counts with the same two answers as the others.
BOOST_AUTO_TEST_CASE(a_late_node_joins)
{
    accept(3);
    BOOST_TEST(of(3) == vote::granted);
    record_key(4);
    BOOST_TEST(of(4) == vote::pending);
    record_answer(4, 1, ballot_answer::refused);
    BOOST_TEST(of(4) == vote::refused); // no ballot is chosen for one node
    BOOST_TEST(!needs_larger());
    BOOST_TEST(published() == 100u);
}

// A node that holds our key and does not count is asked again with a larger ballot. The token stays
// that of the lease, and nodes that count go on doing so.
BOOST_AUTO_TEST_CASE(a_spare_node_counts_with_a_larger_ballot)
{
    refuse(3);
    record_key(4);
    BOOST_TEST(could_be_spare(3));
    BOOST_TEST(!could_be_spare(4)); // its ballot is under way
    BOOST_TEST(!could_be_spare(0)); // it counts
    propose(200);
    BOOST_TEST(votes().count(vote::granted) == 3u);
    BOOST_TEST(send_due() == "3 4");
    BOOST_TEST(!could_be_spare(3));
    record_answer(3, 2, ballot_answer::accepted);
    record_answer(4, 2, ballot_answer::refused);
    BOOST_TEST(of(3) == vote::granted);
    BOOST_TEST(of(4) == vote::refused);
    BOOST_TEST(published() == 100u);
    BOOST_TEST(could_be_spare(4));
    propose(300);
    BOOST_TEST(of(3) == vote::granted); // it has accepted one that is larger than the lease's
    BOOST_TEST(send_due() == "4");
}

// The ballot of the lease is enough for a node whose answer comes after a larger one was chosen.
BOOST_AUTO_TEST_CASE(a_late_acceptance_of_the_ballot_of_the_lease_counts)
{
    refuse(3);
    propose(200);
    BOOST_TEST(send_due() == "3");
    accept(4, 1);
    BOOST_TEST(of(4) == vote::granted);
    BOOST_TEST(!next());
}

// An older ballot than that of the lease is not.
BOOST_AUTO_TEST_CASE(an_older_ballot_than_that_of_the_lease_does_not_count)
{
    ballots r(5);
    r.ask_all();
    for (const std::size_t i : {0u, 1u, 2u})
        r.refuse(i);
    r.propose(200);
    r.send_due();
    for (const std::size_t i : {0u, 1u, 2u})
        r.record_answer(i, 2, ballot_answer::accepted);
    r.publish();
    BOOST_TEST(r.published() == 200u);
    r.accept(3, 1);
    BOOST_TEST(r.of(3) == vote::pending);
    BOOST_TEST(r.send_due() == "3");
    r.record_answer(3, 2, ballot_answer::accepted);
    BOOST_TEST(r.of(3) == vote::granted);
}

// Nodes without our key, or that do not count at all, get no ballot. A silent node may.
BOOST_AUTO_TEST_CASE(which_nodes_could_be_spare)
{
    BOOST_TEST(!could_be_spare(3)); // no key
    record_key(3);
    record_answer(3, 1, ballot_answer::unknown);
    BOOST_TEST(of(3) == vote::unknown);
    BOOST_TEST(could_be_spare(3));
    exclude(3);
    BOOST_TEST(!could_be_spare(3));
    record(4, vote::refused);
    ask_for_key(4); // the confirmation of a turn, later
    record_key(4);
    BOOST_TEST(could_be_spare(4)); // its ballot is spent
    lose_key(4);
    BOOST_TEST(!could_be_spare(4));
}

// A node that was not asked for the first ballot at all gets the current one with its key.
BOOST_AUTO_TEST_CASE(a_node_that_was_never_sent_a_ballot)
{
    ballots r(3);
    r.ask(0);
    r.ask(1);
    r.accept(0);
    r.accept(1);
    r.publish();
    r.ask_for_key(2);
    r.record_key(2);
    BOOST_TEST(r.send_due() == "2");
    r.record_answer(2, 1, ballot_answer::accepted);
    BOOST_TEST(r.of(2) == vote::granted);
}

// Each node that holds our key has to count, not only a majority. Nodes without our key do not
// matter.
BOOST_AUTO_TEST_CASE(whether_all_keys_count)
{
    BOOST_TEST(all_keys_count());
    record(3, vote::refused);
    BOOST_TEST(all_keys_count());
    record_key(4);
    BOOST_TEST(!all_keys_count()); // its ballot is under way
    record_answer(4, 1, ballot_answer::refused);
    BOOST_TEST(!all_keys_count());
    propose(200);
    send_due();
    BOOST_TEST(!all_keys_count());
    record_answer(4, 2, ballot_answer::accepted);
    BOOST_TEST(all_keys_count());
    record_key(3);
    BOOST_TEST(!all_keys_count());
    lose_key(3);
    BOOST_TEST(all_keys_count());
    exclude(2);
    BOOST_TEST(!all_keys_count());
}

// A silent node may have accepted the ballot. That proves nothing.
BOOST_AUTO_TEST_CASE(a_key_whose_ballot_was_not_answered_does_not_count)
{
    record_key(3);
    record_answer(3, 1, ballot_answer::unknown);
    BOOST_TEST(!all_keys_count());
}

// The lease of another client: all its nodes count, with its ballot.
BOOST_AUTO_TEST_CASE(a_lease_is_taken_over)
{
    ballot_round r(3);
    r.take_over(500);
    BOOST_TEST(r.ballot() == 500u);
    BOOST_TEST(r.published() == 500u);
    BOOST_TEST((r.judge() == verdict::acquired));
    BOOST_TEST(r.votes().count(vote::granted) == 3u);
    BOOST_TEST(r.all_keys_count());
    BOOST_TEST(!r.next().has_value());
    BOOST_TEST(!r.needs_larger());
    for (std::size_t i = 0; i < 3; ++i)
        BOOST_TEST(!r.could_be_spare(i));
}

// A key that was lost, and is set again, needs a larger ballot. The token stays that
// of the lease.
BOOST_AUTO_TEST_CASE(a_spare_node_of_a_lease_that_was_taken_over)
{
    ballot_round r(3);
    r.take_over(500);
    r.begin_confirmation();
    r.ask_for_key(1); // it has not confirmed
    r.record_key(1);
    BOOST_TEST(r.of(1) == vote::refused);
    BOOST_TEST(!r.all_keys_count());
    BOOST_TEST(r.could_be_spare(1));
    r.propose(600);
    BOOST_TEST(r.next().value() == 1u);
    r.send(1);
    r.record_answer(1, 2, ballot_answer::accepted);
    BOOST_TEST(r.of(1) == vote::granted);
    BOOST_TEST(r.published() == 500u);
    BOOST_TEST(r.all_keys_count());
}

// The keys may have ended. A node counts as soon as it has confirmed that it holds the key.
BOOST_AUTO_TEST_CASE(a_lease_that_was_taken_over_is_confirmed)
{
    ballot_round r(3);
    r.take_over(500);
    r.begin_confirmation();
    BOOST_TEST(r.votes().count(vote::pending) == 3u);
    BOOST_TEST(!r.has_key(0));
    BOOST_TEST(!r.next().has_value());
    r.record_key(0);
    BOOST_TEST(r.of(0) == vote::granted);
    BOOST_TEST((r.judge() == verdict::undecided));
    r.record(1, vote::unknown);
    BOOST_TEST((r.judge() == verdict::undecided));
    r.record(2, vote::refused);
    BOOST_TEST((r.judge() != verdict::acquired));
    r.record_key(1); // late
    BOOST_TEST((r.judge() == verdict::acquired));
    BOOST_TEST(r.published() == 500u);
    BOOST_TEST(r.all_keys_count());
}

// All orders of the answers of three nodes to the key and to two ballots: a node counts if its last
// answers are the key and an acceptance of the current ballot, and the votes are always those of
// its nodes.
BOOST_AUTO_TEST_CASE(all_answers_of_small_rounds)
{
    constexpr std::size_t nodes = 3;
    enum class said : std::uint8_t { nothing, no_key, refused, silent, accepted };
    constexpr std::size_t kinds = 5;
    for (std::size_t code = 0; code < kinds * kinds * kinds * kinds * kinds * kinds; ++code) {
        std::array<said, 2 * nodes> all{};
        std::size_t rest = code;
        for (said& each : all) {
            each = static_cast<said>(rest % kinds);
            rest /= kinds;
        }
        ballots r(nodes);
        r.ask_all();
        const auto give = [&](std::size_t i, std::uint8_t number, said what) {
            if (what == said::nothing)
                return;
            if (what == said::no_key) {
                r.record(i, vote::refused);
                return;
            }
            r.record_key(i);
            r.record_answer(i, number,
                what == said::accepted  ? ballot_answer::accepted
                : what == said::refused ? ballot_answer::refused
                                        : ballot_answer::unknown);
        };
        std::size_t counting = 0, behind = 0, pending = 0;
        for (std::size_t i = 0; i < nodes; ++i) {
            give(i, 1, all[i]);
            counting += all[i] == said::accepted ? 1u : 0u;
            behind += all[i] == said::refused ? 1u : 0u;
            pending += all[i] == said::nothing ? 1u : 0u;
        }
        BOOST_TEST_REQUIRE(r.votes().count(vote::granted) == counting);
        BOOST_TEST_REQUIRE(r.needs_larger() == (counting + pending < 2 && behind != 0 &&
                                                   counting + pending + behind >= 2));
        if (!r.needs_larger())
            continue;
        r.propose(200);
        std::vector<bool> sent(nodes);
        while (const auto node = r.next()) {
            r.send(*node);
            sent[*node] = true;
        }
        counting = 0;
        for (std::size_t i = 0; i < nodes; ++i) {
            const bool has_key = all[i] != said::nothing && all[i] != said::no_key;
            BOOST_TEST_REQUIRE(sent[i] == has_key);
            if (!has_key)
                continue;
            give(i, 2, all[nodes + i]);
            counting += all[nodes + i] == said::accepted ? 1u : 0u;
        }
        BOOST_TEST_REQUIRE(r.votes().count(vote::granted) == counting);
        BOOST_TEST_REQUIRE((r.judge() == verdict::acquired) == (counting >= 2));
    }
}

BOOST_AUTO_TEST_SUITE_END()
