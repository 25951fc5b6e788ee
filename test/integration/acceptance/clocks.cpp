// Rows 30 to 34: clock jumps, on nodes and on the client.
#include "core/locker_core.hpp"
#include "core/params.hpp"
#include "integration/acceptance/acceptance.hpp"
#include "integration/acceptance/some_bits.hpp"
#include "integration/acceptance/stalled_clock.hpp"
#include "integration/acceptance/stepping_cluster.hpp"
#include "io/clock.hpp"
#include "support/scripted_backend.hpp"
#include "support/times.hpp"

#include <deque>
#include <optional>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(acceptance_clocks)

task renew_some_times(holdfast::locker& locker)
{
    const auto renewals = locker.stats().renewals;
    const bool renewed =
        co_await becomes_true([&] { return locker.stats().renewals >= renewals + 4; });
    BOOST_TEST(renewed);
}

task go_on_after_a_step(scene& s, stepping_cluster& c)
{
    co_await connect_all(s.locker(0));
    co_await connect_all(s.locker(1));
    lease held = co_await s.lock(0, with_ttl(3s)).acquire();
    const bool everywhere = co_await c.have_copies(s.resource, 3, 5s);
    BOOST_TEST(everywhere);
    c.clocks[0].step(1h);
    BOOST_TEST(c.ahead(0) >= 3599);
    BOOST_TEST(!has_key(c.nodes[0], s.resource)); // an hour has passed for that node

    lease none = co_await s.lock(1).try_acquire();
    BOOST_TEST(!none);
    co_await renew_some_times(s.locker());
    BOOST_TEST(held.held());
    const bool repaired = co_await c.have_copies(s.resource, 3, 5s);
    BOOST_TEST(repaired);
    const release_outcome outcome = co_await held.release();
    BOOST_TEST(outcome == release_outcome::released);
    co_await acquire_beside_a_fault(s);
}

