// How the members of a joint lock are acquired, answer by answer.
#include "recipes/joint_entry.hpp"

#include "unit/recipes/steps.hpp"

#include <boost/test/unit_test.hpp>

#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace holdfast::recipes;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;

namespace {

// All leases are held, except some.
struct leases_but final : lease_view {
    explicit leases_but(std::set<std::size_t> ended) : over(std::move(ended)) {}
    bool held(std::size_t lock) const override { return over.count(lock) == 0; }
    std::set<std::size_t> over;
};

struct entering {
    entering(std::size_t members, patience limit) : entry(members, limit) {}

    std::string begin()
    {
        return said([this](steps& out) { entry.begin(at(0s), out); });
    }
    std::string granted(std::size_t lock, const lease_view& leases = good_leases)
    {
        return said([&](steps& out) { entry.granted(lock, at(1s), leases, out); });
    }
    std::string refused(std::size_t lock, holdfast::error_code why = {})
    {
        return said([&](steps& out) { entry.refused(lock, why, at(1s), out); });
    }

    joint_entry entry;
};

} // namespace

BOOST_AUTO_TEST_SUITE(joint_entry_)

BOOST_AUTO_TEST_CASE(members_that_are_free_are_taken_at_once)
{
    entering e(3, {.until = at(10s)});
    BOOST_TEST(e.begin() == "try 0, try 1, try 2");
    BOOST_TEST(e.granted(2) == "");
    BOOST_TEST(e.granted(0) == "");
    BOOST_TEST(e.granted(1) == "succeed with all");
}

BOOST_AUTO_TEST_CASE(nothing_is_decided_before_all_have_answered)
{
    entering e(3, {.until = at(10s)});
    e.begin();
    BOOST_TEST(e.refused(1) == "");
    BOOST_TEST(e.granted(0) == "");
    BOOST_TEST(e.granted(2) == "drop 2, wait 1");
    BOOST_TEST(e.granted(1) == "try 2");
    BOOST_TEST(e.granted(2) == "succeed with all");
}

BOOST_AUTO_TEST_CASE(all_waits_have_one_deadline)
{
    joint_entry entry(2, {.until = at(10s)});
    steps out;
    entry.begin(at(0s), out);
    entry.refused(0, {}, at(3s), out);
    entry.refused(1, {}, at(3s), out);
    entry.granted(0, at(6s), good_leases, out);
    entry.refused(1, {}, at(6s), out);
    std::size_t waits = 0;
    for (const step& each : out) {
        if (each.what != step::kind::wait_lock)
            continue;
        ++waits;
        BOOST_TEST((each.until == at(10s)));
    }
    BOOST_TEST(waits == 2u);
}

BOOST_AUTO_TEST_CASE(the_error_is_that_of_the_member_that_was_waited_for)
{
    entering e(3, {.until = at(10s)});
    e.begin();
    e.granted(0);
    e.refused(2, make_error_code(errc::unreachable));
    BOOST_TEST(e.refused(1) == "wait 1");
    BOOST_TEST(e.refused(1, make_error_code(errc::contended)) == "drop 0, give up: contended");
}

BOOST_AUTO_TEST_CASE(one_attempt_tells_the_first_that_was_not_granted)
{
    entering taken(2, {.once = true});
    BOOST_TEST(taken.begin() == "try 0, try 1");
    taken.refused(0);
    BOOST_TEST(taken.granted(1) == "drop 1, give up");
    entering unreachable(2, {.once = true});
    unreachable.begin();
    unreachable.granted(0);
    BOOST_TEST(unreachable.refused(1, make_error_code(errc::unreachable)) ==
               "drop 0, give up: unreachable");
}

BOOST_AUTO_TEST_CASE(a_member_that_was_lost_meanwhile_is_taken_again)
{
    entering e(3, {.until = at(10s)});
    e.begin();
    e.granted(0);
    e.granted(1);
    BOOST_TEST(e.refused(2) == "wait 2");
    BOOST_TEST(e.granted(2, leases_but({0, 1})) == "drop 0, drop 1, try 0, try 1");
    e.refused(0);
    BOOST_TEST(e.granted(1) == "drop 1, drop 2, wait 0");
}

BOOST_AUTO_TEST_CASE(a_grant_that_has_ended_already_is_too_late)
{
    entering e(1, {.until = at(10s)});
    e.begin();
    BOOST_TEST(e.refused(0) == "wait 0");
    BOOST_TEST(e.granted(0, no_leases) == "drop 0, give up: too late");
}

BOOST_AUTO_TEST_CASE(leases_that_are_held_together_end_with_the_first)
{
    const auto itself = [](holdfast::core::time_point end) {
        return end;
    };
    const std::vector<holdfast::core::time_point> ends{at(3s), at(2s), at(5s)}, none;
    BOOST_TEST((joint_end(ends, itself) == at(2s)));
    BOOST_TEST((joint_end(none, itself) == holdfast::core::time_point::min()));
}

BOOST_AUTO_TEST_SUITE_END()
