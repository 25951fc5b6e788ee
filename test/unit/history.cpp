// The history checker. It judges the locks, so it must find every overlap, and nothing else.
#include "support/history.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace holdfast::test {
namespace {

using std::chrono::nanoseconds;

BOOST_AUTO_TEST_SUITE(history)

holding hold(std::uint64_t holder, int from, int until, const std::string& resource = "a")
{
    return {resource, holder, nanoseconds(from), nanoseconds(until)};
}

// "2 in 1": holder 2 began before holder 1 ended.
std::vector<std::string> found(const std::vector<holding>& all)
{
    std::vector<std::string> names;
    for (const auto& each : overlaps(all))
        names.push_back(
            std::to_string(each.second.holder) + " in " + std::to_string(each.first.holder));
    return names;
}

using names = std::vector<std::string>;

BOOST_AUTO_TEST_CASE(an_empty_history_or_a_single_hold_has_no_overlap)
{
    BOOST_TEST(found({}) == names{});
    BOOST_TEST(found({hold(1, 0, 10)}) == names{});
}

BOOST_AUTO_TEST_CASE(consecutive_holds_do_not_overlap)
{
    BOOST_TEST(found({hold(1, 0, 10), hold(2, 10, 20), hold(1, 25, 30)}) == names{});
}

BOOST_AUTO_TEST_CASE(one_common_nanosecond_is_an_overlap)
{
    BOOST_TEST(found({hold(1, 0, 11), hold(2, 10, 20)}) == names{"2 in 1"});
}

BOOST_AUTO_TEST_CASE(the_order_of_the_records_does_not_matter)
{
    BOOST_TEST(found({hold(3, 30, 40), hold(2, 10, 31), hold(1, 0, 10)}) == names{"3 in 2"});
}

BOOST_AUTO_TEST_CASE(holds_that_begin_at_the_same_moment_overlap)
{
    BOOST_TEST(found({hold(1, 5, 6), hold(2, 5, 9)}).size() == 1u);
    BOOST_TEST(found({hold(1, 5, 6), hold(2, 5, 6)}).size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_long_hold_overlaps_all_that_begin_in_it)
{
    BOOST_TEST(found({hold(1, 0, 100), hold(2, 10, 20), hold(3, 30, 40), hold(4, 100, 110)}) ==
               (names{"2 in 1", "3 in 1"}));
}

BOOST_AUTO_TEST_CASE(a_hold_is_compared_with_the_one_that_ends_last)
{
    BOOST_TEST(
        found({hold(1, 0, 50), hold(2, 10, 80), hold(3, 60, 70)}) == (names{"2 in 1", "3 in 2"}));
}

BOOST_AUTO_TEST_CASE(a_holder_may_overlap_itself)
{
    BOOST_TEST(found({hold(1, 0, 10), hold(1, 5, 6)}) == names{"1 in 1"});
}

BOOST_AUTO_TEST_CASE(different_resources_never_overlap)
{
    BOOST_TEST(
        found({hold(1, 0, 100, "a"), hold(2, 10, 20, "b"), hold(3, 15, 30, "c")}) == names{});
    BOOST_TEST(found({hold(1, 0, 100, "b"), hold(2, 10, 20, "a"), hold(3, 15, 30, "b")}) ==
               names{"3 in 1"});
}

// As for a holder that was frozen between the grant and the first use of it.
BOOST_AUTO_TEST_CASE(a_hold_that_ended_before_it_was_noticed_does_not_count)
{
    BOOST_TEST(found({hold(1, 0, 100), hold(2, 50, 50)}) == names{});
    BOOST_TEST(found({hold(1, 0, 100), hold(2, 50, 40)}) == names{});
    BOOST_TEST(found({hold(1, 50, 20), hold(2, 60, 70)}) == names{});
}

// Compared with the definition, pair by pair.
BOOST_AUTO_TEST_CASE(finds_an_overlap_exactly_when_there_is_one)
{
    std::mt19937 random(1);
    const auto number = [&random](int limit) {
        return std::uniform_int_distribution<int>(0, limit)(random);
    };
    int with = 0, without = 0;
    for (int round = 0; round < 2000; ++round) {
        std::vector<holding> all;
        for (int i = number(6); i >= 0; --i) {
            const int from = number(60);
            all.push_back(hold(1, from, from + number(12), number(1) == 0 ? "a" : "b"));
        }
        std::size_t expected = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j)
                expected += all[i].resource == all[j].resource && all[i].from < all[j].until &&
                                    all[j].from < all[i].until && all[i].from < all[i].until &&
                                    all[j].from < all[j].until
                                ? 1u
                                : 0u;
        }
        BOOST_REQUIRE(overlaps(all).empty() == (expected == 0));
        ++(expected == 0 ? without : with);
    }
    BOOST_TEST(std::min(with, without) > 100);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
