#include "redis/quorum/vote_round.hpp"

#include "support/printing.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <vector>

using namespace holdfast::redis;

namespace {

constexpr std::array all_votes{
    vote::pending, vote::granted, vote::refused, vote::failed, vote::unknown};

vote_round round_of(const std::vector<vote>& votes)
{
    vote_round r(votes.size());
    for (std::size_t i = 0; i < votes.size(); ++i) {
        if (votes[i] != vote::pending)
            r.record(i, votes[i]);
    }
    return r;
}

// Calls `visit` with every vector of votes of `nodes` nodes.
template <class Visit>
void for_all_votes(std::size_t nodes, const Visit& visit)
{
    std::vector<vote> votes(nodes, vote::pending);
    std::vector<std::size_t> digits(nodes, 0);
    for (;;) {
        visit(votes);
        std::size_t i = 0;
        while (i < nodes && ++digits[i] == all_votes.size()) {
            digits[i] = 0;
            votes[i++] = vote::pending;
        }
        if (i == nodes)
            return;
        votes[i] = all_votes[digits[i]];
    }
}

bool acquired(const vote_round& r)
{
    return r.judge() == verdict::acquired || r.judge_now() == verdict::acquired;
}

// The number of ways in which both of two clients acquire, over all answers of the nodes from
// `node` on to the two of them. No node grants to both.
std::size_t both_acquire(vote_round a, vote_round b, std::size_t node, std::size_t nodes)
{
    if (node == nodes)
        return acquired(a) && acquired(b) ? 1 : 0;
    std::size_t found = 0;
    for (const vote to_a : all_votes) {
        vote_round next_a = a;
        if (to_a != vote::pending)
            next_a.record(node, to_a);
        for (const vote to_b : all_votes) {
            if (to_a == vote::granted && to_b == vote::granted)
                continue;
            vote_round next_b = b;
            if (to_b != vote::pending)
                next_b.record(node, to_b);
            found += both_acquire(next_a, next_b, node + 1, nodes);
        }
    }
    return found;
}

struct outcomes {
    bool may_acquire = false, may_fail = false;
};

// The possible outcomes of a round, found by trying all answers of the silent nodes.
void complete(const vote_round& r, std::size_t node, std::size_t nodes, outcomes& found)
{
    while (node < nodes && r.of(node) != vote::pending)
        ++node;
    if (node == nodes) {
        const bool yes = r.count(vote::granted) >= nodes / 2 + 1;
        (yes ? found.may_acquire : found.may_fail) = true;
        return;
    }
    for (const vote v : {vote::granted, vote::refused, vote::failed, vote::unknown}) {
        vote_round next = r;
        next.record(node, v);
        complete(next, node + 1, nodes, found);
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(redlock_acquire_round)

// Two majorities have a node in common, and a blocking set leaves no majority, for every supported
// number of nodes.
BOOST_AUTO_TEST_CASE(two_majorities_meet)
{
    for (std::size_t n = 1; n <= max_nodes; ++n) {
        BOOST_TEST_CONTEXT(n << " nodes")
        {
            BOOST_TEST(2 * majority(n) > n);
            BOOST_TEST(2 * (majority(n) - 1) <= n); // no larger than necessary
            BOOST_TEST(n - blocking(n) < majority(n));
            BOOST_TEST(n - (blocking(n) - 1) >= majority(n));
        }
    }
}

// As long as no node grants to both, two clients never both acquire: tried for all answers of one
// to five nodes to two clients.
BOOST_AUTO_TEST_CASE(never_two_holders)
{
    for (std::size_t n = 1; n <= 5; ++n)
        BOOST_TEST(both_acquire(vote_round(n), vote_round(n), 0, n) == 0u, n << " nodes");
}

// A round is decided exactly when no outstanding answer can change whether it is won.
BOOST_AUTO_TEST_CASE(decides_exactly_when_the_remaining_answers_cannot_matter)
{
    for (std::size_t n = 1; n <= 5; ++n) {
        for_all_votes(n, [n](const std::vector<vote>& votes) {
            const vote_round r = round_of(votes);
            outcomes possible;
            complete(r, 0, n, possible);
            const verdict v = r.judge();
            const bool open = possible.may_acquire && possible.may_fail;
            BOOST_REQUIRE((v == verdict::undecided) == open);
            BOOST_REQUIRE((v == verdict::acquired) == !possible.may_fail);
        });
    }
}

// With all votes in, or with silence counted as an answer, there is no draw, not even for an even
// number of nodes.
BOOST_AUTO_TEST_CASE(a_full_round_is_never_undecided)
{
    for (std::size_t n = 1; n <= 6; ++n) {
        for_all_votes(n, [](const std::vector<vote>& votes) {
            const vote_round r = round_of(votes);
            BOOST_REQUIRE(r.judge_now() != verdict::undecided);
            if (r.count(vote::pending) == 0)
                BOOST_REQUIRE(r.judge() == r.judge_now());
        });
    }
}

// Half of an even number of nodes is a refusal as soon as the other half has granted to another
// client.
BOOST_AUTO_TEST_CASE(a_tie_is_contended)
{
    for (std::size_t n = 2; n <= 14; n += 2) {
        vote_round r(n);
        for (std::size_t i = 0; i < n / 2; ++i)
            r.record(i, vote::granted);
        for (std::size_t i = n / 2; i < n; ++i) {
            BOOST_TEST(r.judge() == verdict::undecided);
            r.record(i, vote::refused);
        }
        BOOST_TEST(r.judge() == verdict::contended);
    }
}

// Refusals are contention. A resource is unreachable only when the nodes that could not be asked,
// or did not answer, are enough to prevent a majority by themselves.
BOOST_AUTO_TEST_CASE(tells_contended_from_unreachable)
{
    using votes = std::vector<vote>;
    constexpr auto granted = vote::granted, refused = vote::refused, failed = vote::failed,
                   unknown = vote::unknown, pending = vote::pending;

    BOOST_TEST(round_of(votes{refused, refused, pending}).judge() == verdict::contended);
    BOOST_TEST(round_of(votes{refused, failed, pending}).judge() == verdict::contended);
    BOOST_TEST(round_of(votes{refused, unknown, granted}).judge() == verdict::contended);
    BOOST_TEST(round_of(votes{failed, unknown, refused}).judge() == verdict::unreachable);
    BOOST_TEST(round_of(votes{failed, failed, pending}).judge() == verdict::unreachable);
    BOOST_TEST(round_of(votes{unknown, unknown, granted}).judge() == verdict::unreachable);
    BOOST_TEST(round_of(votes{granted, granted, pending}).judge() == verdict::acquired);
    BOOST_TEST(round_of(votes{granted, refused, pending}).judge() == verdict::undecided);
    BOOST_TEST(round_of(votes{granted, refused, pending}).judge_now() == verdict::contended);
    BOOST_TEST(round_of(votes{refused, pending, pending}).judge_now() == verdict::unreachable);
    BOOST_TEST(round_of(votes{failed, failed, failed}).judge() == verdict::unreachable);
}

// The latest vote of a node counts, so a late grant is a grant, and the counts follow.
BOOST_AUTO_TEST_CASE(a_late_answer_replaces_unknown)
{
    vote_round r(3);
    r.record(0, vote::granted);
    r.record(1, vote::unknown);
    r.record(2, vote::unknown);
    BOOST_TEST(r.judge() == verdict::unreachable);
    r.record(2, vote::granted);
    BOOST_TEST(r.judge() == verdict::acquired);
    BOOST_TEST(r.count(vote::granted) == 2u);
    BOOST_TEST(r.count(vote::unknown) == 1u);
    BOOST_TEST(r.of(2) == vote::granted);
}

// Its earlier vote is no longer enough: the round is open again.
BOOST_AUTO_TEST_CASE(a_node_that_is_asked_for_more_is_pending_again)
{
    vote_round r(3);
    r.record(0, vote::granted);
    r.record(1, vote::granted);
    BOOST_TEST(r.judge() == verdict::acquired);
    r.record(1, vote::pending);
    BOOST_TEST(r.judge() == verdict::undecided);
    BOOST_TEST(r.count(vote::pending) == 2u);
    BOOST_TEST(r.count(vote::granted) == 1u);
    r.record(1, vote::granted);
    BOOST_TEST(r.judge() == verdict::acquired);
}

BOOST_AUTO_TEST_SUITE_END()
