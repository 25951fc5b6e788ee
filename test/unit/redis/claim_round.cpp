#include "redis/claim/claim_round.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>

using namespace holdfast::redis;
using grant = claim_round::grant;

BOOST_AUTO_TEST_SUITE(redlock_claim_round)

BOOST_AUTO_TEST_CASE(plain_votes)
{
    claim_round r;
    r.begin(3);
    BOOST_TEST(!r.is_fenced());
    BOOST_TEST((r.record_grant(0, 0) == grant::counts));
    r.record(1, vote::refused);
    BOOST_TEST((r.votes().judge() == verdict::undecided));
    BOOST_TEST((r.record_grant(2, 0) == grant::counts));
    BOOST_TEST((r.votes().judge() == verdict::acquired));
    BOOST_TEST(!r.gives_no_token_for_now(0));
    BOOST_TEST(r.can_transfer());
    BOOST_TEST(!r.transfer().has_value());
    r.begin(3);
    BOOST_TEST(r.votes().count(vote::pending) == 3u);
}

// Only the first grant of a node counts, and what it says later does not take it back.
BOOST_AUTO_TEST_CASE(the_first_grant_stands)
{
    claim_round r;
    r.begin_fence(1, 16);
    BOOST_TEST((r.record_grant(0, 100) == grant::counts));
    BOOST_TEST((r.record_grant(0, 200) == grant::repeated));
    r.record(0, vote::refused);
    BOOST_TEST((r.votes().judge() == verdict::acquired));
    BOOST_TEST(r.tokens().token() == 100u);
}

// A node in trouble gives no token that counts. Some troubles are soon over.
BOOST_AUTO_TEST_CASE(a_node_in_trouble)
{
    claim_round r;
    r.begin_fence(3, 16);
    r.note_trouble(0, fence_trouble::fast_clock);
    r.note_trouble(1, fence_trouble::settings);
    BOOST_TEST((r.record_grant(0, 100) == grant::void_));
    BOOST_TEST((r.votes().of(0) == vote::failed));
    BOOST_TEST(r.gives_no_token_for_now(0));
    BOOST_TEST(!r.gives_no_token_for_now(1));
    r.begin_fence(3, 16);
    BOOST_TEST(!r.gives_no_token_for_now(0));
}

// A node that is silent when its write-back is due has no vote.
BOOST_AUTO_TEST_CASE(a_silent_node_and_its_write_back)
{
    claim_round r;
    r.begin_fence(2, 16);
    r.record_grant(0, 100);
    r.record_grant(1, 200);
    BOOST_TEST((r.votes().of(0) == vote::pending));
    BOOST_REQUIRE(r.tokens().next_write_back().has_value());
    r.record(0, vote::unknown);
    BOOST_TEST((r.votes().of(0) == vote::unknown));
}

// Each holder has its own token, as long as there are any in the block.
BOOST_AUTO_TEST_CASE(each_holder_has_a_token_of_the_block)
{
    claim_round r;
    r.begin_fence(1, 3);
    r.record_grant(0, 100);
    BOOST_TEST(r.last_token() == 102u);
    BOOST_TEST(r.transfer().value() == 101u);
    BOOST_TEST(r.can_transfer());
    BOOST_TEST(r.transfer().value() == 102u);
    BOOST_TEST(!r.can_transfer());
}

BOOST_AUTO_TEST_SUITE_END()