// For fencing tokens see fenced_mode.cpp.
BOOST_AUTO_TEST_CASE(row_30_a_clock_that_is_set_forward_on_one_node)
{
    stepping_cluster c(3);
    play(c.store(), 2, [&](scene& s) { return go_on_after_a_step(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

task lose_to_a_step(scene& s, stepping_cluster& c)
{
    const auto options = with_ttl(4s);
    co_await connect_all(s.locker(0));
    lease held = co_await s.lock(0, options).acquire();
    const bool everywhere = co_await c.have_copies(s.resource, 3, 5s);
    BOOST_TEST(everywhere);
    c.clocks[0].step(1h);
    c.clocks[1].step(1h);
    const auto stepped = steady::now();
    auto [ec] = co_await held.lost(no_throw);
    BOOST_TEST(ec == errc::lease_lost, ec.message());
    BOOST_TEST((steady::now() < stepped + options.ttl)); // noticed by the next renewal
    BOOST_TEST(!held.held());
    lease next = co_await s.lock(1).acquire();
    BOOST_TEST(next.held());
    auto [late, outcome] = co_await held.release(no_throw);
    BOOST_TEST(outcome == release_outcome::expired);
    BOOST_TEST(c.copies(s.resource) >= c.majority());
}

// Between the step and the next renewal there may be two holders: a lease depends on the clocks. In
// fenced mode a protected store refuses the first holder; see fenced_mode.cpp.
BOOST_AUTO_TEST_CASE(row_31_a_clock_that_is_set_forward_on_a_majority)
{
    stepping_cluster c(3);
    play(c.store(), 2, [&](scene& s) { return lose_to_a_step(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

task go_on_after_a_step_back(scene& s, stepping_cluster& c)
{
    co_await connect_all(s.locker());
    lease held = co_await s.lock(0, with_ttl(3s)).acquire();
    const bool everywhere = co_await c.have_copies(s.resource, 3, 5s);
    BOOST_TEST(everywhere);
    c.clocks[0].step(-1h);
    BOOST_TEST(c.ahead(0) <= -3599);
    BOOST_TEST(std::stol(c.nodes[0].command({"PTTL", s.resource})) > 3'500'000);
    co_await renew_some_times(s.locker());
    BOOST_TEST(held.held());
    BOOST_TEST(
        std::stol(c.nodes[0].command({"PTTL", s.resource})) <= 3000); // corrected by renewals
    const release_outcome outcome = co_await held.release();
    BOOST_TEST(outcome == release_outcome::released);
}

task hold(holdfast::lock lock, lease& to)
{
    to = co_await lock.acquire();
}

task acquire_when_two_are_free(scene& s, stepping_cluster& c, steady::time_point until)
{
    lease next = co_await s.lock(0).acquire();
    BOOST_TEST((steady::now() >= until)); // not before the end of the first lease
    BOOST_TEST(next.held());
    BOOST_TEST(std::stol(c.nodes[0].command({"PTTL", s.resource})) > 3'500'000); // not our key
    const release_outcome outcome = co_await next.release();
    BOOST_TEST(outcome == release_outcome::released);
}

BOOST_AUTO_TEST_CASE(row_32_a_clock_that_is_set_back_on_one_node)
{
    stepping_cluster c(3);
    play(c.store(), 1, [&](scene& s) { return go_on_after_a_step_back(s, c); });
    BOOST_TEST(c.empty_within(0s));

    // A holder that ends without a release. Its key lasts longer on that node, but does not block
    // others.
    scene s(c.store());
    steady::time_point until;
    {
        asio::io_context brief;
        holdfast::locker gone(brief.get_executor(), c.store());
        lease held;
        run(brief, connect_all(gone));
        run(brief, hold(lock(gone, s.resource, unrenewed(5s)), held));
        until = held.valid_until();
        const auto deadline = steady::now() + 5s;
        while (c.copies(s.resource) != 3)
            BOOST_REQUIRE((steady::now() < deadline));
    }
    c.clocks[0].step(-1h);
    run(s.io, acquire_when_two_are_free(s, c, until));
    s.finish();
    BOOST_TEST(!has_key(c.nodes[1], s.resource));
    BOOST_TEST(!has_key(c.nodes[2], s.resource));
}

// A process can be stopped between readings of two clocks. The end of a lease that it then reports
// may be too early, but never too late.
BOOST_AUTO_TEST_CASE(row_33_a_stop_at_any_moment_makes_no_lease_longer)
{
    const auto end = io::now() + 1s;
    const auto latest = steady::now() + 1s;
    const stalled_clock stalled;
    BOOST_TEST((io::to_steady(end) <= latest));
}

// A lease was granted before the machine was suspended for an hour. Timers have stopped too, so the
// first event after that may be any.
struct suspended_holder {
    suspended_holder()
    {
        locker.acquire(1, "A", core::terms_of(lock_options()), forever, false, start);
        store.grant_at_once = false;
        store.grant(store.latest);
        locker.wake(start);
        lease = locker.next_effect()->lease;
        BOOST_TEST(locker.leases().held(lease, start));
        BOOST_TEST(!locker.leases().held(lease, now)); // at once, before any wake()
    }

    void expect_the_end()
    {
        BOOST_REQUIRE((locker.next_effect()->kind == core::effect_kind::must_stop));
        BOOST_TEST((locker.leases().must_stop(lease) == errc::lease_lost));
        BOOST_TEST(!locker.leases().held(lease, now));
        BOOST_TEST((locker.extend(lease, now) == errc::lease_lost));
        BOOST_TEST(locker.release(lease, 7, now));
        const auto told = locker.next_effect();
        BOOST_REQUIRE((told && told->kind == core::effect_kind::released));
        BOOST_TEST(told->outcome == release_outcome::expired);
        const std::vector<std::string> calls{"attempt A", "release A"}; // no renewal
        BOOST_TEST(store.calls == calls, boost::test_tools::per_element());
        locker_stats stats;
        locker.add_to(stats);
        BOOST_TEST(stats.lost == 1u);
        BOOST_TEST(stats.held == 0u);
    }

    scripted_backend store;
    some_bits random;
    core::locker_core locker{store, random, locker_options(), 1};
    core::slot_id lease = 0;
    const core::time_point now = start + 1h;
};

BOOST_AUTO_TEST_CASE(row_34_an_hour_of_suspension_while_holding)
{
    suspended_holder woken;
    woken.locker.wake(woken.now);
    woken.expect_the_end();

    suspended_holder answered; // the late confirmation of an earlier renewal
    answered.store.confirm(answered.store.latest, answered.now + 10s);
    answered.locker.wake(answered.now);
    BOOST_TEST(!answered.locker.leases().held(answered.lease, answered.now));
    answered.expect_the_end();

    suspended_holder extending;
    BOOST_TEST((extending.locker.extend(extending.lease, extending.now) == errc::lease_lost));
    extending.expect_the_end();
}

BOOST_AUTO_TEST_CASE(row_34_our_clock_runs_during_a_suspension)
{
    const auto boot_time = [] {
        timespec t{};
        BOOST_REQUIRE(::clock_gettime(CLOCK_BOOTTIME, &t) == 0);
        return core::time_point(
            std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
    };
    const auto before = boot_time(), between = io::now(), after = boot_time();
    BOOST_TEST((before <= between));
    BOOST_TEST((between <= after));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
