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

BOOST_AUTO_TEST_CASE(renewal_keeps_a_lease_for_several_ttls)
{
    play_on_all(2, [](scene& s, const subject& each) -> task {
        const auto options = brief();
        lease held = co_await s.lock(0, options).acquire();
        const auto first_end = held.valid_until();

        auto [ec, other] = co_await s.lock(1).acquire(3 * options.ttl, no_throw);
        BOOST_TEST_CONTEXT(each)
        {
            BOOST_TEST(ec == errc::contended);
            BOOST_TEST(held.held());
            BOOST_TEST((held.valid_until() > first_end));
            BOOST_TEST(s.locker().stats().renewals >= 3u);
        }
    });
}

BOOST_AUTO_TEST_CASE(an_extension_postpones_the_end)
{
    play_on_all(2, [](scene& s, const subject& each) -> task {
        auto options = unrenewed(3s);
        options.guard = 100ms; // else it would end before the second extension on a busy machine
        lease held = co_await s.lock(0, options).acquire();
        const auto first_end = held.valid_until();
        for (int i = 0; i < 3; ++i) {
            co_await pause(options.ttl / 3);
            const auto before = held.valid_until();
            co_await held.extend();
            BOOST_TEST_CONTEXT(each)
            {
                BOOST_TEST((held.valid_until() > before));
            }
        }
        const auto last_end = held.valid_until();
        BOOST_TEST_CONTEXT(each)
        {
            BOOST_TEST((steady::now() >= first_end));
            BOOST_TEST(held.held());
        }

        lease other = co_await s.lock(1).acquire();
        BOOST_TEST_CONTEXT(each)
        {
            BOOST_TEST((steady::now() >= last_end));
        }
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

// A waiter is granted the lock in a locker of its own meanwhile.
task note_loss_and_grant(scene& s, const subject& each)
{
    lease held = co_await s.lock(0, warned_early()).acquire();
    const auto ends = held.valid_until();
    error_code why, failed;
    steady::time_point lost, granted;
    held.lost([&](error_code ec) {
        why = ec;
        lost = steady::now();
    });
    s.lock(1).acquire([&](error_code ec, const lease&) {
        failed = ec;
        granted = steady::now();
    });
    while (lost == steady::time_point() || granted == steady::time_point())
        co_await pause(1ms);
    BOOST_TEST_CONTEXT(each)
    {
        BOOST_TEST(why == errc::lease_lost);
        BOOST_TEST(!failed, failed.message());
        BOOST_TEST((lost < granted));
        BOOST_TEST((lost < ends));
        BOOST_TEST((ends <= granted));
    }
}

BOOST_AUTO_TEST_CASE(a_holder_is_told_of_the_loss_before_another_grant)
{
    play_on_all(2, note_loss_and_grant);
}

BOOST_AUTO_TEST_CASE(max_hold_ends_even_a_renewed_lease)
{
    play_on_all(2, [](scene& s, const subject& each) -> task {
        auto options = brief();
        options.max_hold = 3500ms;
        const auto asked = steady::now();
        lease held = co_await s.lock(0, options).acquire();
        auto [ec] = co_await held.lost(no_throw);
        BOOST_TEST_CONTEXT(each)
        {
            BOOST_TEST(ec == errc::lease_lost);
            BOOST_TEST((steady::now() > asked + options.ttl));
        }
        lease other = co_await s.lock(1).acquire();
        BOOST_TEST_CONTEXT(each)
        {
            BOOST_TEST(!held.held());
        }
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
