// The class lease.
#include "contract/backend_contract.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(leases)

BOOST_DATA_TEST_CASE(the_destructor_releases, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        {
            lease held = co_await s.lock(0).acquire();
            BOOST_TEST(held.resource() == s.resource);
        }
        const auto gone = steady::now();
        lease next = co_await s.lock(1).acquire();
        BOOST_TEST((steady::now() - gone < 5s)); // the ttl is 10 s
        BOOST_TEST(next.held());
    });
}

BOOST_DATA_TEST_CASE(a_moved_from_lease_is_empty, every_backend(), each)
{
    play(each.make(), 2, [](scene& s) -> task {
        lease held = co_await s.lock(0).acquire();
        const auto fence = held.fence();
        lease moved(std::move(held));
        BOOST_TEST(!held); // NOLINT: the state of a moved-from lease is documented
        BOOST_TEST(!held.held());
        BOOST_TEST(!held.fence());
        BOOST_TEST(held.resource().empty());
        BOOST_TEST((held.valid_until() == steady::time_point::min()));
        BOOST_TEST(moved.held());
        BOOST_TEST(bool(moved.fence() == fence));

        held = lease(); // an assignment to the moved-from lease does not release
        lease other = co_await s.lock(1).try_acquire();
        BOOST_TEST(!other);

        moved = lease(); // this assignment does
        lease next = co_await s.lock(1).acquire(5s);
        BOOST_TEST(next.held());
    });
}

BOOST_DATA_TEST_CASE(a_self_move_keeps_the_lease, every_backend(), each)
{
    play(each.make(), 1, [](scene& s) -> task {
        lease held = co_await s.lock(0).acquire();
        lease& same = held;
        held = std::move(same);
        BOOST_TEST(held.held());
    });
}

BOOST_DATA_TEST_CASE(an_empty_lease_reports_not_held, every_backend(), each)
{
    play(each.make(), 1, [](scene&) -> task {
        lease none;
        BOOST_TEST(!none);
        BOOST_TEST(!none.held());
        auto [lost] = co_await none.lost(no_throw);
        BOOST_TEST(lost == errc::not_held);
        auto [extended] = co_await none.extend(no_throw);
        BOOST_TEST(extended == errc::not_held);
        auto [released, outcome] = co_await none.release(no_throw);
        BOOST_TEST(released == errc::not_held);
        BOOST_TEST(outcome == release_outcome::expired);
    });
}

BOOST_DATA_TEST_CASE(a_release_completes_lost, every_backend(), each)
{
    play(each.make(), 1, [](scene& s) -> task {
        lease held = co_await s.lock(0).acquire();
        call<> one, two;
        held.lost(one.token());
        held.lost(two.token());
        co_await held.release();
        while (!one.done() || !two.done())
            co_await pause(1ms);
        BOOST_TEST(one.error() == errc::not_held);
        BOOST_TEST(two.error() == errc::not_held);
    });
}

task compare_tokens(scene& s, bool fenced)
{
    std::optional<std::uint64_t> last;
    for (std::size_t i = 0; i < 6; ++i) {
        lease held = co_await s.lock(i % 2).acquire();
        BOOST_REQUIRE(held.fence().has_value() == fenced);
        BOOST_TEST(bool(!fenced || !last || *last < *held.fence()));
        last = held.fence();
        co_await held.release();
    }
}

BOOST_DATA_TEST_CASE(fencing_tokens_increase_where_supported, every_backend(), each)
{
    play(each.make(), 2, [&](scene& s) { return compare_tokens(s, each.has_tokens); });
}

BOOST_DATA_TEST_CASE(a_lease_may_outlive_its_locker, every_backend(), each)
{
    scene s(each.make(), 1);
    lease held;
    {
        holdfast::locker brief_life(s.io.get_executor(), each.make());
        const holdfast::lock lock(brief_life, s.resource);
        run(s.io, [](holdfast::lock what, lease& to) -> task {
            to = co_await what.acquire();
        }(lock, held));
        BOOST_TEST(held.held());
    }
    call<> lost;
    held.lost(lost.token());
    run_until(s.io, [&] { return lost.done(); });
    BOOST_TEST(lost.error() == errc::lease_lost);
    held = lease();
    run(s.io, [](scene& all) -> task {
        lease next = co_await all.lock(0).acquire(5s);
        BOOST_TEST(next.held());
    }(s));
    s.finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
