#include "core/lease_keeper.hpp"

#include "support/printing.hpp"
#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

#include <random>

using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;
using action = lease_keeper::action;
using phase = lease_keeper::phase;

BOOST_AUTO_TEST_SUITE(core_lease_keeper)

namespace {

constexpr duration patience = 450ms;
constexpr duration grid = duration(9s) / 128;

constexpr lease_params usual{.ttl = 9s,
    .drift = 100ms,
    .guard = 500ms,
    .max_hold = holdfast::forever,
    .handoff_time = {},
    .handoff_limit = 0,
    .renews = true};

constexpr lease_params unrenewed()
{
    lease_params t = usual;
    t.renews = false;
    return t;
}

constexpr lease_params held_at_most(std::chrono::milliseconds limit)
{
    lease_params t = usual;
    t.max_hold = limit;
    return t;
}

// The end of the validity that a grant or a renewal sent at `asked` gives.
time_point worth(std::chrono::milliseconds asked)
{
    return at(asked + 8900ms);
}

validity until(time_point end, const lease_params& terms = usual)
{
    return {.asked = end - (terms.ttl - terms.drift), .ttl = terms.ttl, .until = end};
}

validity granted(std::chrono::milliseconds asked)
{
    return until(worth(asked));
}

lease_keeper keeper_of(const lease_params& terms)
{
    return lease_keeper(terms, granted(0ms), at(0ms), patience);
}

} // namespace

BOOST_AUTO_TEST_CASE(renewals_follow_the_ttl_that_the_store_has_given)
{
    lease_keeper k(usual, {.asked = at(0ms), .ttl = 3s, .until = at(2500ms)}, at(0ms), patience);
    BOOST_TEST(k.ends_at() == at(2500ms));
    BOOST_TEST(k.wake_at() <= at(1s));
    BOOST_TEST(k.wake_at() > at(1s) - duration(3s) / 128);
    BOOST_TEST(k.changed({.asked = at(1s), .ttl = 6s, .until = at(6500ms)}, at(1s)));
    BOOST_TEST(k.covers(at(1s)));
    BOOST_TEST(!k.covers(at(1001ms)));
    BOOST_TEST(k.ends_at() == at(6500ms));
    BOOST_TEST(k.wake_at() <= at(3s));
    BOOST_TEST(k.wake_at() > at(3s) - duration(6s) / 128);
}

// A keeper without a lease holds nothing and needs no wake-up.
BOOST_AUTO_TEST_CASE(without_a_lease)
{
    lease_keeper k;
    BOOST_TEST(!k.held(at(0ms)));
    BOOST_TEST(k.due(at(0ms)) == action::none);
    BOOST_TEST(k.wake_at() == never);
}

// A lease is renewed after a third of its ttl, or up to one step of the common grid earlier.
BOOST_AUTO_TEST_CASE(renews_at_a_third)
{
    lease_keeper k = keeper_of(usual);
    const time_point first = k.wake_at();
    BOOST_TEST(first <= at(3s));
    BOOST_TEST(first > at(3s) - grid);
    BOOST_TEST(k.due(first - 1ns) == action::none);
    BOOST_TEST(k.due(first) == action::renew);
    BOOST_TEST(k.where() == phase::kept);
}

// Leases of about the same age are renewed at the same moment, so they share one call.
// A store that learns something new at certain times only is not asked in between.
BOOST_AUTO_TEST_CASE(renews_when_the_store_can_tell_more)
{
    validity known = granted(0ms);
    const auto renews_at = [&](std::chrono::milliseconds renewable_at) {
        known.renewable_at = at(renewable_at);
        const time_point ideal = lease_keeper(usual, known, at(0ms), patience).wake_at() + grid;
        return std::chrono::floor<std::chrono::milliseconds>(ideal - at(0ms));
    };
    BOOST_TEST(renews_at(1000ms) >= 3000ms);
    BOOST_TEST(renews_at(1000ms) <= 3000ms + grid);
    BOOST_TEST(renews_at(5000ms) >= 5000ms);
    BOOST_TEST(renews_at(5000ms) <= 5000ms + grid);
    // The time to stop is after 8.4 s: 1.5 s are left for repetitions.
    BOOST_TEST(renews_at(8000ms) >= 6900ms);
    BOOST_TEST(renews_at(8000ms) <= 6900ms + grid);
}

BOOST_AUTO_TEST_CASE(leases_of_similar_age_renew_together)
{
    const auto renewal_of = [](duration asked) {
        return lease_keeper(
            usual, {.asked = at(asked), .ttl = usual.ttl, .until = worth(0ms)}, at(asked), patience)
            .wake_at();
    };
    int moments = 1;
    for (int i = 1; i < 70; ++i)
        moments += renewal_of(i * 1ms) != renewal_of((i - 1) * 1ms) ? 1 : 0;
    BOOST_TEST(moments <= 2);
}

