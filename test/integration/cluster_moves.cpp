// A real Redis Cluster with a slot that moves, and in the middle of that.
#include "integration/cluster_settings.hpp"
#include "support/redis_cluster.hpp"
#include "support/run.hpp"

#include <stdexcept>
#include <string>

namespace holdfast::test {
namespace {

task until_renewed(const locker& l, std::uint64_t renewals)
{
    const auto deadline = steady::now() + patience;
    while (l.stats().renewals < renewals) {
        if (steady::now() > deadline)
            throw std::runtime_error("it takes too long until the lease was renewed");
        co_await pause(5ms);
    }
}

BOOST_AUTO_TEST_SUITE(cluster_moves)

task move_under_a_lease(scene& s, redis_cluster_servers& servers)
{
    const std::string name = servers.name_at(0, "moved:");
    holdfast::lock mine(s.locker(0), name, with_ttl(6s));
    holdfast::lock other(s.locker(1), name, with_ttl(6s));
    lease held = co_await mine.acquire(patience);

    servers.begin_move(name, 0, 2);
    co_await held.extend(); // the key is still at the old primary
    servers.end_move(name, 0, 2);
    BOOST_TEST(servers.members[2].command({"EXISTS", name}) == "1");
    const std::uint64_t renewals = s.locker(0).stats().renewals;
    co_await until_renewed(s.locker(0), renewals + 2); // at the new primary
    BOOST_TEST(held.held());
    lease none = co_await other.try_acquire(); // finds the new primary by itself
    BOOST_TEST(!none);
    const release_outcome outcome = co_await held.release();
    BOOST_TEST((outcome == release_outcome::released));
    BOOST_TEST(servers.members[2].command({"EXISTS", name}) == "0");
    lease next = co_await other.acquire(patience);
    BOOST_TEST(next.held());
    co_await next.release();
}

BOOST_AUTO_TEST_CASE(slot_moves_under_a_lease)
{
    redis_cluster_servers servers;
    play(redis_cluster(servers.seeds(), quick_options()), 2,
        [&](scene& s) { return move_under_a_lease(s, servers); });
}

// In the middle of a move, each key is at one of the two primaries.
task lock_in_a_moving_slot(scene& s, redis_cluster_servers& servers)
{
    const std::string tag = "{" + servers.name_at(0, "moving:") + "}";
    const std::string name = tag + "held", later = tag + "later"; // in one slot
    holdfast::lock mine(s.locker(0), name, with_ttl(6s)), same(s.locker(1), name, with_ttl(6s));
    holdfast::lock next(s.locker(0), later, with_ttl(6s)), other(s.locker(1), later, with_ttl(6s));
    lease held = co_await mine.acquire(patience);
    servers.begin_move(name, 0, 2);

    lease ahead = co_await next.acquire(patience);
    BOOST_TEST(servers.has_key(2, later));
    BOOST_TEST(servers.has_key(0, name)); // stays where it is
    co_await held.extend();
    lease none = co_await same.try_acquire();
    BOOST_TEST(!none);
    none = co_await other.try_acquire();
    BOOST_TEST(!none);
    BOOST_TEST(!servers.has_key(2, name));

    servers.move_keys(name, 0, 2);
    co_await ahead.extend();
    co_await held.extend();
    none = co_await same.try_acquire();
    BOOST_TEST(!none);
    BOOST_TEST(!servers.has_key(0, name));
    const release_outcome outcome = co_await ahead.release();
    BOOST_TEST((outcome == release_outcome::released));
    BOOST_TEST(!servers.has_key(2, later));
    ahead = co_await other.acquire(patience);

    servers.end_move(name, 0, 2);
    co_await held.extend();
    const release_outcome last = co_await held.release();
    BOOST_TEST((last == release_outcome::released));
    held = co_await same.acquire(patience);
    co_await held.release();
    co_await ahead.release();
    BOOST_TEST(!servers.has_key(2, name));
    BOOST_TEST(s.locker(0).stats().lost + s.locker(1).stats().lost == 0u);
}

BOOST_AUTO_TEST_CASE(slot_on_its_way)
{
    redis_cluster_servers servers;
    play(redis_cluster(servers.seeds(), quick_options()), 2,
        [&](scene& s) { return lock_in_a_moving_slot(s, servers); });
}

// The key goes ahead while its lease is released, and no other client has asked.
task release_in_a_moving_slot(scene& s, redis_cluster_servers& servers)
{
    const std::string name = servers.name_at(0, "left:");
    holdfast::lock mine(s.locker(), name, with_ttl(30s));
    lease held = co_await mine.acquire(patience);
    servers.begin_move(name, 0, 2);
    servers.move_keys(name, 0, 2);
    const release_outcome outcome = co_await held.release();
    BOOST_TEST((outcome == release_outcome::released));
    BOOST_TEST(!servers.has_key(0, name));
    BOOST_TEST(!servers.has_key(2, name));
}

BOOST_AUTO_TEST_CASE(release_in_the_middle_of_a_move)
{
    redis_cluster_servers servers;
    play(redis_cluster(servers.seeds(), quick_options()), 1,
        [&](scene& s) { return release_in_a_moving_slot(s, servers); });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
