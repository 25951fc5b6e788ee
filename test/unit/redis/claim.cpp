#include "redis/claim/claim.hpp"

#include "support/printing.hpp"
#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::redis;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::release_outcome;
namespace core = holdfast::core;
using key = claim_node::key;

namespace {

constexpr core::claim_params terms{.ttl = 1000ms, .drift = 10ms, .guard = 50ms};

// The end of a grant or a renewal that was asked for at `asked`.
core::time_point ends(std::chrono::milliseconds asked)
{
    return at(asked + 990ms);
}

claim claim_over(std::size_t nodes)
{
    claim c;
    c.begin(7, "stock:A", {}, terms, nodes);
    return c;
}

// As above, and all nodes have granted; each was asked a millisecond after the previous one.
claim granted_by_all(std::size_t nodes)
{
    claim c = claim_over(nodes);
    for (std::size_t i = 0; i < nodes; ++i) {
        c.sent(i, at(std::chrono::milliseconds(i)));
        c.keys.answered(i);
        c.granted(i, at(std::chrono::milliseconds(i)));
    }
    return c;
}

// In fenced mode, with a first ballot. The steps of a node in it:
claim fenced_claim_over(std::size_t nodes)
{
    claim c = claim_over(nodes);
    c.round.begin_fence(nodes);
    c.round.ballots().propose(100);
    return c;
}

void ask(claim& c, std::size_t node, core::time_point now)
{
    c.sent(node, now);
    c.round.ballots().send(node);
}

void grant(claim& c, std::size_t node, core::time_point asked)
{
    c.keys.answered(node);
    c.granted(node, asked);
}

void accept(claim& c, std::size_t node, std::uint8_t number = 1)
{
    c.round.ballots().record_answer(node, number, ballot_answer::accepted);
    c.weigh();
}

} // namespace

BOOST_AUTO_TEST_SUITE(redlock_claim)

// A new claim holds nothing and waits for nothing.
BOOST_AUTO_TEST_CASE(begins_with_nothing)
{
    claim c = granted_by_all(5);
    c.keys.deleted(0, true);
    c.begin(8, "another", {}, terms, 3);
    BOOST_TEST(c.keys.size() == 3u);
    BOOST_TEST(c.tag == 8u);
    BOOST_TEST(c.keys.valid_until() == core::long_ago);
    BOOST_TEST(!c.keys.may_hold_any());
    BOOST_TEST(c.keys.unsent() == 0u);
    BOOST_TEST(c.keys.gone_at() == core::long_ago);
    BOOST_TEST(c.keys.judge_release().outcome == release_outcome::expired);
}

// A request without an answer adds no validity, but its key may have to be deleted. A refusal or a
// failure proves that there is nothing to delete.
BOOST_AUTO_TEST_CASE(only_grants_count_and_only_proofs_make_a_deletion_unnecessary)
{
    claim c = claim_over(5);
    for (std::size_t i = 0; i < 5; ++i)
        c.sent(i, at(0ms));
    c.granted(0, at(0ms));
    c.not_granted(1, vote::refused);
    c.not_granted(2, vote::failed);
    c.not_granted(3, vote::unknown);
    BOOST_TEST(c.keys.valid_until() == core::long_ago);
    BOOST_TEST(c.keys.may_hold(0));
    BOOST_TEST(!c.keys.may_hold(1));
    BOOST_TEST(!c.keys.may_hold(2));
    BOOST_TEST(c.keys.may_hold(3));
    BOOST_TEST(c.keys.may_hold(4));
}

// A node that is still connecting has nothing of ours.
BOOST_AUTO_TEST_CASE(unsent_holds_nothing)
{
    claim c = claim_over(1);
    c.keys[0].state = key::unsent;
    BOOST_TEST(c.keys.unsent() == 1u);
    BOOST_TEST(!c.keys.may_hold_any());
    c.sent(0, at(3ms));
    BOOST_TEST(c.keys.unsent() == 0u);
    BOOST_TEST(c.keys.may_hold_any());
    BOOST_TEST(c.keys.gone_at() == at(3ms) + c.params.ttl);
}

