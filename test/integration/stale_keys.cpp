// Keys that a process has left on a minority of the nodes because it ended during a release. If one
// of these nodes is the queue node, the key is not handed over there. A waiter that waited for the
// end of the keys, or each time until it asks again by itself, would exceed the hang limit.
#include "support/cluster.hpp"

#include <string>
#include <vector>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(stale_keys)

constexpr std::chrono::milliseconds ttl = 2 * hang_limit;
constexpr auto until_asked_again = 750ms; // by a claim that hears nothing; it may be longer
constexpr int enough = 100;               // waits of that length exceed the limit
static_assert(enough * until_asked_again > hang_limit);

void leave_key(cluster& c, const std::string& name, std::size_t first)
{
    for (const std::size_t node : {first, first + 1})
        c.nodes[node % c.size()].command(
            {"SET", name, std::string(32, 'd'), "PX", std::to_string(ttl.count())});
}

task lock_again_and_again(holdfast::lock lock, int times)
{
    for (int i = 0; i < times; ++i) {
        lease held = co_await lock.acquire(forever);
        co_await held.release();
    }
}

// Locks used right after the end of another process.
BOOST_AUTO_TEST_CASE(a_crowd_of_locks)
{
    constexpr std::size_t crowd = 64;
    cluster c(5);
    scene s(c.store());
    std::vector<task> all;
    for (std::size_t i = 0; i < crowd; ++i) {
        const std::string name = s.resource + ":" + std::to_string(i);
        leave_key(c, name, i);
        all.push_back(lock_again_and_again(holdfast::lock(s.locker(), name), enough));
    }
    run(s.io, std::move(all));
    s.finish();
}

// For all positions of the two keys. The processes take turns after a few leases each.
BOOST_AUTO_TEST_CASE(a_crowd_in_two_processes_for_one_lock)
{
    constexpr std::size_t crowd = 256;
    constexpr int times = 4;
    lock_options options;
    options.handoff_limit = 4;
    static_assert(crowd * times / 5 > enough); // the leases of a turn: 5
    for (std::size_t first = 0; first < 5; ++first) {
        cluster c(5);
        scene s(c.store(), 2);
        leave_key(c, s.resource, first);
        std::vector<task> all;
        for (std::size_t i = 0; i < crowd; ++i)
            all.push_back(lock_again_and_again(s.lock(i % 2, options), times));
        run(s.io, std::move(all));
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
        run(s.io, lock_again_and_again(s.lock(0), enough));
        s.finish();
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
