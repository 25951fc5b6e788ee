// lock_options::linger: a lease stays with its locker after a release.
#include "contract/backend_contract.hpp"

#include <cstdint>
#include <string_view>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(lingering)

lock_options sticky(std::chrono::milliseconds linger)
{
    lock_options options = brief();
    options.linger = linger;
    options.handoff_time = 60s; // others are due no turn
    return options;
}

task use_again(scene& s, bool has_tokens)
{
    const auto lock = s.lock(0, sticky(30s));
    std::uint64_t last = 0;
    for (int i = 0; i < 200; ++i) {
        lease held = co_await lock.acquire();
        BOOST_REQUIRE(held.held());
        BOOST_REQUIRE(held.fence().has_value() == has_tokens);
        BOOST_REQUIRE((!has_tokens || *held.fence() > last));
        last = held.fence().value_or(0);
        const release_outcome outcome = co_await held.release();
        BOOST_REQUIRE(outcome == release_outcome::released);
        BOOST_REQUIRE(!held.held());
    }
    const locker_stats now = s.locker(0).stats();
    BOOST_TEST(now.acquired == 200u);
    BOOST_TEST(now.held == 0u);
    BOOST_TEST(now.lingering == 1u);
    BOOST_TEST(now.attempts <= 10u); // tokens come in blocks
    BOOST_TEST(now.resumed == 200u - now.attempts);
}

BOOST_DATA_TEST_CASE(the_next_acquire_makes_no_attempt, every_backend(), each)
{
    play(each.make(), 2, [&](scene& s) { return use_again(s, each.has_tokens); });
}

task wait_for_the_end(scene& s, bool has_tokens)
{
    lease first = co_await s.lock(0, sticky(500ms)).acquire();
    const std::uint64_t token = first.fence().value_or(0);
    const auto begin = steady::now();
    co_await first.release();
    lease next = co_await s.lock(1, brief()).acquire();
    BOOST_TEST(next.held());
    BOOST_TEST((!has_tokens || *next.fence() > token));
    BOOST_TEST((steady::now() - begin < 3s));
}

// At once where the store tells, and after the time where it cannot.
BOOST_DATA_TEST_CASE(another_locker_gets_it, every_backend(), each)
{
    play(each.make(), 2, [&](scene& s) { return wait_for_the_end(s, each.has_tokens); });
}

task come_early(scene& s)
{
    lock_options options = sticky(60s);
    options.ttl = 30s; // the next renewal comes too late to notice
    lease first = co_await s.lock(0, options).acquire();
    co_await first.release();
    const auto begin = steady::now();
    lease next = co_await s.lock(1, options).acquire();
    BOOST_TEST(next.held());
    BOOST_TEST((steady::now() - begin < 5s));
}

BOOST_DATA_TEST_CASE(a_store_tells_that_another_locker_waits, every_backend(), each)
{
    if (std::string_view(each.name) != "memory") // it cannot
        play(each.make(), 2, come_early);
}

task outlive_a_ttl(scene& s, const subject& of)
{
    const auto lock = s.lock(0, sticky(30s));
    co_await connect(s.locker(1));
    lease first = co_await lock.acquire();
    co_await first.release();
    co_await pause(4s); // longer than the ttl
    lease none = co_await s.lock(1, brief()).try_acquire();
    BOOST_TEST_CONTEXT(of)
    {
        BOOST_TEST(!none);
    }
    lease next = co_await lock.try_acquire();
    BOOST_TEST_CONTEXT(of)
    {
        BOOST_TEST(next.held());
        BOOST_TEST(s.locker(0).stats().attempts == 1u);
    }
}

BOOST_AUTO_TEST_CASE(it_is_renewed)
{
    play_on_all(2, outlive_a_ttl);
}

task use_with_another_ttl(scene& s)
{
    lease first = co_await s.lock(0, sticky(30s)).acquire();
    co_await first.release();
    lock_options other = sticky(30s);
    other.ttl = 10s;
    lease next = co_await s.lock(0, other).acquire();
    BOOST_TEST(next.held());
    BOOST_TEST((next.valid_until() > steady::now() + 3500ms));
    BOOST_TEST(s.locker(0).stats().attempts == 2u);
}

BOOST_DATA_TEST_CASE(a_lock_on_other_terms_gets_a_new_lease, every_backend(), each)
{
    play(each.make(), 1, use_with_another_ttl);
}

task close_early(scene& s)
{
    {
        lease dropped = co_await s.lock(0, sticky(30s)).acquire();
    }
    BOOST_TEST(s.locker(0).stats().lingering == 1u);
    co_await s.locker(0).close();
    BOOST_TEST(s.locker(0).stats().lingering == 0u);
    lease next = co_await s.lock(1, brief()).try_acquire();
    BOOST_TEST(next.held());
}

BOOST_DATA_TEST_CASE(a_close_gives_it_back, every_backend(), each)
{
    play(each.make(), 2, close_early);
}

task drain_early(scene& s)
{
    lease first = co_await s.lock(0, sticky(30s)).acquire();
    co_await first.release();
    co_await s.locker(0).drain(10s);
    BOOST_TEST(s.locker(0).stats().lingering == 0u);
    lease next = co_await s.lock(1, brief()).acquire();
    BOOST_TEST(next.held());
}

BOOST_DATA_TEST_CASE(a_drain_gives_it_back, every_backend(), each)
{
    play(each.make(), 2, drain_early);
}

task force_it(scene& s)
{
    const auto lock = s.lock(0, sticky(30s));
    lease first = co_await lock.acquire();
    co_await first.release();
    co_await s.locker(1).force_release(s.resource);
    lease other = co_await s.lock(1, brief()).acquire();
    BOOST_TEST(other.held());
    BOOST_TEST(s.locker(0).stats().lost == 0u);
    co_await other.release();
    lease next = co_await lock.acquire();
    BOOST_TEST(next.held());
}

BOOST_DATA_TEST_CASE(an_operator_can_free_it, every_backend(), each)
{
    if (each.takes_away && std::string_view(each.name) != "memory")
        play(each.make(), 2, force_it);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
