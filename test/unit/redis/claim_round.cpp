#include "redis/claim/claim_round.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>

using namespace holdfast::redis;

namespace {

// One node of a fenced round grants the key and accepts the first ballot.
void grant(claim_round& r, std::uint64_t ballot)
{
    r.ballots().propose(ballot);
    r.ask_for_key(0);
    r.ballots().send(0);
    r.record_key(0);
    r.ballots().record_answer(0, 1, ballot_answer::accepted);
    r.ballots().publish();
}

} // namespace

BOOST_AUTO_TEST_SUITE(redlock_claim_round)

// A node that grants the key counts.
BOOST_AUTO_TEST_CASE(plain_votes)
{
    claim_round r;
    r.begin(3);
    BOOST_TEST(!r.is_fenced());
    r.ask_for_key(0);
    r.record_key(0);
    r.record(1, vote::refused);
    BOOST_TEST((r.votes().judge() == verdict::undecided));
    r.record_key(2);
    BOOST_TEST((r.votes().judge() == verdict::acquired));
    BOOST_TEST(r.counts(0));
    BOOST_TEST(!r.has_key(0)); // of fenced mode
    r.lose_key(0);
    BOOST_TEST((r.votes().judge() == verdict::acquired));
    BOOST_TEST(!r.does_not_count_for_now(0));
    BOOST_TEST(r.can_transfer());
    BOOST_TEST(!r.transfer().has_value());
    r.begin(3);
    BOOST_TEST(r.votes().count(vote::pending) == 3u);
}

// With fencing it has to accept the ballot.
BOOST_AUTO_TEST_CASE(fenced_votes)
{
    claim_round r;
    r.begin(1);
    r.begin_fence(1);
    BOOST_TEST(r.is_fenced());
    r.ballots().propose(100);
    r.ask_for_key(0);
    r.ballots().send(0);
    r.record_key(0);
    BOOST_TEST(r.has_key(0));
    BOOST_TEST(!r.counts(0));
    BOOST_TEST((r.votes().judge() == verdict::undecided));
    r.ballots().record_answer(0, 1, ballot_answer::accepted);
    BOOST_TEST(r.counts(0));
    BOOST_TEST((r.votes().judge() == verdict::acquired));
    r.record(0, vote::refused); // the grant stands
    BOOST_TEST((r.votes().judge() == verdict::acquired));
}

BOOST_AUTO_TEST_CASE(a_lost_key_has_no_vote_before_the_ballot)
{
    claim_round r;
    r.begin_fence(1);
    r.ballots().propose(100);
    r.ask_for_key(0);
    r.ballots().send(0);
    r.record_key(0);
    r.lose_key(0);
    BOOST_TEST(!r.has_key(0));
    BOOST_TEST((r.votes().of(0) == vote::refused));
}

// Some troubles are soon over. A new attempt knows of none.
BOOST_AUTO_TEST_CASE(a_node_in_trouble)
{
    claim_round r;
    r.begin_fence(5);
    r.fence().troubles = {fence_trouble::quarantine, fence_trouble::ahead, fence_trouble::far_ahead,
        fence_trouble::settings, fence_trouble::conflict};
    for (std::size_t i = 0; i < 5; ++i)
        BOOST_TEST(r.does_not_count_for_now(i) == (i < 2));
    r.begin_fence(5);
    BOOST_TEST(!r.does_not_count_for_now(0));
}

