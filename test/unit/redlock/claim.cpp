#include "redlock/claim.hpp"

#include "support/printing.hpp"
#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>
#include <vector>

using namespace holdfast::redis;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::release_outcome;
namespace core = holdfast::core;
using key = claim_node::key;

namespace {

constexpr core::claim_terms terms{.ttl = 1000ms, .drift = 10ms, .useful = 50ms};

// When a node's word that was asked for at `asked` ends.
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

// As above, and all nodes have granted, each asked a millisecond after the one before.
claim granted_by_all(std::size_t nodes)
{
    claim c = claim_over(nodes);
    for (std::size_t i = 0; i < nodes; ++i) {
        c.sent(i, at(std::chrono::milliseconds(i)));
        c.answered(i);
        c.record(i, vote::granted);
    }
    return c;
}

} // namespace

BOOST_AUTO_TEST_SUITE(redlock_claim)

// A new claim is nobody's: nothing is held, nothing is worth waiting for.
BOOST_AUTO_TEST_CASE(begins_with_nothing)
{
    claim c = granted_by_all(5);
    c.deleted(0, true);
    c.begin(8, "another", {}, terms, 3);
    BOOST_TEST(c.nodes() == 3u);
    BOOST_TEST(c.tag == 8u);
    BOOST_TEST(c.valid_until() == core::long_ago);
    BOOST_TEST(!c.may_hold_any());
    BOOST_TEST(c.unsent() == 0u);
    BOOST_TEST(c.last_sent == core::long_ago);
    BOOST_TEST(c.judge_release().outcome == release_outcome::expired);
}

// The lease ends at the majority-th largest of the nodes' ends, counted from before each request
// was queued: compared with sorting, for every number of nodes and many orders of sending.
BOOST_AUTO_TEST_CASE(valid_until_is_the_majority_th_largest)
{
    std::mt19937 random(20);
    for (std::size_t n = 1; n <= max_nodes; ++n) {
        for (int repetition = 0; repetition < 200; ++repetition) {
            claim c = claim_over(n);
            std::vector<core::time_point> until;
            for (std::size_t i = 0; i < n; ++i) {
                const std::chrono::milliseconds sent(random() % 500);
                c.sent(i, at(sent));
                if (random() % 4 == 0) {
                    c.record(i, random() % 2 == 0 ? vote::refused : vote::unknown);
                } else {
                    c.record(i, vote::granted);
                    until.push_back(ends(sent));
                }
            }
            std::sort(until.rbegin(), until.rend());
            const core::time_point expected =
                until.size() < n / 2 + 1 ? core::long_ago : until[n / 2];
            BOOST_REQUIRE(c.valid_until() == expected);
        }
    }
}

// What was asked and not answered is worth nothing, but may have to be deleted; a refusal and a
// failure prove that there is nothing to delete.
BOOST_AUTO_TEST_CASE(only_grants_count_and_only_proofs_excuse_a_deletion)
{
    claim c = claim_over(5);
    for (std::size_t i = 0; i < 5; ++i)
        c.sent(i, at(0ms));
    c.record(0, vote::granted);
    c.record(1, vote::refused);
    c.record(2, vote::failed);
    c.record(3, vote::unknown);
    BOOST_TEST(c.valid_until() == core::long_ago);
    BOOST_TEST(c.may_hold(0));
    BOOST_TEST(!c.may_hold(1));
    BOOST_TEST(!c.may_hold(2));
    BOOST_TEST(c.may_hold(3));
    BOOST_TEST(c.may_hold(4));
}

// A node that waits for its connection has nothing of ours.
BOOST_AUTO_TEST_CASE(unsent_holds_nothing)
{
    claim c = claim_over(1);
    c.at[0].state = key::unsent;
    BOOST_TEST(c.unsent() == 1u);
    BOOST_TEST(!c.may_hold_any());
    c.sent(0, at(3ms));
    BOOST_TEST(c.unsent() == 0u);
    BOOST_TEST(c.may_hold_any());
    BOOST_TEST(c.last_sent == at(3ms));
}