// A renewal that is not confirmed within the patience is sent again. After a confirmation the next
// one is due a third of the ttl later.
BOOST_AUTO_TEST_CASE(retries_until_confirmed)
{
    lease_keeper k = keeper_of(usual);
    k.renewal_sent(at(3s));
    BOOST_TEST(k.wake_at() == at(3s) + patience);
    BOOST_TEST(k.due(at(3s) + patience - 1ns) == action::none);
    BOOST_TEST(k.due(at(3s) + patience) == action::renew);

    k.renewal_sent(at(3450ms));
    BOOST_TEST(k.changed(granted(3s), at(3460ms)));
    BOOST_TEST(!k.changed(granted(3s), at(3461ms))); // the same confirmation counts once
    BOOST_TEST(k.wake_at() <= at(6s));               // a third after the request that was confirmed
    BOOST_TEST(k.wake_at() > at(6s) - grid);
    BOOST_TEST(k.changed(granted(3450ms), at(3470ms)));
    BOOST_TEST(k.wake_at() > at(6s));
}

// A long patience does not postpone the next attempt beyond a tenth of the ttl.
BOOST_AUTO_TEST_CASE(retries_early_enough)
{
    lease_keeper k(usual, granted(0ms), at(0ms), 60s);
    k.renewal_sent(at(3s));
    BOOST_TEST(k.wake_at() == at(3900ms));
}

// max_hold counts from the grant, not from the request.
BOOST_AUTO_TEST_CASE(max_hold_counts_from_the_grant)
{
    const lease_keeper k(held_at_most(5s), granted(0ms), at(1s), patience);
    BOOST_TEST(k.ends_at() == at(6s));
}

// The time to stop is decided by the clock, even before due() is called: a renewal that is
// confirmed a moment later does not undo it.
BOOST_AUTO_TEST_CASE(the_clock_decides_when_to_stop)
{
    lease_keeper k = keeper_of(usual);
    const time_point end = worth(0ms);
    k.renewal_sent(end - 600ms);
    BOOST_TEST(!k.changed(granted(8300ms), end - 500ms));
    BOOST_TEST(k.ends_at() == end);
    BOOST_TEST(k.due(end - 500ms) == action::stop_work);
}

// The work is told to stop a guard time before the end, once. The lease ends with its validity.
BOOST_AUTO_TEST_CASE(stops_and_ends_by_the_clock)
{
    lease_keeper k = keeper_of(unrenewed());
    const time_point end = worth(0ms);
    BOOST_TEST(k.wake_at() == end - 500ms);
    BOOST_TEST(k.due(end - 500ms - 1ns) == action::none);
    BOOST_TEST(k.due(end - 500ms) == action::stop_work);
    BOOST_TEST(k.where() == phase::stopping);
    BOOST_TEST(k.due(end - 500ms) == action::none);
    BOOST_TEST(k.wake_at() == end);
    BOOST_TEST(k.held(end - 1ns));
    BOOST_TEST(!k.held(end));
    BOOST_TEST(k.due(end - 1ns) == action::none);
    BOOST_TEST(k.due(end) == action::end);
    BOOST_TEST(k.due(end) == action::none);
    BOOST_TEST(k.where() == phase::ended);
    BOOST_TEST(k.wake_at() == never);
}

// After a long sleep only the end is reported. It implies that the work must stop.
BOOST_AUTO_TEST_CASE(a_long_sleep_goes_straight_to_the_end)
{
    lease_keeper k = keeper_of(usual);
    BOOST_TEST(k.due(at(1h)) == action::end);
    BOOST_TEST(!k.held(at(1h)));
}

// Once work was told to stop, no late renewal makes the lease valid again. A shorter validity still
// counts.
BOOST_AUTO_TEST_CASE(a_stopped_lease_stays_stopped)
{
    lease_keeper k = keeper_of(usual);
    const time_point end = worth(0ms);
    k.renewal_sent(end - 600ms);
    BOOST_REQUIRE(k.due(end - 500ms) == action::stop_work);
    BOOST_TEST(!k.changed(granted(8300ms), end - 450ms));
    BOOST_TEST(k.ends_at() == end);
    BOOST_TEST(k.where() == phase::stopping);
    BOOST_TEST(!k.changed(until(end - 200ms), end - 300ms));
    BOOST_TEST(k.due(end - 200ms) == action::end);
    BOOST_TEST(!k.changed(granted(8400ms), end - 150ms));
    BOOST_TEST(!k.held(end - 100ms));
    BOOST_TEST(k.due(end - 100ms) == action::none);
}

// A shorter validity brings the end forward.
BOOST_AUTO_TEST_CASE(a_shorter_validity_counts_at_once)
{
    lease_keeper k = keeper_of(usual);
    BOOST_TEST(!k.changed(until(at(2s)), at(1s)));
    BOOST_TEST(k.ends_at() == at(2s));
    BOOST_TEST(k.wake_at() == at(1500ms));
    BOOST_TEST(k.due(at(1500ms)) == action::stop_work);
}

