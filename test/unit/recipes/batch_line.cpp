// The decisions of a batcher: which requests wait, which are served together, who is told what.
#include "recipes/batch_line.hpp"

#include "support/printing.hpp"
#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

using namespace holdfast::recipes;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::core::slot_id;

namespace {

using ids = std::vector<slot_id>;
using action = batch_line::action;
using holdfast::detail::batch_ending;

struct line_fixture {
    batch_line line{{.max_batch = 3, .max_queued = 5, .gather = 10ms}};

    ids add(std::size_t count, holdfast::core::time_point when = start)
    {
        ids added;
        while (added.size() < count)
            added.push_back(line.add(when));
        return added;
    }
    action next(holdfast::core::time_point now = start + 1s) { return line.next(now).what; }
    ids serve_batch()
    {
        BOOST_REQUIRE((next() == action::acquire));
        line.granted();
        return line.begin_batch();
    }
    ids end_batch(const batch_ending& how = {}) { return line.end_batch(how).callers; }
    // What the callers of a batch of two are told.
    holdfast::error_code told(const batch_ending& how)
    {
        add(2);
        serve_batch();
        return line.end_batch(how).outcome;
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(recipes_batch_line, line_fixture)

BOOST_AUTO_TEST_CASE(the_lock_is_asked_for_when_the_first_request_has_waited_or_a_batch_is_full)
{
    BOOST_TEST((next() == action::none));
    add(1);
    add(1, start + 5ms);
    const auto order = line.next(start + 9ms);
    BOOST_TEST((order.what == action::wake));
    BOOST_TEST((order.at == start + 10ms));
    BOOST_TEST((next(start + 10ms) == action::acquire));
    BOOST_TEST((next() == action::none)); // once
    line.refused();
    add(3, start + 20ms);
    BOOST_TEST((next(start + 20ms) == action::acquire));
}

BOOST_AUTO_TEST_CASE(requests_are_served_in_their_order_a_batch_at_a_time)
{
    const ids all = add(5);
    BOOST_TEST((serve_batch() == ids{all[0], all[1], all[2]}));
    BOOST_TEST((next() == action::none)); // not before the batch has ended
    BOOST_TEST((end_batch() == ids{all[0], all[1], all[2]}));
    BOOST_TEST((line.next(start).at == start + 10ms));
    BOOST_TEST((serve_batch() == ids{all[3], all[4]}));
    BOOST_TEST(line.waiting() == 0u);
}

BOOST_AUTO_TEST_CASE(the_number_of_waiting_requests_is_limited)
{
    add(5);
    BOOST_TEST((line.refusal() == errc::overloaded));
    serve_batch(); // those that are served do not count
    BOOST_TEST((line.refusal() == errc{}));
}

BOOST_AUTO_TEST_CASE(a_request_that_waits_can_be_cancelled)
{
    const ids all = add(4);
    BOOST_TEST(line.cancel(all[0], false));
    BOOST_TEST(!line.cancel(all[0], true));
    BOOST_TEST(line.cancel(all[2], false));
    BOOST_TEST(line.cancel(all[3], false));
    BOOST_TEST((serve_batch() == ids{all[1]}));
}

BOOST_AUTO_TEST_CASE(a_request_that_is_served_can_only_be_left_to_its_batch)
{
    const ids all = add(3);
    serve_batch();
    BOOST_TEST(!line.cancel(all[1], false));
    BOOST_TEST(line.cancel(all[1], true));
    BOOST_TEST(!line.cancel(all[1], true));
    BOOST_TEST((end_batch() == ids{all[0], 0, all[2]}));
    BOOST_TEST(!line.cancel(all[0], true));
}

BOOST_AUTO_TEST_CASE(a_lock_that_nobody_needs_any_more_is_noticed)
{
    const ids all = add(1);
    BOOST_TEST((next() == action::acquire));
    line.cancel(all[0], false);
    BOOST_TEST((next() == action::stop_asking));
    const ids later = add(1); // before the answer: it waits on
    BOOST_TEST((next() == action::none));
    BOOST_TEST(line.refused().empty());
    BOOST_TEST((line.next(start).at == start + 10ms));
    BOOST_TEST((serve_batch() == later));
}

BOOST_AUTO_TEST_CASE(a_refusal_is_told_to_those_that_waited_when_the_lock_was_asked_for)
{
    const ids early = add(2);
    next();
    const ids late = add(1);
    BOOST_TEST((line.refused() == early));
    BOOST_TEST((line.next(start).at == start + 10ms));
    BOOST_TEST((next() == action::acquire));
    BOOST_TEST((line.refused() == late));
    BOOST_TEST((next() == action::none));
}

BOOST_AUTO_TEST_CASE(closing_ends_those_that_wait_and_leaves_the_batch)
{
    const ids all = add(5);
    serve_batch();
    BOOST_TEST((line.close() == ids{all[3], all[4]}));
    BOOST_TEST((line.refusal() == errc::closed));
    BOOST_TEST(!line.is_idle());
    BOOST_TEST((next() == action::none));
    BOOST_TEST((end_batch() == ids{all[0], all[1], all[2]}));
    BOOST_TEST(line.is_idle());
    BOOST_TEST((next() == action::none)); // the lease is given back first
    line.turn_ended();
    BOOST_TEST((next() == action::finish));
    BOOST_TEST(line.close().empty());
}

BOOST_AUTO_TEST_CASE(closing_ends_when_the_lock_is_not_asked_for_any_more)
{
    add(1);
    next();
    line.close();
    BOOST_TEST((next() == action::stop_asking));
    line.refused();
    BOOST_TEST((next() == action::finish));
}

BOOST_AUTO_TEST_CASE(the_replies_of_a_body_in_time_are_given)
{
    BOOST_TEST(!told({}));
    BOOST_TEST(!told({.replies = 2}));
    BOOST_TEST(!told({.replies = 2, .stopped = true})); // it has ended all the same, in time
    BOOST_TEST(told({.replies = 1}) == errc::wrong_reply_count);
    BOOST_TEST(told({.replies = 3}) == errc::wrong_reply_count);
}

BOOST_AUTO_TEST_CASE(a_lease_that_has_ended_before_the_body_is_told)
{
    BOOST_TEST(told({.lease_over = true}) == errc::lease_lost);
    BOOST_TEST(told({.replies = 1, .lease_over = true}) == errc::lease_lost);
    constexpr auto aborted = batch_ending::kind::aborted;
    BOOST_TEST(told({.body = aborted, .stopped = true}) == errc::lease_lost);
    BOOST_TEST(told({.body = aborted, .lease_over = true}) == errc::lease_lost);
}

BOOST_AUTO_TEST_CASE(a_failure_of_the_body_is_told)
{
    BOOST_TEST(told({.body = batch_ending::kind::aborted}) == errc::batch_failed);
    BOOST_TEST(
        told({.body = batch_ending::kind::other_failure, .stopped = true}) == errc::batch_failed);
    const auto why = make_error_code(errc::unreachable);
    BOOST_TEST(told({.body = batch_ending::kind::error, .why = why, .stopped = true}) == why);
}

// Random calls: each request ends exactly once, in the order of the requests.
BOOST_AUTO_TEST_CASE(no_request_is_lost_or_served_twice)
{
    std::minstd_rand random(7);
    const auto chance = [&random](unsigned one_in) {
        return random() % one_in == 0;
    };
    std::deque<slot_id> waiting, served;
    std::size_t began = 0, ended = 0;
    bool asks = false;
    for (int i = 0; i < 100'000; ++i) {
        if (line.refusal() == errc{} && chance(2)) {
            waiting.push_back(line.add(start));
            ++began;
        }
        if (!waiting.empty() && chance(8)) {
            const auto which = waiting.begin() + static_cast<long>(random() % waiting.size());
            BOOST_REQUIRE(line.cancel(*which, chance(2)));
            waiting.erase(which);
            ++ended;
        }
        if (!asks && served.empty() && next() == action::acquire) {
            asks = true;
        } else if (asks && chance(4)) {
            for (const slot_id each : line.refused()) {
                BOOST_REQUIRE(std::count(waiting.begin(), waiting.end(), each) == 1);
                std::erase(waiting, each);
                ++ended;
            }
            asks = false;
        } else if (asks && served.empty() && chance(2)) {
            line.granted();
            for (const slot_id each : line.begin_batch()) {
                BOOST_REQUIRE(each == waiting.front());
                waiting.pop_front();
                served.push_back(each);
            }
            if (served.empty()) { // all were cancelled
                end_batch();
                asks = false;
            }
        } else if (!served.empty()) {
            if (chance(4))
                line.cancel(served.front(), true);
            BOOST_REQUIRE(end_batch().size() == served.size());
            ended += served.size();
            served.clear();
            asks = false;
        }
    }
    BOOST_TEST(began == ended + waiting.size() + served.size());
    BOOST_TEST(line.waiting() == waiting.size());
}

BOOST_AUTO_TEST_SUITE_END()