// A grant that comes after the round was decided joins the lease, with its own time of sending.
BOOST_AUTO_TEST_CASE(a_late_grant_joins)
{
    claim c = claim_over(3);
    c.sent(0, at(0ms));
    c.sent(1, at(10ms));
    c.sent(2, at(20ms));
    c.record(0, vote::granted);
    c.record(1, vote::granted);
    c.record(2, vote::unknown);
    BOOST_TEST(c.valid_until() == ends(0ms));
    c.record(2, vote::granted);
    BOOST_TEST(c.valid_until() == ends(10ms));
}

// A confirmed renewal proves a grant whose own answer was lost.
BOOST_AUTO_TEST_CASE(a_renewal_proves_a_grant)
{
    claim c = claim_over(1);
    c.sent(0, at(0ms));
    c.record(0, vote::unknown);
    c.renewed(0, at(300ms));
    BOOST_TEST(c.valid_until() == ends(300ms));
}

// A renewal counts from when it was asked, and an older one that is answered late takes nothing
// back.
BOOST_AUTO_TEST_CASE(renewals_only_lengthen)
{
    claim c = granted_by_all(1);
    c.renewed(0, at(600ms));
    BOOST_TEST(c.valid_until() == ends(600ms));
    c.renewed(0, at(300ms));
    BOOST_TEST(c.valid_until() == ends(600ms));
}

// A node without our key counts no more, at once; below a majority nothing is left.
BOOST_AUTO_TEST_CASE(missing_drops)
{
    claim c = granted_by_all(3);
    c.missing(2);
    BOOST_TEST(c.valid_until() == ends(0ms));
    BOOST_TEST(c.has_majority(at(500ms)));
    c.missing(0);
    BOOST_TEST(c.valid_until() == core::long_ago);
    BOOST_TEST(!c.has_majority(at(0ms)));
    BOOST_TEST(!c.may_hold(0));
    BOOST_TEST(c.may_hold(1));
}

// A renewal that found nothing says nothing of a request that was sent after it.
BOOST_AUTO_TEST_CASE(missing_before_it_was_asked_again)
{
    claim c = granted_by_all(3);
    c.sent(2, at(10ms));
    c.missing(2);
    BOOST_TEST(c.may_hold(2));
    c.answered(2);
    c.missing(2);
    BOOST_TEST(!c.may_hold(2));
}

// A node that forgot our key and was given it again proves nothing about the time between: however
// often it is renewed, it never counts, and it can never stand in for a member of the majority.
BOOST_AUTO_TEST_CASE(healed_nodes_never_count)
{
    claim c = granted_by_all(3);
    c.missing(0);
    c.at[0].healing = true;
    BOOST_TEST(c.may_hold(0)); // to be deleted in any case
    c.at[0].healing = false;
    c.healed(0);
    BOOST_TEST(c.may_hold(0));
    c.renewed(0, at(400ms));
    c.renewed(1, at(400ms));
    BOOST_TEST(c.valid_until() == ends(2ms)); // of nodes 1 and 2, the lesser
    c.renewed(0, at(800ms));
    c.missing(2);
    BOOST_TEST(c.valid_until() == core::long_ago);
}

// The outcome of a release, for everything that one to five nodes can have said: released with a
// majority of deletions, expired once there cannot be one any more, and undecided in between.
BOOST_AUTO_TEST_CASE(judge_release_for_everything_nodes_can_say)
{
    enum answer { absent, open, deleted, not_ours, answers };
    for (std::size_t n = 1; n <= 5; ++n) {
        std::vector<int> said(n, absent);
        for (bool more = true; more;) {
            claim c = claim_over(n);
            std::size_t gone = 0, waiting = 0;
            for (std::size_t i = 0; i < n; ++i) {
                if (said[i] == absent)
                    continue;
                c.sent(i, at(0ms));
                c.record(i, vote::granted);
                if (said[i] == open)
                    ++waiting;
                else
                    c.deleted(i, said[i] == deleted);
                gone += said[i] == deleted ? 1u : 0u;
            }
            const auto v = c.judge_release();
            const std::size_t needed = n / 2 + 1;
            BOOST_REQUIRE(v.decided == (gone >= needed || gone + waiting < needed));
            const auto expected = gone >= needed            ? release_outcome::released
                                  : gone + waiting < needed ? release_outcome::expired
                                                            : release_outcome::unconfirmed;
            BOOST_REQUIRE(v.outcome == expected);

            std::size_t i = 0;
            while (i < n && ++said[i] == answers)
                said[i++] = absent;
            more = i < n;
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
