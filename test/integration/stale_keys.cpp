// Keys that a process has left on a minority of the nodes because it ended during a release. If one
// of these nodes is the queue node, the key is not handed over there. The ttl of the keys is long:
// a waiter that waited for its end, or for a second each time, would exceed the limit.
#include "support/cluster.hpp"

#include <string>
#include <vector>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(stale_keys)

constexpr auto in_time = 15s; // half the ttl of the stale keys; far less than one second a lock
constexpr std::size_t crowd = 256;

void leave_key(cluster& c, const std::string& name, std::size_t first)
{
    for (const std::size_t node : {first, first + 1})
        c.nodes[node % c.size()].command({"SET", name, std::string(32, 'd'), "PX", "30000"});
}

task lock_again_and_again(holdfast::lock lock, int times)
{
    for (int i = 0; i < times; ++i) {
        lease held = co_await lock.acquire(20s);
        co_await held.release();
    }
}

template <class LockOf>
steady::duration run_crowd(scene& s, int times, LockOf lock_of)
{
    std::vector<task> all;
    for (std::size_t i = 0; i < crowd; ++i)
        all.push_back(lock_again_and_again(lock_of(i), times));
    const auto begin = steady::now();
    run(s.io, std::move(all));
    return steady::now() - begin;
}

// Locks used right after the end of another process.
BOOST_AUTO_TEST_CASE(a_crowd_of_locks)
{
    cluster c(5);
    scene s(c.store());
    const auto name_of = [&](std::size_t i) {
        return s.resource + ":" + std::to_string(i);
    };
    for (std::size_t i = 0; i < crowd; ++i)
        leave_key(c, name_of(i), i);
    const auto took =
        run_crowd(s, 20, [&](std::size_t i) { return holdfast::lock(s.locker(), name_of(i)); });
    BOOST_TEST((took < in_time), took / 1ms << " ms");
    s.finish();
}

// For all positions of the two keys.
BOOST_AUTO_TEST_CASE(a_crowd_in_two_processes_for_one_lock)
{
    for (std::size_t first = 0; first < 5; ++first) {
        cluster c(5);
        scene s(c.store(), 2);
        leave_key(c, s.resource, first);
        const auto took = run_crowd(s, 4, [&](std::size_t i) { return s.lock(i % 2); });
        BOOST_TEST((took < in_time), took / 1ms << " ms");
        s.finish();
    }
}

// Acquires that follow each other.
BOOST_AUTO_TEST_CASE(each_of_many_acquires)
{
    for (std::size_t first = 0; first < 5; ++first) {
        cluster c(5);
        scene s(c.store());
        leave_key(c, s.resource, first);
        run(s.io, [](holdfast::lock lock) -> task {
            constexpr int times = 30;
            steady::duration took{};
            for (int i = 0; i < times; ++i) {
                const auto begin = steady::now();
                lease held = co_await lock.acquire();
                took += steady::now() - begin;
                co_await held.release();
            }
            BOOST_TEST((took < times * 400ms), took / 1ms << " ms"); // one may be delayed
        }(s.lock(0)));
        s.finish();
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
