// Ballots of one attempt, until it is granted.
#include "unit/redis/ballots.hpp"

#include "support/printing.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::redis;
using holdfast::test::ballots;

BOOST_AUTO_TEST_SUITE(redlock_ballot_round)

// One round trip: a majority has granted the key and has then accepted the ballot.
BOOST_AUTO_TEST_CASE(a_majority_of_acceptances)
{
    ballots r(5);
    BOOST_TEST(r.ballot() == 100u);
    BOOST_TEST(r.is_current(1));
    for (const std::size_t i : {0u, 3u, 4u}) {
        BOOST_TEST(r.judge() == verdict::undecided);
        r.ask(i);
        r.accept(i);
    }
    BOOST_TEST(r.judge() == verdict::acquired);
    BOOST_TEST(r.of(0) == vote::granted);
    BOOST_TEST(r.of(1) == vote::pending);
    BOOST_TEST(!r.next());
    BOOST_TEST(!r.needs_larger());
    r.publish();
    BOOST_TEST(r.published() == 100u);
}

// The key alone proves no token, and a ballot alone no exclusion.
BOOST_AUTO_TEST_CASE(a_node_counts_only_with_the_key_and_the_ballot)
{
    ballots r(1);
    r.ask(0);
    r.record_key(0);
    BOOST_TEST(r.has_key(0));
    BOOST_TEST(r.of(0) == vote::pending);
    r.record_answer(0, 1, ballot_answer::accepted);
    BOOST_TEST(r.of(0) == vote::granted);

    ballots other(1);
    other.ask(0);
    other.record(0, vote::refused);
    other.record_answer(0, 1, ballot_answer::accepted);
    BOOST_TEST(other.of(0) == vote::refused);
    BOOST_TEST(other.judge() == verdict::contended);
}

// The verdict without a majority is that of plain votes.
BOOST_AUTO_TEST_CASE(nodes_without_our_key_vote_as_in_plain_mode)
{
    ballots r(3);
    r.ask(0);
    r.accept(0);
    r.record(1, vote::refused);
    BOOST_TEST(r.judge() == verdict::undecided);
    BOOST_TEST(r.judge_now() == verdict::contended);
    r.record(2, vote::failed);
    BOOST_TEST(r.judge() == verdict::contended);
    r.record(1, vote::unknown);
    BOOST_TEST(r.judge() == verdict::unreachable);
}

// What a node says later does not take its grant back.
BOOST_AUTO_TEST_CASE(a_key_stays_granted)
{
    ballots r(1);
    r.ask(0);
    r.accept(0);
    for (const vote v : {vote::refused, vote::failed, vote::unknown}) {
        r.record(0, v);
        BOOST_TEST(r.of(0) == vote::granted);
    }
}

// The key may have been another client's in between: its larger ballot could have been accepted
// first, and its lease could have ended after ours began.
BOOST_AUTO_TEST_CASE(a_ballot_that_precedes_a_question_about_the_key_does_not_count)
{
    ballots r(1);
    r.ask(0);
    r.record(0, vote::refused);
    r.ask_for_key(0); // again, while the answer to the ballot is under way
    BOOST_TEST(r.was_sent(0));
    r.record_answer(0, 1, ballot_answer::accepted);
    r.record_key(0);
    BOOST_TEST(r.of(0) == vote::pending);
    BOOST_TEST(!r.next()); // the same ballot would be refused
    BOOST_TEST(r.is_behind(0));
    BOOST_TEST(r.needs_larger());

    ballots known(1); // the answer to the ballot came before
    known.ask(0);
    known.record(0, vote::refused);
    known.record_answer(0, 1, ballot_answer::accepted);
    known.ask_for_key(0);
    known.record_key(0);
    BOOST_TEST(known.of(0) == vote::pending);
    BOOST_TEST(known.needs_larger());
}

// A node that counts does so whatever is sent to it.
BOOST_AUTO_TEST_CASE(a_question_does_not_end_the_vote_of_a_node_that_counts)
{
    ballots r(1);
    r.ask(0);
    r.accept(0);
    r.ask_for_key(0);
    BOOST_TEST(r.of(0) == vote::granted);
    r.lose_key(0);
    BOOST_TEST(r.of(0) == vote::granted);
}

// Without an answer in time the ballot stays spent: it does not become good by being late.
BOOST_AUTO_TEST_CASE(a_spent_ballot_does_not_count_after_a_timeout)
{
    ballots r(1);
    r.ask(0);
    r.record_key(0);
    r.ask_for_key(0);
    r.record(0, vote::unknown);
    BOOST_TEST(r.of(0) == vote::unknown);
    r.record_answer(0, 1, ballot_answer::accepted);
    BOOST_TEST(r.of(0) == vote::unknown);
}

