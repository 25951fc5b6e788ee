// lock_options::min_hold: a resource stays locked after an early release.
#include "contract/backend_contract.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(min_hold)

lock_options once_in(std::chrono::milliseconds period)
{
    lock_options options;
    options.ttl = period;
    options.min_hold = period;
    return options;
}

task run_once(scene& s, const subject& of)
{
    const auto options = once_in(3s);
    co_await connect(s.locker(0));
    co_await connect(s.locker(1));
    const auto begin = steady::now();
    lease first = co_await s.lock(0, options).try_acquire();
    BOOST_TEST_CONTEXT(of)
    {
        BOOST_TEST(first.held());
    }
    const release_outcome outcome = co_await first.release();
    BOOST_TEST_CONTEXT(of)
    {
        BOOST_TEST(outcome == release_outcome::released);
        BOOST_TEST(!first.held());
        BOOST_TEST((steady::now() - begin < 2500ms));
    }
    for (const std::size_t locker : {0u, 1u}) {
        lease none = co_await s.lock(locker, options).try_acquire();
        BOOST_TEST_CONTEXT(of)
        {
            BOOST_TEST(!none);
        }
    }
    lease next = co_await s.lock(1, options).acquire();
    BOOST_TEST_CONTEXT(of)
    {
        BOOST_TEST(next.held());
        BOOST_TEST((steady::now() - begin >= 3s - 5ms)); // Redis rounds
        BOOST_TEST((steady::now() - begin < 6s));
    }
}

BOOST_AUTO_TEST_CASE(it_stays_locked_after_a_release)
{
    play_on_all(2, run_once);
}

task close_early(scene& s, const subject& of)
{
    const auto options = once_in(3s);
    co_await connect(s.locker(1));
    const auto begin = steady::now();
    auto body = [](lease&) -> asio::awaitable<void> {
        co_return;
    };
    co_await s.lock(0, options).hold(body);
    co_await s.locker(0).close();
    lease none = co_await s.lock(1, options).try_acquire();
    BOOST_TEST_CONTEXT(of)
    {
        BOOST_TEST(!none);
    }
    lease next = co_await s.lock(1, options).acquire(of.longest_stay);
    BOOST_TEST_CONTEXT(of)
    {
        BOOST_TEST((steady::now() - begin >= 3s - 5ms));
        BOOST_TEST((steady::now() - begin < of.longest_stay)); // that of the ttl, or of a session
    }
}

BOOST_AUTO_TEST_CASE(it_stays_locked_after_its_locker_was_closed)
{
    play_on_all(2, close_early);
}

task force_it(scene& s)
{
    lock_options options = once_in(9s);
    lease first = co_await s.lock(0, options).acquire();
    co_await first.release();
    co_await s.locker(1).force_release(s.resource);
    lease next = co_await s.lock(1, options).try_acquire();
    BOOST_TEST(next.held());
}

BOOST_DATA_TEST_CASE(an_operator_can_free_it, every_backend(), each)
{
    if (each.takes_away)
        play(each.make(), 2, force_it);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
