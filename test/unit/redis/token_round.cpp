#include "redis/quorum/token_round.hpp"

#include "support/printing.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace holdfast::redis;

namespace {

constexpr std::uint64_t block = 10;

// All write-backs that are due.
std::vector<token_round::write_back> all_write_backs(token_round& r)
{
    std::vector<token_round::write_back> found;
    while (const auto one = r.next_write_back())
        found.push_back(*one);
    return found;
}

// Calls `visit` with every vector of `digits` numbers below `base`.
template <class Visit>
void for_all_numbers(std::size_t digits, unsigned base, const Visit& visit)
{
    std::vector<unsigned> numbers(digits, 0);
    for (;;) {
        visit(numbers);
        std::size_t i = 0;
        while (i < digits && ++numbers[i] == base)
            numbers[i++] = 0;
        if (i == digits)
            return;
    }
}

// The expected result by the rules, node by node; `order`: the order of the grants.
struct expectation {
    std::uint64_t token = 0;
    std::size_t counting = 0, waiting = 0;
};

enum class said : unsigned { nothing, ok, lost };

expectation expect(const std::vector<std::size_t>& order, const std::vector<unsigned>& starts,
    const std::vector<unsigned>& answers)
{
    expectation e;
    for (std::size_t i = 0; i < order.size() / 2 + 1; ++i)
        e.token = std::max<std::uint64_t>(e.token, starts[order[i]]);
    for (std::size_t i = 0; i < order.size(); ++i) {
        const said answer{answers[i]};
        if (starts[i] == e.token || (starts[i] < e.token && answer == said::ok))
            ++e.counting;
        else if (starts[i] < e.token && answer == said::nothing)
            ++e.waiting;
    }
    return e;
}

void answer(token_round& r, std::size_t node, said what)
{
    if (what == said::ok)
        r.record_write_back(node, write_back_answer::ok);
    else if (what == said::lost)
        r.record_write_back(node, write_back_answer::lost);
}

} // namespace

BOOST_AUTO_TEST_SUITE(redlock_fence_round)

// The common case: all nodes were given the same floor, and one round trip is enough.
BOOST_AUTO_TEST_CASE(equal_grants_need_no_write_back)
{
    token_round r(5, block);
    r.record_grant(0, 100);
    r.record_grant(3, 100);
    BOOST_TEST(r.token() == 0u);
    BOOST_TEST(!r.counts(3));
    BOOST_TEST(r.judge() == verdict::undecided);
    r.record_grant(4, 100);
    BOOST_TEST(r.judge() == verdict::acquired);
    BOOST_TEST(r.token() == 100u);
    BOOST_TEST(all_write_backs(r).empty());
    BOOST_TEST(r.counts(3));
    BOOST_TEST(!r.counts(1));
}

// Two grants are a majority of three, and without tokens they would be a lease; there is no token
// yet.
BOOST_AUTO_TEST_CASE(a_smaller_grant_does_not_count_until_its_write_back)
{
    token_round r(3, block);
    r.record_grant(0, 100);
    r.record_grant(2, 60);
    BOOST_TEST(r.token() == 100u);
    BOOST_TEST(r.judge() == verdict::undecided);
    BOOST_TEST(!r.counts(2));

    const auto write_backs = all_write_backs(r);
    BOOST_REQUIRE(write_backs.size() == 1u);
    BOOST_TEST(write_backs[0].node == 2u);
    BOOST_TEST(write_backs[0].from == 69u); // the counter after the grant
    BOOST_TEST(write_backs[0].to == 109u);  // the end of the block of the token
    BOOST_TEST(all_write_backs(r).empty()); // each node once

    r.record_write_back(2, write_back_answer::ok);
    BOOST_TEST(r.judge() == verdict::acquired);
    BOOST_TEST(r.counts(2));
    BOOST_TEST(r.token() == 100u);
}

// Its counter is behind the last tokens of our block: another client would be given them again.
BOOST_AUTO_TEST_CASE(a_block_that_merely_reaches_the_token_does_not_count)
{
    token_round r(3, block);
    r.record_grant(0, 100);
    r.record_grant(1, 95);
    BOOST_TEST(r.judge() == verdict::undecided);
    BOOST_TEST(!r.counts(1));
    const auto write_backs = all_write_backs(r);
    BOOST_REQUIRE(write_backs.size() == 1u);
    BOOST_TEST(write_backs[0].from == 104u);
    BOOST_TEST(write_backs[0].to == 109u);
}