// A grant that comes after the round was decided joins the lease, with its own time of sending.
BOOST_AUTO_TEST_CASE(a_late_grant_joins)
{
    claim c = claim_over(3);
    c.sent(0, at(0ms));
    c.sent(1, at(10ms));
    c.sent(2, at(20ms));
    c.granted(0, at(0ms));
    c.granted(1, at(10ms));
    c.not_granted(2, vote::unknown);
    BOOST_TEST(c.keys.valid_until() == ends(0ms));
    c.granted(2, at(20ms));
    BOOST_TEST(c.keys.valid_until() == ends(10ms));
}

// A confirmed renewal proves a grant whose own answer was lost.
BOOST_AUTO_TEST_CASE(a_renewal_proves_a_grant)
{
    claim c = claim_over(1);
    c.sent(0, at(0ms));
    c.not_granted(0, vote::unknown);
    c.renewed(0, at(300ms), at(300ms));
    BOOST_TEST(c.keys.valid_until() == ends(300ms));
}

// A grant of a node that has lost its key does not count, however it is reported.
BOOST_AUTO_TEST_CASE(a_node_that_has_lost_the_key)
{
    claim c = granted_by_all(3);
    c.keys.missing(0, at(100ms));
    c.sent(0, at(100ms));
    c.granted(0, at(100ms));
    BOOST_TEST((c.keys[0].state == key::repaired));
    BOOST_TEST(c.keys.valid_until() == ends(1ms));
    c.keys.missing(1, at(100ms));
    c.sent(1, at(100ms));
    c.not_granted(1, vote::unknown);
    c.renewed(1, at(200ms), at(200ms));
    BOOST_TEST(c.keys.may_hold(1));
    BOOST_TEST(c.keys.valid_until() == core::long_ago);
}

// A node without our key no longer counts, immediately. Below a majority no validity is left.
BOOST_AUTO_TEST_CASE(a_missing_key_ends_the_vote_of_its_node)
{
    claim c = granted_by_all(3);
    c.keys.missing(2, at(100ms));
    BOOST_TEST(c.keys.valid_until() == ends(0ms));
    BOOST_TEST(c.keys.has_majority(at(500ms)));
    c.keys.missing(0, at(100ms));
    BOOST_TEST(c.keys.valid_until() == core::long_ago);
    BOOST_TEST(!c.keys.has_majority(at(0ms)));
    BOOST_TEST(!c.keys.may_hold(0));
    BOOST_TEST(c.keys.may_hold(1));
}

// Only answers add validity, whatever else is under way to a node that has granted. Found by the
// simulator: 284295.
BOOST_AUTO_TEST_CASE(a_second_request_adds_no_validity)
{
    claim c = granted_by_all(3);
    for (std::size_t i = 0; i < 3; ++i)
        c.sent(i, at(500ms));
    BOOST_TEST(c.keys.valid_until() == ends(1ms));
    for (std::size_t i = 0; i < 3; ++i)
        c.renewed(i, at(100ms), at(100ms));
    BOOST_TEST(c.keys.valid_until() == ends(100ms));
    c.keys.missing(0, at(100ms));
    c.keys.missing(1, at(100ms));
    BOOST_TEST(c.keys.valid_until() == core::long_ago);
    c.granted(0, at(500ms)); // after it was missing
    BOOST_TEST(c.keys.valid_until() == core::long_ago);
}

// A node that forgot our key and was given it again proves nothing before the time is over for
// which it had granted the key. Until then it replaces no member of the majority.
BOOST_AUTO_TEST_CASE(a_node_that_forgot_the_key_counts_again_after_the_time_of_its_grant)
{
    claim c = granted_by_all(3);
    c.keys.missing(0, at(100ms));
    c.keys[0].repairing = true;
    BOOST_TEST(c.keys.may_hold(0)); // to be deleted in any case
    c.keys[0].repairing = false;
    c.set_again(0, at(200ms), at(200ms));
    BOOST_TEST(c.keys.may_hold(0));
    c.renewed(0, at(400ms), at(400ms));
    c.renewed(1, at(400ms), at(400ms));
    BOOST_TEST(c.keys.valid_until() == ends(2ms)); // of nodes 1 and 2, the lesser
    c.renewed(2, at(700ms), at(700ms));
    c.renewed(0, at(989ms), at(989ms));
    BOOST_TEST(c.keys.valid_until() == ends(400ms));
    c.renewed(0, at(990ms), at(990ms));
    BOOST_TEST(c.keys.valid_until() == ends(700ms)); // of nodes 0 and 2
    c.keys.missing(2, at(1000ms));
    BOOST_TEST(c.keys.valid_until() == ends(400ms));
    c.keys.missing(1, at(1000ms));
    BOOST_TEST(c.keys.valid_until() == core::long_ago);
}