// With manual renewal nothing is renewed, but an extension counts.
BOOST_AUTO_TEST_CASE(manual_renewal)
{
    lease_keeper k = keeper_of(unrenewed());
    BOOST_TEST(k.due(at(8s)) == action::none);
    k.renewal_sent(at(8s));
    BOOST_TEST(!k.covers(at(8s)));
    BOOST_TEST(k.changed(granted(8s), at(8s)));
    BOOST_TEST(k.covers(at(8s)));
    BOOST_TEST(k.ends_at() == worth(8s));
    BOOST_TEST(k.wake_at() == worth(8s) - 500ms);
}

// max_hold ends a lease even if it is renewed. No renewal is sent that would outlast it.
BOOST_AUTO_TEST_CASE(max_hold_is_a_limit)
{
    BOOST_TEST(keeper_of(held_at_most(5s)).wake_at() == at(4500ms)); // to stop, not to renew
    lease_keeper k = keeper_of(held_at_most(10s));
    BOOST_REQUIRE(k.due(k.wake_at()) == action::renew);
    k.renewal_sent(at(3s));
    BOOST_TEST(k.changed(granted(3s), at(3s))); // beyond 10 s
    BOOST_TEST(k.ends_at() == at(10s));
    BOOST_TEST(k.due(at(9500ms) - 1ns) == action::none);
    BOOST_TEST(k.due(at(9500ms)) == action::stop_work);
    BOOST_TEST(k.due(at(10s)) == action::end);
}

// stop() gives the work its grace period and no more, and never extends a lease.
BOOST_AUTO_TEST_CASE(stop_with_grace)
{
    lease_keeper k = keeper_of(usual);
    k.stop(at(1s), 500ms);
    BOOST_TEST(k.where() == phase::stopping);
    BOOST_TEST(k.ends_at() == at(1500ms));
    BOOST_TEST(k.wake_at() == at(1500ms));
    BOOST_TEST(!k.changed(granted(1s), at(1s)));
    k.stop(at(1400ms), 500ms);
    BOOST_TEST(k.ends_at() == at(1500ms));
    BOOST_TEST(k.due(at(1500ms) - 1ns) == action::none);
    BOOST_TEST(k.due(at(1500ms)) == action::end);

    lease_keeper late = keeper_of(usual);
    late.stop(worth(0ms) - 100ms, 500ms);
    BOOST_TEST(late.ends_at() == worth(0ms));
}

// In any sequence of events: a caller that calls due() until it returns `none` may sleep until
// wake_at(), which is in the future. The phases only go forward. From `stopping` on, the end only
// comes nearer. A renewal is requested only while the lease is kept. No lease is held at or after
// its end.
BOOST_AUTO_TEST_CASE(any_sequence_of_events)
{
    for (unsigned seed = 1; seed <= 2000; ++seed) {
        BOOST_TEST_CONTEXT("seed " << seed)
        {
            std::mt19937 random(seed);
            const auto some = [&](int limit) {
                return duration(1ms) * static_cast<int>(random() % 100'000) % (limit * 1ms);
            };
            lease_params terms =
                random() % 3 == 0 ? held_at_most(std::chrono::seconds(1 + random() % 30)) : usual;
            terms.renews = random() % 4 != 0;
            lease_keeper k(terms, granted(0ms), at(0ms), 1ms + some(500));
            time_point now = at(0ms), last_sent = now;
            phase before = k.where();
            time_point end_before = k.ends_at();
            for (int step = 0; step < 60 && k.where() != phase::ended; ++step) {
                now = random() % 2 == 0 ? std::max(now, k.wake_at()) : now + some(2000);
                switch (random() % 8) {
                case 0:
                    k.renewal_sent(now);
                    last_sent = now;
                    break;
                case 1:
                case 2:
                case 3:
                    k.changed(until(last_sent + terms.ttl - terms.drift, terms), now);
                    break;
                case 4:
                    k.changed(until(now + some(9000), terms), now);
                    break;
                case 5:
                    if (random() % 4 == 0)
                        k.stop(now, some(1000));
                    break;
                default:
                    break;
                }
                int calls = 0;
                for (action a = k.due(now); a != action::none; a = k.due(now)) {
                    BOOST_REQUIRE(++calls <= 3);
                    if (a == action::renew) {
                        BOOST_REQUIRE(k.where() == phase::kept);
                        BOOST_REQUIRE(terms.renews);
                        k.renewal_sent(now);
                        last_sent = now;
                    }
                }
                BOOST_REQUIRE(k.wake_at() > now);
                BOOST_REQUIRE(k.where() >= before);
                BOOST_REQUIRE((before == phase::kept || k.ends_at() <= end_before));
                BOOST_REQUIRE(k.ends_at() <= later(at(0ms), terms.max_hold));
                BOOST_REQUIRE(k.held(now) == (k.where() != phase::ended));
                before = k.where();
                end_before = k.ends_at();
            }
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
