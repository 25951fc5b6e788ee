#include "core/rotation.hpp"

#include <boost/test/unit_test.hpp>

#include <set>

using namespace std::chrono_literals;
namespace core = holdfast::core;
using holdfast::errc;
using holdfast::core::rotation;

namespace {

constexpr rotation::pauses short_ones{10ms, 100ms};
constexpr core::time_point now(1000s);

BOOST_AUTO_TEST_SUITE(core_rotation)

BOOST_AUTO_TEST_CASE(clients_begin_with_different_members)
{
    std::set<std::size_t> begun;
    for (std::uint64_t seed = 1; seed < 50; ++seed)
        begun.insert(rotation(3, short_ones, seed).current());
    BOOST_TEST(begun.size() == 3u);
}

BOOST_AUTO_TEST_CASE(the_next_member_is_tried_at_once_until_all_have_failed)
{
    rotation r(3, short_ones, 1);
    const std::size_t first = r.current();
    BOOST_TEST(!r.failed(errc::unreachable, now));
    BOOST_TEST(r.current() == (first + 1) % 3);
    BOOST_TEST((r.next_at() == now));
    BOOST_TEST((r.cut_off() == errc{}));
    BOOST_TEST(!r.failed(errc::unreachable, now));
    BOOST_TEST(r.failed(errc::no_reply, now));
    BOOST_TEST(r.current() == first);
    BOOST_TEST((r.cut_off() == errc::no_reply));
    BOOST_TEST((r.next_at() <= now + 10ms));
    BOOST_TEST(!r.failed(errc::unreachable, now)); // another round
}

BOOST_AUTO_TEST_CASE(pauses_grow_to_the_longest)
{
    core::duration longest{};
    for (std::uint64_t seed = 1; seed < 50; ++seed) {
        rotation r(1, short_ones, seed);
        core::duration limit = 10ms;
        for (int round = 0; round < 8; ++round) {
            BOOST_TEST(r.failed(errc::unreachable, now));
            BOOST_TEST((r.next_at() - now <= limit));
            longest = std::max(longest, r.next_at() - now);
            limit = std::min<core::duration>(limit * 2, 100ms);
        }
    }
    BOOST_TEST((longest > 50ms));
}

BOOST_AUTO_TEST_CASE(a_member_that_has_worked_begins_a_new_round)
{
    rotation r(2, short_ones, 1);
    r.failed(errc::unreachable, now);
    r.failed(errc::unreachable, now);
    r.worked();
    BOOST_TEST((r.cut_off() == errc{}));
    BOOST_TEST(!r.failed(errc::unreachable, now + 20ms));
    BOOST_TEST((r.next_at() == now + 20ms));
}

BOOST_AUTO_TEST_CASE(the_only_member_is_tried_again_after_a_short_pause)
{
    rotation r(1, short_ones, 1);
    core::time_point at = now;
    for (int i = 0; i < 10; ++i, at = r.next_at() + 10ms) {
        r.worked();
        BOOST_TEST(!r.failed(errc::unreachable, at));
        BOOST_TEST((r.next_at() <= at + 10ms));
    }
}

// For example, a member that answers one kind of request, and refuses another one.
BOOST_AUTO_TEST_CASE(members_that_work_only_for_a_moment_are_tried_seldom)
{
    for (const std::size_t members : {1u, 3u}) {
        rotation r(members, short_ones, 1);
        core::time_point at = now;
        std::size_t tries = 0;
        bool cut_off = false;
        for (; at < now + 10s; ++tries) {
            at = std::max(at, r.next_at()) + 1ms;
            r.worked();
            r.failed(errc::overloaded, at);
            cut_off = cut_off || r.cut_off() == errc::overloaded;
        }
        BOOST_TEST(tries < members * 300); // a pause is 50 ms long on average
        BOOST_TEST(cut_off);
    }
}

BOOST_AUTO_TEST_CASE(what_cannot_work_is_tried_seldom)
{
    rotation r(1, short_ones, 1);
    r.worked();
    BOOST_TEST(r.failed(errc::misconfigured_node, now));
    BOOST_TEST((r.next_at() == now + 100ms));
    BOOST_TEST((r.cut_off() == errc::misconfigured_node));
}

BOOST_AUTO_TEST_CASE(nothing_is_tried_after_the_end)
{
    rotation r(1, short_ones, 1);
    r.stop();
    BOOST_TEST((r.next_at() == core::never));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