// The second round: only the acceptance of the larger ballot counts, also at nodes that had
// accepted the first one.
BOOST_AUTO_TEST_CASE(an_acceptance_of_an_older_ballot_does_not_count)
{
    ballots r(3);
    r.ask_all();
    r.accept(0);
    r.refuse(1);
    r.refuse(2);
    BOOST_TEST(r.judge() == verdict::undecided);
    BOOST_TEST(r.needs_larger());
    r.propose(200);
    BOOST_TEST(r.ballot() == 200u);
    BOOST_TEST(r.number() == 2);
    BOOST_TEST(!r.needs_larger()); // it has not been sent yet
    BOOST_TEST(!r.is_current(1));
    BOOST_TEST(r.of(0) == vote::pending);
    BOOST_TEST(!r.was_sent(0));
    BOOST_TEST(r.send_due() == "0 1 2");
    BOOST_TEST(!r.next());
    BOOST_TEST(!r.needs_larger());
    r.record_answer(1, 2, ballot_answer::accepted);
    BOOST_TEST(r.judge() == verdict::undecided);
    r.record_answer(0, 2, ballot_answer::accepted);
    BOOST_TEST(r.judge() == verdict::acquired);
    r.publish();
    BOOST_TEST(r.published() == 200u);
}

// A ballot that went out before the larger one was chosen is answered after it.
BOOST_AUTO_TEST_CASE(a_late_answer_to_an_older_ballot_changes_nothing)
{
    ballots r(3);
    r.ask_all();
    for (std::size_t i = 0; i < 3; ++i)
        r.record_key(i);
    r.refuse(0);
    r.refuse(1);
    r.propose(200);
    BOOST_TEST(r.send_due() == "0 1 2");
    r.record_answer(2, 1, ballot_answer::refused);
    BOOST_TEST(!r.is_behind(2));
    r.record_answer(2, 1, ballot_answer::accepted);
    r.record_answer(0, 1, ballot_answer::accepted);
    BOOST_TEST(r.votes().count(vote::granted) == 0u);
    r.record_answer(2, 2, ballot_answer::accepted);
    BOOST_TEST(r.of(2) == vote::granted);
}

// A node whose key comes after the larger ballot was chosen had accepted the first one.
BOOST_AUTO_TEST_CASE(a_key_that_comes_late_needs_the_current_ballot)
{
    ballots r(3);
    r.ask_all();
    r.refuse(0);
    r.refuse(1);
    r.propose(200);
    BOOST_TEST(r.send_due() == "0 1");
    r.accept(2, 1);
    BOOST_TEST(r.of(2) == vote::pending);
    BOOST_TEST(r.send_due() == "2");
    r.record_answer(2, 2, ballot_answer::accepted);
    BOOST_TEST(r.of(2) == vote::granted);
}

// Without a ballot nothing can be sent. The first one is proposed like a larger one.
BOOST_AUTO_TEST_CASE(begins_without_a_ballot)
{
    ballot_round r(1);
    BOOST_TEST(r.number() == 0);
    r.ask_for_key(0);
    r.record_key(0);
    BOOST_TEST(!r.next());
    BOOST_TEST(!r.needs_larger());
    r.propose(100);
    BOOST_TEST(r.number() == 1);
    BOOST_TEST(r.next().value() == 0u);
}

// A larger ballot is chosen exactly when a majority is possible with the nodes that are behind, and
// not without them.
BOOST_AUTO_TEST_CASE(a_larger_ballot_is_needed_only_if_nothing_else_can_help)
{
    ballots r(5);
    r.ask_all();
    r.accept(0);
    r.accept(1);
    r.refuse(2);
    BOOST_TEST(!r.needs_larger()); // 3 or 4 may complete the majority
    r.record(3, vote::refused);
    BOOST_TEST(!r.needs_larger());
    r.record(4, vote::failed);
    BOOST_TEST(r.needs_larger());
    r.accept(4); // after all
    BOOST_TEST(!r.needs_larger());
    BOOST_TEST(r.judge() == verdict::acquired);

    ballots contended(5); // no ballot helps
    contended.ask_all();
    contended.refuse(0);
    contended.refuse(1);
    for (const std::size_t i : {2u, 3u, 4u})
        contended.record(i, vote::refused);
    BOOST_TEST(!contended.needs_larger());
    BOOST_TEST(contended.judge() == verdict::contended);
}

