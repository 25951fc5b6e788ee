// How several locks are acquired together.
#include "recipes/joint_claim.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace holdfast::recipes;

namespace {

std::string in_words(const std::vector<joint_claim::order>& orders)
{
    std::string all;
    for (const auto& each : orders) {
        constexpr const char* words[] = {"attempt", "wait", "give back", "take all", "fail"};
        all += all.empty() ? "" : ", ";
        all += words[static_cast<std::size_t>(each.what)];
        if (each.what != joint_claim::step::take_all)
            all += " " + std::to_string(each.member);
    }
    return all;
}

std::string next(joint_claim& claim)
{
    return in_words(claim.next());
}

} // namespace

BOOST_AUTO_TEST_SUITE(recipes_joint_claim)

BOOST_AUTO_TEST_CASE(members_that_are_free_are_taken_at_once)
{
    joint_claim claim(3, false);
    BOOST_TEST(next(claim) == "attempt 0, attempt 1, attempt 2");
    for (const std::size_t i : {1u, 0u, 2u})
        claim.granted(i);
    BOOST_TEST(next(claim) == "take all");
}

BOOST_AUTO_TEST_CASE(what_comes_behind_the_first_missing_member_is_given_back_before_the_wait)
{
    joint_claim claim(4, false);
    next(claim);
    claim.granted(0);
    claim.granted(2);
    BOOST_TEST(next(claim) == "give back 2, wait 1");
    claim.granted(1);
    BOOST_TEST(next(claim) == "attempt 2, attempt 3");
    claim.granted(2);
    BOOST_TEST(next(claim) == "wait 3");
    claim.granted(3);
    BOOST_TEST(next(claim) == "take all");
}

BOOST_AUTO_TEST_CASE(a_refused_wait_is_the_end)
{
    joint_claim claim(3, false);
    next(claim);
    claim.granted(0);
    BOOST_TEST(next(claim) == "wait 1");
    BOOST_TEST(next(claim) == "give back 0, fail 1");
}

BOOST_AUTO_TEST_CASE(one_attempt_does_not_wait)
{
    joint_claim claim(3, true);
    next(claim);
    claim.granted(0);
    claim.granted(2);
    BOOST_TEST(next(claim) == "give back 0, give back 2, fail 1");
}

BOOST_AUTO_TEST_CASE(a_member_that_was_lost_is_taken_again)
{
    joint_claim claim(3, false);
    next(claim);
    claim.granted(0);
    claim.granted(1);
    BOOST_TEST(next(claim) == "wait 2");
    claim.lost(0);
    claim.granted(2);
    BOOST_TEST(next(claim) == "attempt 0");
    BOOST_TEST(next(claim) == "give back 1, give back 2, wait 0");
}

// Claims that want the same members in random moments: a wait is made only while no later member is
// held, and all claims end.
BOOST_AUTO_TEST_CASE(claims_do_not_wait_for_each_other_in_a_circle)
{
    constexpr std::size_t claims = 8, members = 5;
    std::minstd_rand random(11);
    std::vector<joint_claim> all(claims, joint_claim(members, false));
    std::vector<std::size_t> owner(members, claims); // `claims`: free
    std::vector<std::size_t> waits(claims, members); // for which member; `members`: for none
    std::vector<bool> done(claims, false);
    const auto go_on = [&](std::size_t c) {
        for (const auto& order : all[c].next()) {
            if (order.what == joint_claim::step::take_all) {
                BOOST_REQUIRE(std::count(owner.begin(), owner.end(), c) == members);
                std::replace(owner.begin(), owner.end(), c, claims);
                done[c] = true;
            } else if (order.what == joint_claim::step::give_back) {
                BOOST_REQUIRE(owner[order.member] == c);
                owner[order.member] = claims;
            } else if (order.what == joint_claim::step::wait) {
                for (std::size_t later = order.member; later < members; ++later)
                    BOOST_REQUIRE(owner[later] != c);
                waits[c] = order.member;
            } else if (owner[order.member] == claims && random() % 3 != 0) { // an attempt
                owner[order.member] = c;
                all[c].granted(order.member);
            }
        }
    };
    for (std::size_t steps = 0; std::count(done.begin(), done.end(), false) != 0; ++steps) {
        BOOST_REQUIRE(steps < 100'000u);
        const std::size_t c = random() % claims;
        if (done[c])
            continue;
        if (const std::size_t wanted = waits[c]; wanted != members) {
            if (owner[wanted] != claims)
                continue;
            owner[wanted] = c;
            all[c].granted(wanted);
            waits[c] = members;
        }
        go_on(c);
    }
}

BOOST_AUTO_TEST_SUITE_END()
