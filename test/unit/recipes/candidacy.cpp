#include "recipes/candidacy.hpp"

#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

#include <ostream>

using namespace holdfast::recipes;
using namespace holdfast::test;
using namespace std::chrono_literals;
using action = candidacy::action;
using state = candidacy::state;
using end_of = candidacy::work_end;

namespace holdfast::recipes {

std::ostream& operator<<(std::ostream& out, action a)
{
    return out << static_cast<int>(a);
}

std::ostream& operator<<(std::ostream& out, state s)
{
    return out << static_cast<int>(s);
}

} // namespace holdfast::recipes

namespace {

constexpr std::chrono::milliseconds every = 500ms, pause_min = 100ms, pause_max = 1s;

candidacy fresh()
{
    return candidacy(every, pause_min, pause_max, 1);
}

candidacy leader()
{
    candidacy c = fresh();
    c.begin(true, at(0s));
    c.granted(true, at(1s));
    return c;
}

BOOST_AUTO_TEST_SUITE(candidacy_)

BOOST_AUTO_TEST_CASE(a_healthy_candidate_campaigns_and_leads)
{
    candidacy c = fresh();
    BOOST_TEST(c.begin(true, at(0s)) == action::campaign);
    BOOST_TEST(c.granted(true, at(1s)) == action::start_work);
    BOOST_TEST(c.now_in() == state::leading);
    BOOST_TEST((c.wake_at() == at(1s) + every));
    BOOST_TEST(c.work_ended(end_of::returned, at(2s)) == action::finish);
}

BOOST_AUTO_TEST_CASE(an_unhealthy_one_waits_until_it_is_well)
{
    candidacy c = fresh();
    BOOST_TEST(c.begin(false, at(0s)) == action::none);
    BOOST_TEST((c.wake_at() == at(0s) + every));
    BOOST_TEST(c.woken(true, at(500ms)) == action::campaign);
    BOOST_TEST(c.woken(false, at(1s)) == action::stop_campaign);
    BOOST_TEST(c.refused(false, at(1s)) == action::none);
    BOOST_TEST(c.now_in() == state::unhealthy);
    BOOST_TEST(c.woken(true, at(1500ms)) == action::campaign);
    BOOST_TEST(c.granted(false, at(2s)) == action::release);
}

// The lease is released after the work has stopped, never before.
BOOST_AUTO_TEST_CASE(a_term_ends_when_the_work_has_stopped)
{
    for (const int why : {0, 1, 2}) {
        candidacy c = leader();
        const action told = why == 0 ? c.lost() : why == 1 ? c.resign() : c.woken(false, at(2s));
        BOOST_TEST(told == action::stop_work);
        BOOST_TEST(c.lost() == action::none);
        BOOST_TEST(c.resign() == action::none);
        BOOST_TEST(c.woken(false, at(3s)) == action::none);
        BOOST_TEST(c.work_ended(end_of::stopped, at(4s)) == action::release);
        BOOST_TEST((c.wake_at() >= at(4s) + pause_min));
        BOOST_TEST((c.wake_at() <= at(4s) + 2 * pause_min));
        BOOST_TEST(c.woken(true, c.wake_at()) == action::campaign);
    }
}

BOOST_AUTO_TEST_CASE(work_that_returns_after_it_was_told_to_stop_ends_its_term_only)
{
    candidacy c = leader();
    c.resign();
    BOOST_TEST(c.work_ended(end_of::returned, at(2s)) == action::release);
}

BOOST_AUTO_TEST_CASE(work_that_fails_ends_the_run)
{
    candidacy c = leader();
    BOOST_TEST(c.work_ended(end_of::failed, at(2s)) == action::finish);
    candidacy told = leader();
    told.resign();
    BOOST_TEST(told.work_ended(end_of::failed, at(2s)) == action::finish);
}

BOOST_AUTO_TEST_CASE(pauses_grow_while_campaigns_fail)
{
    candidacy c = fresh();
    holdfast::core::time_point now = at(0s);
    c.begin(true, now);
    holdfast::core::duration longest{};
    for (int i = 0; i < 30; ++i) {
        BOOST_TEST(c.refused(false, now) == action::none);
        const auto pause = c.wake_at() - now;
        BOOST_TEST((pause >= pause_min && pause <= pause_min + pause_max));
        longest = std::max(longest, pause);
        now = c.wake_at();
        BOOST_TEST(c.woken(true, now) == action::campaign);
    }
    BOOST_TEST((longest > 4 * pause_min));
}

BOOST_AUTO_TEST_CASE(an_error_that_lasts_ends_the_run)
{
    candidacy c = fresh();
    c.begin(true, at(0s));
    BOOST_TEST(c.refused(true, at(1s)) == action::finish);
}

BOOST_AUTO_TEST_CASE(a_cancellation_ends_it_in_each_state)
{
    candidacy unwell = fresh();
    unwell.begin(false, at(0s));
    BOOST_TEST(unwell.cancel() == action::finish);
    BOOST_TEST((unwell.wake_at() == holdfast::core::never));

    candidacy campaigning = fresh();
    campaigning.begin(true, at(0s));
    BOOST_TEST(campaigning.cancel() == action::stop_campaign);
    BOOST_TEST(campaigning.refused(false, at(1s)) == action::finish);

    candidacy leading = leader();
    BOOST_TEST(leading.cancel() == action::stop_work);
    BOOST_TEST(leading.work_ended(end_of::stopped, at(2s)) == action::finish);

    candidacy stopping = leader();
    stopping.resign();
    BOOST_TEST(stopping.cancel() == action::none);
    BOOST_TEST(stopping.work_ended(end_of::stopped, at(2s)) == action::finish);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
