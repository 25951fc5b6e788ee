// Effects, and counters.
#include "core/report.hpp"

#include "support/locker_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace holdfast;
using namespace holdfast::core;
using holdfast::test::locker_fixture;

BOOST_AUTO_TEST_SUITE(core_report)

// Effects come out in the order in which they happened.
BOOST_AUTO_TEST_CASE(effects_keep_their_order)
{
    report r;
    r.acquired(1, 7, 99);
    r.wait_ended(2, errc::contended);
    r.must_stop(7);
    r.extended(7, errc::unreachable);
    r.gone(7);
    r.released(3, release_outcome::expired);
    r.closed();

    const auto first = r.next_effect();
    BOOST_REQUIRE(first);
    BOOST_TEST((first->kind == effect_kind::acquired && first->tag == 1u && first->lease == 7u));
    BOOST_TEST((first->fence == 99u));
    std::string rest;
    while (const auto e = r.next_effect()) {
        BOOST_TEST((e->lease == 7u || e->lease == 0u));
        rest += locker_fixture::in_words(*e) + "; ";
    }
    BOOST_TEST(rest == "2 ended: contended; must stop; extended: unreachable; gone; 3 expired; "
                       "closed; ");
}

BOOST_AUTO_TEST_CASE(counters_count_what_happened)
{
    report r;
    r.attempted();
    r.attempted();
    r.refused(errc::contended);
    r.refused(errc::unreachable);
    r.refused(errc::too_late);
    r.acquired(1, 7, std::nullopt);
    r.handed_over();
    r.resumed();
    r.renewed();
    r.given_up();
    r.lost();
    const locker_stats& s = r.counts();
    BOOST_TEST(s.attempts == 2u);
    BOOST_TEST(s.contended == 1u);
    BOOST_TEST(s.unreachable == 2u);
    BOOST_TEST(s.acquired == 1u);
    BOOST_TEST(s.handed_over == 1u);
    BOOST_TEST(s.resumed == 1u);
    BOOST_TEST(s.renewals == 1u);
    BOOST_TEST(s.released == 1u);
    BOOST_TEST(s.lost == 1u);
}

BOOST_AUTO_TEST_CASE(durations_are_recorded_apart)
{
    using namespace std::chrono_literals;
    report r;
    r.waited(1ms);
    r.decided(2ms);
    r.held_for(3ms);
    r.left(4ms);
    const locker_stats& s = r.counts();
    BOOST_TEST((s.queue_wait.sum() == 1ms && s.queue_wait.count() == 1));
    BOOST_TEST((s.quorum_time.sum() == 2ms && s.quorum_time.count() == 1));
    BOOST_TEST((s.hold_time.sum() == 3ms && s.hold_time.count() == 1));
    BOOST_TEST((s.validity_left.sum() == 4ms && s.validity_left.count() == 1));
}

BOOST_AUTO_TEST_SUITE_END()