BOOST_AUTO_TEST_CASE(a_block_of_one_is_a_counter)
{
    token_round r(3, 1);
    r.record_grant(0, 7);
    r.record_grant(1, 6);
    const auto write_backs = all_write_backs(r);
    BOOST_REQUIRE(write_backs.size() == 1u);
    BOOST_TEST(write_backs[0].from == 6u);
    BOOST_TEST(write_backs[0].to == 7u);
}

BOOST_AUTO_TEST_CASE(one_node_is_a_majority_of_one)
{
    token_round r(1, block);
    r.record_grant(0, 5);
    BOOST_TEST(r.judge() == verdict::acquired);
    BOOST_TEST(r.token() == 5u);
}

// If a node granted more than the token, another attempt may have published our token before.
BOOST_AUTO_TEST_CASE(a_late_larger_grant_neither_counts_nor_changes_the_token)
{
    token_round r(3, block);
    r.record_grant(0, 100);
    r.record_grant(1, 60);
    r.record_grant(2, 200);
    BOOST_TEST(r.token() == 100u);
    BOOST_TEST(!r.counts(2));
    BOOST_TEST(r.start(2) == 200u); // but it holds our key
    BOOST_TEST(r.judge() == verdict::undecided);
    const auto write_backs = all_write_backs(r);
    BOOST_REQUIRE(write_backs.size() == 1u);
    BOOST_TEST(write_backs[0].node == 1u);
    r.record_write_back(1, write_back_answer::lost);
    BOOST_TEST(r.judge() == verdict::contended);
}

BOOST_AUTO_TEST_CASE(a_late_equal_grant_counts_at_once)
{
    token_round r(3, block);
    r.record_grant(0, 100);
    r.record_grant(1, 60);
    r.record_grant(2, 100);
    BOOST_TEST(r.judge() == verdict::acquired);
    BOOST_TEST(r.counts(2));
    BOOST_TEST(all_write_backs(r).size() == 1u); // the other one still joins
}

// After the verdict it gives the lease a spare node.
BOOST_AUTO_TEST_CASE(a_late_smaller_grant_gets_a_write_back)
{
    token_round r(3, block);
    r.record_grant(0, 100);
    r.record_grant(1, 100);
    BOOST_TEST(all_write_backs(r).empty());
    r.record_grant(2, 40);
    BOOST_TEST(r.judge() == verdict::acquired);
    BOOST_TEST(!r.counts(2));
    const auto write_backs = all_write_backs(r);
    BOOST_REQUIRE(write_backs.size() == 1u);
    BOOST_TEST(write_backs[0].to == 109u);
    r.record_write_back(2, write_back_answer::ok);
    BOOST_TEST(r.counts(2));
    BOOST_TEST(r.token() == 100u);
}

// A node that no longer holds the key counts as a refusal. A silent one is unreachable, and counts
// when its answer comes late.
BOOST_AUTO_TEST_CASE(a_write_back_that_finds_no_key_or_is_not_answered)
{
    token_round lost(3, block);
    lost.record(1, vote::refused);
    lost.record_grant(0, 100);
    lost.record_grant(2, 60);
    BOOST_TEST(all_write_backs(lost).size() == 1u);
    lost.record_write_back(2, write_back_answer::lost);
    BOOST_TEST(lost.judge() == verdict::contended);

    token_round silent(3, block);
    silent.record(1, vote::failed);
    silent.record_grant(0, 100);
    silent.record_grant(2, 60);
    BOOST_TEST(all_write_backs(silent).size() == 1u);
    BOOST_TEST(silent.judge() == verdict::undecided);
    BOOST_TEST(silent.judge_now() == verdict::unreachable);
    silent.record_write_back(2, write_back_answer::unknown);
    BOOST_TEST(silent.judge() == verdict::unreachable);
    silent.record_write_back(2, write_back_answer::ok);
    BOOST_TEST(silent.judge() == verdict::acquired);
}