// A key that ran out by its own time, or that a node did not have at all, proves as much as a late
// grant when it is set. Not if the lease may have been another client's meanwhile.
BOOST_AUTO_TEST_CASE(a_node_whose_key_ran_out_counts_again)
{
    claim c = granted_by_all(3);
    c.renewed(1, at(300ms), at(300ms));
    c.renewed(2, at(300ms), at(300ms));
    c.missing(0, at(990ms));
    c.set_again(0, at(1000ms), at(1010ms));
    BOOST_TEST((c.keys[0].state == key::ours));
    c.missing(1, at(1020ms));
    BOOST_TEST(c.keys.valid_until() == ends(300ms)); // of nodes 0 and 2

    claim late = granted_by_all(3);
    late.missing(0, at(990ms));
    late.set_again(0, at(991ms), at(992ms));
    BOOST_TEST((late.keys[0].state == key::repaired));
    BOOST_TEST(!late.keys.has_majority(at(992ms)));

    claim taken = granted_by_all(3);
    taken.renewed(1, at(300ms), at(300ms));
    taken.renewed(2, at(300ms), at(300ms));
    taken.missing(0, at(990ms));
    taken.taken_away = true;
    taken.set_again(0, at(1000ms), at(1010ms));
    BOOST_TEST((taken.keys[0].state == key::repaired));
}

// In fenced mode a node is `ours` while it counts. With our key alone it may have to be deleted
// there, and adds no validity.
BOOST_AUTO_TEST_CASE(states_follow_the_ballots)
{
    claim c = fenced_claim_over(3);
    for (std::size_t i = 0; i < 3; ++i) {
        ask(c, i, at(std::chrono::milliseconds(i)));
        grant(c, i, at(std::chrono::milliseconds(i)));
        BOOST_TEST((c.keys[i].state == key::asked));
    }
    accept(c, 0);
    accept(c, 1);
    BOOST_TEST((c.keys[0].state == key::ours));
    BOOST_TEST(c.keys.valid_until() == ends(0ms)); // from when the key was asked for
    c.round.ballots().record_answer(2, 1, ballot_answer::refused);
    c.weigh();
    BOOST_TEST((c.keys[2].state == key::asked));
    BOOST_TEST(c.keys.may_hold(2));
    BOOST_TEST(c.keys.valid_until() == ends(0ms));
}

// After the choice of a larger ballot, nobody counts who has not accepted it. The validity is still
// that of the keys.
BOOST_AUTO_TEST_CASE(a_larger_ballot_begins_anew)
{
    claim c = fenced_claim_over(3);
    for (std::size_t i = 0; i < 3; ++i) {
        ask(c, i, at(std::chrono::milliseconds(i)));
        grant(c, i, at(std::chrono::milliseconds(i)));
    }
    accept(c, 0);
    c.round.ballots().propose(200);
    c.weigh();
    BOOST_TEST((c.keys[0].state == key::asked));
    for (std::size_t i = 0; i < 3; ++i) {
        c.round.ballots().send(i);
        accept(c, i, 2);
        BOOST_TEST((c.keys[i].state == key::ours));
    }
    BOOST_TEST(c.keys.valid_until() == ends(1ms));
}