// Each holder has its own token, as long as there are any of the ballot.
BOOST_AUTO_TEST_CASE(each_holder_has_a_token_of_the_ballot)
{
    claim_round r;
    r.begin_fence(1);
    grant(r, 100);
    for (std::uint64_t i = 1; i < 128; ++i) {
        BOOST_TEST(r.can_transfer());
        BOOST_TEST(r.transfer().value() == 12'800 + i);
    }
    BOOST_TEST(!r.can_transfer());
    r.begin_fence(1);
    grant(r, 101);
    BOOST_TEST(r.transfer().value() == 12'929u);
}

// A larger ballot for spare nodes gives no token.
BOOST_AUTO_TEST_CASE(tokens_are_of_the_ballot_that_was_published)
{
    claim_round r;
    r.begin_fence(1);
    grant(r, 100);
    r.ballots().propose(200);
    BOOST_TEST(r.transfer().value() == 12'801u);
}

// The lease of another client has been granted by all nodes.
BOOST_AUTO_TEST_CASE(a_plain_lease_is_taken_over)
{
    claim_round r;
    r.begin(3);
    BOOST_TEST(r.can_be_given());
    BOOST_TEST(!r.next_fence().has_value());
    r.take_over(3, {});
    BOOST_TEST(r.votes().count(vote::granted) == 3u);
    BOOST_TEST(r.can_be_given());
    BOOST_TEST(!r.next_fence().has_value());
}

BOOST_AUTO_TEST_CASE(a_plain_lease_is_confirmed_by_each_node)
{
    claim_round r;
    r.begin(3);
    r.take_over(3, {});
    r.begin_confirmation(3);
    BOOST_TEST(r.votes().count(vote::pending) == 3u);
    r.record(0, vote::refused);
    r.record_key(1);
    BOOST_TEST((r.votes().judge() == verdict::undecided));
    r.record_key(2);
    BOOST_TEST((r.votes().judge() == verdict::acquired));
}

// The holder has the token that came with the lease; the next ones have larger ones of its ballot.
BOOST_AUTO_TEST_CASE(tokens_go_on_after_a_lease_was_taken_over)
{
    claim_round r;
    r.begin_fence(3);
    r.take_over(3, 12'805);
    BOOST_TEST(r.ballots().published() == 100u);
    BOOST_TEST(r.fence().passed == 5u);
    BOOST_TEST(r.votes().count(vote::granted) == 3u);
    BOOST_TEST(r.next_fence().value() == 12'806u);
    BOOST_TEST(r.next_fence().value() == 12'806u); // it is not used up by that
    BOOST_TEST(r.transfer().value() == 12'806u);
    BOOST_TEST(r.next_fence().value() == 12'807u);
    r.begin_fence(3); // a new attempt
    BOOST_TEST(r.ballots().published() == 0u);
    BOOST_TEST(r.fence().passed == 0u);
}

// A lease with the last token of its ballot has no next holder, in whichever way it came to that.
BOOST_AUTO_TEST_CASE(tokens_that_are_used_up)
{
    claim_round r;
    r.begin_fence(1);
    grant(r, 100);
    for (int i = 1; i < 128; ++i) {
        BOOST_TEST(r.can_be_given());
        r.transfer();
    }
    BOOST_TEST(!r.can_be_given());
    r.begin_fence(1);
    r.take_over(1, 12'926);
    BOOST_TEST(r.can_be_given());
    BOOST_TEST(r.next_fence().value() == 12'927u);
    r.begin_fence(1);
    r.take_over(1, 12'927);
    BOOST_TEST(!r.can_be_given());
    BOOST_TEST(!r.can_transfer());
}

// For the next client it would count.
BOOST_AUTO_TEST_CASE(a_key_that_does_not_count_is_not_given)
{
    claim_round r;
    r.begin_fence(3);
    grant(r, 100);
    BOOST_TEST(r.can_be_given()); // the others have no key
    r.ask_for_key(1);
    r.ballots().send(1);
    r.record_key(1);
    BOOST_TEST(!r.can_be_given());
    BOOST_TEST(r.can_transfer());
    r.ballots().record_answer(1, 1, ballot_answer::accepted);
    BOOST_TEST(r.can_be_given());
}

// No ballot is sent for a confirmation: the nodes have accepted that of the lease.
BOOST_AUTO_TEST_CASE(a_fenced_lease_is_confirmed_by_each_node)
{
    claim_round r;
    r.begin_fence(3);
    r.take_over(3, 12'805);
    r.begin_confirmation(3);
    BOOST_TEST(r.votes().count(vote::pending) == 3u);
    r.record_key(0);
    BOOST_TEST(r.counts(0));
    BOOST_TEST(!r.counts(1));
    r.record(1, vote::refused);
    BOOST_TEST((r.votes().judge() == verdict::undecided));
    r.record_key(2);
    BOOST_TEST((r.votes().judge() == verdict::acquired));
    BOOST_TEST(!r.ballots().next().has_value());
    BOOST_TEST(r.next_fence().value() == 12'806u);
    BOOST_TEST(r.can_be_given());
}

BOOST_AUTO_TEST_SUITE_END()
