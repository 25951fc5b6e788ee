#include "redis/claim/node_keys.hpp"

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

constexpr core::duration ttl = 1000ms;

node_keys keys_on(std::size_t nodes)
{
    node_keys keys;
    keys.begin(nodes);
    return keys;
}

node_keys ours_on(std::size_t nodes)
{
    node_keys keys = keys_on(nodes);
    for (std::size_t i = 0; i < nodes; ++i) {
        keys.sent(i, at(ttl));
        keys.answered(i);
        keys.granted(i, at(ttl));
    }
    return keys;
}

} // namespace

BOOST_AUTO_TEST_SUITE(redlock_node_keys)

BOOST_AUTO_TEST_CASE(begins_with_nothing)
{
    node_keys keys = ours_on(5);
    keys.deleted(0, true);
    keys.begin(5);
    BOOST_TEST(!keys.may_hold_any());
    BOOST_TEST(keys.valid_until() == core::long_ago);
    BOOST_TEST(keys.gone_at() == core::long_ago);
    BOOST_TEST(keys.judge_release().decided);
    BOOST_TEST((keys.judge_release().outcome == release_outcome::expired));
    keys.begin(3);
    BOOST_TEST(keys.size() == 3u);
}

// The lease ends at the majority-th largest end of the nodes. Compared with sorting, for every
// number of nodes and many orders of sending.
BOOST_AUTO_TEST_CASE(valid_until_is_the_majority_th_largest)
{
    std::mt19937 random(20);
    for (std::size_t n = 1; n <= max_nodes; ++n) {
        for (int repetition = 0; repetition < 200; ++repetition) {
            node_keys keys = keys_on(n);
            std::vector<core::time_point> until;
            for (std::size_t i = 0; i < n; ++i) {
                const core::time_point ends = at(ttl + std::chrono::milliseconds(random() % 500));
                keys.sent(i, ends);
                if (random() % 4 != 0) {
                    keys.granted(i, ends);
                    until.push_back(ends);
                }
            }
            std::sort(until.rbegin(), until.rend()); // not the library's own computation
            const core::time_point expected =
                until.size() < n / 2 + 1 ? core::long_ago : until[n / 2];
            BOOST_REQUIRE(keys.valid_until() == expected);
        }
    }
}

// An older renewal that is answered late shortens nothing.
BOOST_AUTO_TEST_CASE(renewals_only_lengthen)
{
    node_keys keys = ours_on(1);
    keys.renewed(0, at(1600ms), true);
    BOOST_TEST(keys.valid_until() == at(1600ms));
    keys.renewed(0, at(1300ms), true);
    BOOST_TEST(keys.valid_until() == at(1600ms));
}

// A renewal may prove a SET without an answer, unless the node has lost the key since.
BOOST_AUTO_TEST_CASE(only_some_renewals_prove_a_grant)
{
    node_keys keys = keys_on(1);
    keys.sent(0, at(ttl));
    keys.renewed(0, at(1300ms), false);
    BOOST_TEST((keys[0].state == key::asked));
    keys.renewed(0, at(1300ms), true);
    BOOST_TEST((keys[0].state == key::ours));
    keys.missing(0, at(100ms));
    keys.sent(0, at(1400ms));
    keys.renewed(0, at(1400ms), true);
    BOOST_TEST((keys[0].state == key::asked));
    keys.granted(0, at(1400ms));
    BOOST_TEST((keys[0].state == key::repaired));
    BOOST_TEST(keys.valid_until() == core::long_ago);
}

// A place in a queue, and a repair under way, are to be given back too.
BOOST_AUTO_TEST_CASE(what_is_to_be_deleted)
{
    node_keys keys = keys_on(3);
    keys[0].queued = true;
    keys[1].repairing = true;
    keys[2].state = key::unsent;
    BOOST_TEST(keys.may_hold(0));
    BOOST_TEST(keys.may_hold(1));
    BOOST_TEST(!keys.may_hold(2));
    BOOST_TEST(keys.unsent() == 1u);
    keys.stays(at(500ms));
    keys.stays(at(300ms));
    BOOST_TEST(keys.gone_at() == at(500ms));
}

// A renewal that found nothing proves nothing about a request that was sent after it.
BOOST_AUTO_TEST_CASE(a_key_missing_before_its_node_was_asked_again)
{
    node_keys keys = ours_on(3);
    keys.sent(2, at(ttl + 10ms));
    keys.missing(2, at(100ms));
    BOOST_TEST(keys.may_hold(2));
    keys.answered(2);
    keys.missing(2, at(100ms));
    BOOST_TEST(!keys.may_hold(2));
}

// The outcome of a release, for all answers of one to five nodes: released with a majority of
// deletions, expired once a majority is impossible, and undecided in between.
BOOST_AUTO_TEST_CASE(judge_release_for_all_answers_of_nodes)
{
    enum answer { absent, open, deleted, not_ours, answers };
    for (std::size_t n = 1; n <= 5; ++n) {
        std::vector<int> said(n, absent);
        for (bool more = true; more;) {
            node_keys keys = keys_on(n);
            std::size_t gone = 0, waiting = 0;
            for (std::size_t i = 0; i < n; ++i) {
                if (said[i] == absent)
                    continue;
                keys.sent(i, at(ttl));
                keys.granted(i, at(ttl));
                if (said[i] == open)
                    ++waiting;
                else
                    keys.deleted(i, said[i] == deleted);
                gone += said[i] == deleted ? 1u : 0u;
            }
            const auto v = keys.judge_release();
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