// The node that cannot count is not the reason for a larger ballot.
BOOST_AUTO_TEST_CASE(an_excluded_node_needs_no_larger_ballot)
{
    ballots r(3);
    r.ask_all();
    r.accept(0);
    r.refuse(1);
    BOOST_TEST(!r.needs_larger());
    r.exclude(1);
    BOOST_TEST(r.of(1) == vote::failed);
    BOOST_TEST(!r.needs_larger()); // 2 alone decides
    r.accept(2);
    BOOST_TEST(r.judge() == verdict::acquired);
}

// Whatever such a node answers later, and whatever it had accepted.
BOOST_AUTO_TEST_CASE(an_excluded_node_never_counts)
{
    ballots r(3);
    r.ask_all();
    r.exclude(0);
    r.accept(0);
    BOOST_TEST(r.of(0) == vote::failed);
    r.accept(1);
    r.exclude(1);
    BOOST_TEST(r.of(1) == vote::failed);
    r.accept(2);
    BOOST_TEST(r.judge() == verdict::unreachable);
    r.record(1, vote::unknown);
    BOOST_TEST(r.of(1) == vote::failed);
    r.propose(200);
    BOOST_TEST(r.send_due() == "2");
    BOOST_TEST(!r.could_be_spare(0));

    ballots refused(1); // an answer about the key stands
    refused.ask(0);
    refused.record(0, vote::refused);
    refused.exclude(0);
    BOOST_TEST(refused.of(0) == vote::refused);
}

// Our key is gone from a node: other clients may have it.
BOOST_AUTO_TEST_CASE(a_lost_key_ends_the_vote_of_its_node)
{
    ballots r(3);
    r.ask_all();
    r.record_key(0);
    r.lose_key(0);
    BOOST_TEST(!r.has_key(0));
    BOOST_TEST(r.of(0) == vote::refused);
    r.record_answer(0, 1, ballot_answer::accepted);
    BOOST_TEST(r.of(0) == vote::refused);
    r.refuse(1);
    r.lose_key(1);
    r.propose(200);
    BOOST_TEST(!r.next());
}

// There will be no larger ballot: nodes that have refused the last one have the vote of a node
// whose key is another client's.
BOOST_AUTO_TEST_CASE(giving_up_makes_refusals_final)
{
    ballots r(3);
    r.ask_all();
    r.accept(0);
    r.refuse(1);
    r.refuse(2);
    BOOST_TEST(r.of(1) == vote::pending);
    r.give_up();
    BOOST_TEST(r.of(1) == vote::refused);
    BOOST_TEST(r.of(0) == vote::granted);
    BOOST_TEST(!r.needs_larger());
    BOOST_TEST(r.judge() == verdict::contended);

    ballots waiting(3); // a node that has not answered may still accept
    waiting.ask_all();
    waiting.accept(0);
    waiting.refuse(1);
    waiting.give_up();
    BOOST_TEST(waiting.judge() == verdict::undecided);
    waiting.accept(2);
    BOOST_TEST(waiting.judge() == verdict::acquired);
}

// A silent node has no vote: it may have accepted the ballot, or not. A late answer tells.
BOOST_AUTO_TEST_CASE(a_late_acceptance_counts)
{
    for (const bool orphaned : {false, true}) {
        ballots r(1);
        r.ask(0);
        r.record_key(0);
        if (orphaned)
            r.record_answer(0, 1, ballot_answer::unknown);
        else
            r.record(0, vote::unknown);
        BOOST_TEST(r.of(0) == vote::unknown);
        BOOST_TEST(r.judge() == verdict::unreachable);
        BOOST_TEST(!r.needs_larger());
        r.record_answer(0, 1, ballot_answer::accepted);
        BOOST_TEST(r.judge() == verdict::acquired);
    }
}

// A late refusal of a node whose time was over asks for a larger ballot only if it can still help.
BOOST_AUTO_TEST_CASE(a_late_refusal)
{
    ballots r(3);
    r.ask_all();
    r.accept(0);
    r.record_key(1);
    r.record(1, vote::unknown);
    r.record_answer(1, 1, ballot_answer::refused);
    BOOST_TEST(r.of(1) == vote::pending);
    BOOST_TEST(!r.needs_larger());
    r.record(2, vote::failed);
    BOOST_TEST(r.needs_larger());
    r.record(1, vote::unknown); // its time is over, too
    BOOST_TEST(!r.needs_larger());
}

BOOST_AUTO_TEST_SUITE_END()
