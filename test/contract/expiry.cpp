// Leases and time. All times are of one monotonic clock.
#include "contract/backend_contract.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(expiry)

BOOST_DATA_TEST_CASE(an_unrenewed_lease_ends_after_its_ttl_and_not_before, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        const auto options = unrenewed();
        const auto asked = steady::now();
        lease held = co_await s.lock(0, options).acquire();
        const auto ends = held.valid_until();
        BOOST_TEST((ends > asked));
        BOOST_TEST((ends < steady::now() + options.ttl));

        lease other = co_await s.lock(1).acquire();
        const auto granted = steady::now();
        BOOST_TEST((granted >= ends));
        BOOST_TEST((granted < asked + options.ttl + 5s)); // the waiter notices the end
        BOOST_TEST(!held.held());
        BOOST_TEST((held.valid_until() <= granted));
    });
}

BOOST_DATA_TEST_CASE(renewal_keeps_a_lease_for_several_ttls, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        const auto options = brief();
        lease held = co_await s.lock(0, options).acquire();
        const auto first_end = held.valid_until();

        auto [ec, other] = co_await s.lock(1).acquire(3 * options.ttl, no_throw);
        BOOST_TEST(ec == errc::contended);
        BOOST_TEST(held.held());
        BOOST_TEST((held.valid_until() > first_end));
        BOOST_TEST(s.locker().stats().renewals >= 3u);
    });
}

BOOST_DATA_TEST_CASE(an_extension_postpones_the_end, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        auto options = unrenewed(3s);
        options.guard = 100ms; // else it would end before the second extension on a busy machine
        lease held = co_await s.lock(0, options).acquire();
        const auto first_end = held.valid_until();
        for (int i = 0; i < 3; ++i) {
            co_await pause(options.ttl / 3);
            const auto before = held.valid_until();
            co_await held.extend();
            BOOST_TEST((held.valid_until() > before));
        }
        const auto last_end = held.valid_until();
        BOOST_TEST((steady::now() >= first_end));
        BOOST_TEST(held.held());

        lease other = co_await s.lock(1).acquire();
        BOOST_TEST((steady::now() >= last_end));
    });
}

BOOST_DATA_TEST_CASE(a_lease_that_ended_cannot_be_extended, every_backend(), each)
{
    play(each.make(), 1, [](scene& s) -> task {
        const auto options = unrenewed();
        lease held = co_await s.lock(0, options).acquire();
        co_await pause(options.ttl);
        auto [late] = co_await held.extend(no_throw);
        BOOST_TEST(late == errc::lease_lost);

        lease released = co_await s.lock(0, options).acquire();
        co_await released.release();
        auto [ec] = co_await released.extend(no_throw);
        BOOST_TEST(ec == errc::not_held);
    });
}

task note_loss(lease& held, steady::time_point& when)
{
    auto [ec] = co_await held.lost(no_throw);
    when = steady::now();
    BOOST_TEST(ec == errc::lease_lost);
}

task note_grant(holdfast::lock lock, steady::time_point& when)
{
    lease granted = co_await lock.acquire();
    when = steady::now();
}

BOOST_DATA_TEST_CASE(a_holder_is_told_of_the_loss_before_another_grant, every_backend(), each)
{
    scene s(each.make(), 2);
    lease held;
    run(s.io, [](scene& all, lease& to) -> task {
        to = co_await all.lock(0, warned_early()).acquire();
    }(s, held));
    const auto ends = held.valid_until();

    steady::time_point lost, granted;
    std::vector<task> both;
    both.push_back(note_loss(held, lost));
    both.push_back(note_grant(s.lock(1), granted));
    run(s.io, std::move(both));
    BOOST_TEST((lost < granted));
    BOOST_TEST((lost < ends));
    BOOST_TEST((ends <= granted));
    s.finish();
}

BOOST_DATA_TEST_CASE(max_hold_ends_even_a_renewed_lease, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        auto options = brief();
        options.max_hold = 3500ms;
        const auto asked = steady::now();
        lease held = co_await s.lock(0, options).acquire();
        auto [ec] = co_await held.lost(no_throw);
        BOOST_TEST(ec == errc::lease_lost);
        BOOST_TEST((steady::now() > asked + options.ttl));
        lease other = co_await s.lock(1).acquire();
        BOOST_TEST(!held.held());
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