// A node whose vote was unknown may still answer: then its write-back is due like any other.
BOOST_AUTO_TEST_CASE(a_smaller_grant_after_unknown_is_open_until_its_write_back)
{
    token_round r(3, block);
    r.record(1, vote::unknown);
    r.record_grant(0, 100);
    r.record_grant(1, 60);
    r.record(2, vote::refused);
    BOOST_TEST(r.judge() == verdict::undecided);
    BOOST_TEST(all_write_backs(r).size() == 1u);
    r.record_write_back(1, write_back_answer::ok);
    BOOST_TEST(r.judge() == verdict::acquired);
}

// Three of four nodes make a majority, and the largest of the three grants is the token.
BOOST_AUTO_TEST_CASE(an_even_number_of_nodes)
{
    token_round r(4, block);
    r.record_grant(0, 10);
    r.record_grant(1, 30);
    BOOST_TEST(r.token() == 0u);
    r.record_grant(2, 20);
    BOOST_TEST(r.token() == 30u);
    BOOST_TEST(all_write_backs(r).size() == 2u);
    r.record_write_back(0, write_back_answer::ok);
    BOOST_TEST(r.judge() == verdict::undecided);
    r.record_write_back(2, write_back_answer::ok);
    BOOST_TEST(r.judge() == verdict::acquired);
}

BOOST_AUTO_TEST_CASE(fifteen_nodes)
{
    token_round r(max_nodes, block);
    for (std::size_t i = 0; i < max_nodes; ++i)
        r.record_grant(i, 100 + i);
    BOOST_TEST(r.token() == 107u); // of the first eight
    const auto write_backs = all_write_backs(r);
    BOOST_REQUIRE(write_backs.size() == 7u);
    for (const auto& each : write_backs)
        r.record_write_back(each.node, write_back_answer::ok);
    BOOST_TEST(r.judge() == verdict::acquired);
    BOOST_TEST(!r.counts(8));
}

// As long as all grants are equal, it is a vote_round: for all answers of up to four nodes.
BOOST_AUTO_TEST_CASE(votes_are_judged_as_in_a_round_without_tokens)
{
    for (std::size_t n = 1; n <= 4; ++n) {
        for_all_numbers(n, 5, [n](const std::vector<unsigned>& votes) {
            vote_round plain(n);
            token_round fenced(n, block);
            for (std::size_t i = 0; i < n; ++i) {
                const vote v{static_cast<std::uint8_t>(votes[i])};
                if (v == vote::pending)
                    continue;
                plain.record(i, v);
                if (v == vote::granted)
                    fenced.record_grant(i, 100);
                else
                    fenced.record(i, v);
            }
            BOOST_REQUIRE(fenced.judge() == plain.judge());
            BOOST_REQUIRE(fenced.judge_now() == plain.judge_now());
            BOOST_REQUIRE((fenced.token() != 0) == (plain.judge() == verdict::acquired));
        });
    }
}

// Every order of the grants of three and four nodes, three overlapping blocks, and all answers to
// write-backs: a node counts only if it has stored the end of the token's block.
BOOST_AUTO_TEST_CASE(counts_exactly_those_that_store_the_token)
{
    for (std::size_t n = 3; n <= 4; ++n) {
        std::vector<std::size_t> order(n);
        for (std::size_t i = 0; i < n; ++i)
            order[i] = i;
        do {
            for_all_numbers(n, 3, [&](const std::vector<unsigned>& places) {
                std::vector<unsigned> starts;
                for (const unsigned place : places)
                    starts.push_back(20 + 5 * place);
                for_all_numbers(n, 3, [&](const std::vector<unsigned>& answers) {
                    token_round r(n, block);
                    for (const std::size_t i : order)
                        r.record_grant(i, starts[i]);
                    for (const auto& each : all_write_backs(r))
                        answer(r, each.node, said{answers[each.node]});
                    const expectation e = expect(order, starts, answers);
                    std::size_t counting = 0;
                    for (std::size_t i = 0; i < n; ++i)
                        counting += r.counts(i) ? 1u : 0u;
                    const bool acquired = e.counting >= majority(n);
                    const bool open = e.counting + e.waiting >= majority(n);
                    BOOST_REQUIRE(r.token() == e.token);
                    BOOST_REQUIRE(counting == e.counting);
                    BOOST_REQUIRE((r.judge() == verdict::acquired) == acquired);
                    BOOST_REQUIRE((r.judge() == verdict::undecided) == (open && !acquired));
                });
            });
        } while (std::next_permutation(order.begin(), order.end()));
    }
}

BOOST_AUTO_TEST_SUITE_END()
