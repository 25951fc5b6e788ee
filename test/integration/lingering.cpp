// Leases that linger, on real nodes: other lockers get them at once, and nothing is left over.
#include "integration/sticky.hpp"
#include "support/cluster.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(lingering)

// A wait that is not noticed would last until the next renewal, 10 s later, or longer.
constexpr auto at_once = 8s;

task use(holdfast::lock lock)
{
    lease held = co_await lock.acquire();
    co_await held.release();
}

task expect_at_once(holdfast::lock lock)
{
    const auto begin = steady::now();
    lease next = co_await lock.acquire();
    BOOST_TEST(next.held());
    BOOST_TEST((steady::now() - begin < at_once));
    co_await next.release();
}

task take_turns(scene& s)
{
    for (int i = 0; i < 20; ++i) {
        const auto which = static_cast<std::size_t>(i) % 2;
        co_await expect_at_once(s.lock(which, sticky()));
        co_await pause(5ms);
        BOOST_TEST(s.locker(which).stats().lost == 0u);
    }
}

BOOST_AUTO_TEST_CASE(another_locker_gets_it_at_once)
{
    cluster c(3);
    scene s(c.store(), 2);
    run(s.io, take_turns(s));
    s.finish();
}

BOOST_AUTO_TEST_CASE(another_locker_gets_it_at_once_with_tokens)
{
    cluster c(3);
    scene s(c.fenced_store({.first_deployment = true}), 2);
    run(s.io, take_turns(s));
    s.finish();
}

// The holder uses it without a pause, so it lingers only for moments.
task use_again_and_again(holdfast::lock lock, const bool& over, std::size_t& uses)
{
    while (!over) {
        lease held = co_await lock.acquire();
        ++uses;
        co_await held.release();
    }
}

task come_now_and_then(scene& s, bool& over, std::size_t& uses)
{
    for (int i = 0; i < 10; ++i) {
        co_await pause(50ms);
        co_await expect_at_once(s.lock(1));
    }
    over = true;
    BOOST_TEST(uses > 100u);
}

BOOST_AUTO_TEST_CASE(a_busy_holder_gives_way)
{
    cluster c(3);
    scene s(c.store(), 2);
    bool over = false;
    std::size_t uses = 0;
    std::vector<task> all;
    all.push_back(use_again_and_again(s.lock(0, sticky()), over, uses));
    all.push_back(come_now_and_then(s, over, uses));
    run(s.io, std::move(all));
    s.finish();
}

// Waits until there have been so many connections to each node.
task connect_all(holdfast::locker& locker, std::uint64_t times)
{
    const auto connected = [times](const node_stats& node) {
        return node.connected && node.connects >= times;
    };
    for (const auto end = steady::now() + 20s; steady::now() < end;) {
        const auto nodes = locker.stats().nodes;
        if (std::all_of(nodes.begin(), nodes.end(), connected))
            co_return;
        co_await pause(1ms);
    }
    BOOST_FAIL("a node did not connect");
}

std::size_t tracked_names(cluster& c)
{
    constexpr std::string_view field = "tracking_total_keys:";
    std::size_t all = 0;
    for (redis_server& node : c.nodes) {
        const std::string info = node.command({"INFO", "stats"});
        all += std::stoul(info.substr(info.find(field) + field.size()));
    }
    return all;
}

task use_many_names(scene& s, cluster& c)
{
    constexpr std::size_t names = 100;
    co_await connect_all(s.locker(), 1);
    for (std::size_t i = 0; i < names; ++i)
        co_await use(holdfast::lock(s.locker(), "name:" + std::to_string(i), sticky()));
    BOOST_TEST(tracked_names(c) >= names - 1); // the last request is perhaps not sent yet
}

// The nodes would keep each name in their memory, even without a client.
BOOST_AUTO_TEST_CASE(names_that_lingered_once_cost_the_nodes_nothing)
{
    cluster c(3);
    scene s(c.store());
    run(s.io, use_many_names(s, c));
    s.finish();
    BOOST_TEST(tracked_names(c) == 0u);
}

// What the nodes were to tell ends with the connections.
task lose_connections(cluster& c, scene& s)
{
    co_await connect_all(s.locker(0), 1);
    co_await use(s.lock(0, sticky()));
    co_await pause(50ms);
    c.command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    c.command({"CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes"});
    co_await connect_all(s.locker(0), 2);
    co_await pause(1s); // the nodes are asked again
    BOOST_TEST(s.locker(0).stats().lingering == 1u);
    co_await expect_at_once(s.lock(1));
}

BOOST_AUTO_TEST_CASE(another_locker_gets_it_after_all_connections_broke)
{
    cluster c(3);
    scene s(c.store(), 2);
    run(s.io, lose_connections(c, s));
    s.finish();
}

task crash_all_keys(cluster& c, scene& s)
{
    co_await use(s.lock(0, sticky()));
    c.command({"DEL", s.resource});
    co_await expect_at_once(s.lock(1));
}

BOOST_AUTO_TEST_CASE(a_key_that_was_deleted_by_hand_frees_it)
{
    cluster c(3);
    scene s(c.store(), 2);
    run(s.io, crash_all_keys(c, s));
    BOOST_TEST(s.locker(0).stats().lost == 0u);
    s.finish();
}

constexpr std::size_t names = 10'000;

task use_some(scene& s, std::size_t first, std::size_t step)
{
    for (std::size_t i = first; i < names; i += step)
        co_await use(holdfast::lock(s.locker(), s.resource + ":" + std::to_string(i), sticky()));
}

BOOST_AUTO_TEST_CASE(a_close_gives_many_back)
{
    cluster c(3);
    scene s(c.store(), 1);
    std::vector<task> all;
    for (std::size_t i = 0; i < 100; ++i)
        all.push_back(use_some(s, i, 100));
    run(s.io, std::move(all));
    BOOST_TEST(s.locker().stats().lingering == names);
    BOOST_TEST(s.locker().stats().held == 0u);
    const auto begin = steady::now();
    s.finish();
    BOOST_TEST((steady::now() - begin < 10s));
    for (std::size_t node = 0; node < c.size(); ++node)
        BOOST_TEST(c.keys(node) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