// A renewal of a node that does not count adds nothing, however often. If the node counts later,
// its key has been ours since it was granted.
BOOST_AUTO_TEST_CASE(a_renewal_proves_no_token)
{
    claim c = fenced_claim_over(1);
    ask(c, 0, at(0ms));
    c.not_granted(0, vote::unknown);
    c.renewed(0, at(300ms), at(300ms));
    BOOST_TEST((c.keys[0].state == key::repaired));
    BOOST_TEST(c.keys.valid_until() == core::long_ago);
    accept(c, 0); // without the answer about the key
    BOOST_TEST((c.keys[0].state == key::repaired));
    BOOST_TEST(c.keys.valid_until() == core::long_ago);

    claim late = fenced_claim_over(1);
    ask(late, 0, at(0ms));
    grant(late, 0, at(0ms));
    late.renewed(0, at(300ms), at(300ms));
    BOOST_TEST(late.keys.valid_until() == core::long_ago);
    accept(late, 0);
    BOOST_TEST(late.keys.valid_until() == ends(300ms));
}

// A second grant of a node changes nothing. If the node lost our key in between, it does not count.
BOOST_AUTO_TEST_CASE(the_first_grant_counts)
{
    claim c = fenced_claim_over(1);
    ask(c, 0, at(0ms));
    grant(c, 0, at(0ms));
    accept(c, 0);
    c.sent(0, at(300ms)); // a confirmation
    grant(c, 0, at(300ms));
    BOOST_TEST((c.keys[0].state == key::ours));
    BOOST_TEST(c.keys.valid_until() == ends(0ms));
    c.missing(0, at(350ms));
    BOOST_TEST(c.keys.valid_until() == core::long_ago);
    c.sent(0, at(400ms));
    grant(c, 0, at(400ms));
    c.weigh();
    BOOST_TEST((c.keys[0].state == key::repaired));
    BOOST_TEST(c.keys.valid_until() == core::long_ago);
}

// A ballot that precedes the key does not count, even if the key was missing before the lease
// began.
BOOST_AUTO_TEST_CASE(a_key_that_is_set_again_needs_a_ballot_behind_it)
{
    claim c = fenced_claim_over(3);
    for (std::size_t i = 0; i < 3; ++i) {
        ask(c, i, at(0ms));
        grant(c, i, at(0ms));
        accept(c, i);
    }
    c.missing(0, at(10ms));
    c.round.ballots().publish();
    c.stage = claim_stage::held;
    c.renewed(1, at(500ms), at(500ms));
    c.renewed(2, at(500ms), at(500ms));
    c.round.ask_for_key(0);
    c.set_again(0, at(1000ms), at(1000ms));
    c.weigh();
    BOOST_TEST((c.keys[0].state == key::asked));
    BOOST_TEST(!c.round.counts(0));
    BOOST_TEST(c.round.ballots().could_be_spare(0));
}

// The same for a node that lost our key before it accepted a ballot: other clients may have had the
// key since, and larger ballots.
BOOST_AUTO_TEST_CASE(a_key_that_was_lost_before_the_ballot_never_counts)
{
    claim c = fenced_claim_over(1);
    ask(c, 0, at(0ms));
    grant(c, 0, at(0ms));
    c.missing(0, at(350ms));
    BOOST_TEST(!c.round.has_key(0));
    BOOST_TEST((c.round.votes().of(0) == vote::refused));
    c.sent(0, at(400ms)); // a confirmation
    grant(c, 0, at(400ms));
    c.round.ballots().propose(200);
    c.round.ballots().send(0);
    accept(c, 0, 2);
    BOOST_TEST(c.keys.valid_until() == core::long_ago);
    BOOST_TEST((c.keys[0].state == key::repaired));
    BOOST_TEST(c.keys.may_hold(0));
}

// A node that was found not to count is `ours` no longer.
BOOST_AUTO_TEST_CASE(an_excluded_node)
{
    claim c = fenced_claim_over(1);
    ask(c, 0, at(0ms));
    grant(c, 0, at(0ms));
    accept(c, 0);
    c.round.ballots().exclude(0);
    c.weigh();
    BOOST_TEST((c.keys[0].state == key::asked));
    BOOST_TEST(c.keys.valid_until() == core::long_ago);
    BOOST_TEST(c.keys.may_hold(0));
}

BOOST_AUTO_TEST_SUITE_END()
