// A real Redis Cluster: resources in all shards, slots that move, primaries that are replaced.
#include "integration/cluster_settings.hpp"
#include "support/redis_cluster.hpp"
#include "support/run.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::test {
namespace {

bool has(const std::string& text, std::string_view part)
{
    return text.find(part) != text.npos;
}

std::uint64_t errors_of(const locker& l)
{
    std::uint64_t all = 0;
    for (const node_stats& each : l.stats().nodes)
        all += each.errors;
    return all;
}

// A server closes the connections of its clients when it changes its role.
std::string ask(redis_server& server, const std::vector<std::string>& words)
{
    try {
        return server.command(words);
    } catch (const std::runtime_error&) {
        return server.command(words);
    }
}

task until(const char* what, std::function<bool()> condition)
{
    const auto deadline = steady::now() + patience;
    while (!condition()) {
        if (steady::now() > deadline)
            throw std::runtime_error(std::string("it takes too long until ") + what);
        co_await pause(5ms);
    }
}

BOOST_AUTO_TEST_SUITE(clusters)

task lock_everywhere(scene& s, redis_cluster_servers& servers, std::vector<std::string> names)
{
    std::set<std::size_t> used;
    for (const std::string& name : names) {
        const std::size_t shard = servers.first_owner(name);
        used.insert(shard);
        holdfast::lock mine(s.locker(0), name), other(s.locker(1), name);
        lease held = co_await mine.acquire(patience);
        BOOST_TEST(servers.members[shard].command({"EXISTS", name}) == "1", name);
        lease none = co_await other.try_acquire();
        BOOST_TEST(!none, name);
        const release_outcome outcome = co_await held.release();
        BOOST_TEST((outcome == release_outcome::released), name);
        BOOST_TEST(servers.members[shard].command({"EXISTS", name}) == "0", name);
    }
    BOOST_TEST(used.size() == redis_cluster_servers::primaries);
}

// Names with braces, too: each has its key where every other client of the cluster expects it. The
// queue of a contended name is in the same slot, so no request is an error.
BOOST_AUTO_TEST_CASE(names_in_all_shards)
{
    redis_cluster_servers servers;
    std::vector<std::string> names{"{user:7}:cart", "a}b", "}{", "{}x", "x}{y", "{a{b", "{a}{b}",
        "{", "}", "with space", "{}"};
    for (int i = 0; i < 30; ++i)
        names.push_back("stock:" + std::to_string(i));
    play(redis_cluster(servers.seeds(), quick_options()), 2, [&](scene& s) -> task {
        co_await lock_everywhere(s, servers, names);
        const locker_stats stats = s.locker(0).stats();
        BOOST_TEST(stats.store == "redis cluster");
        BOOST_TEST((stats.guarantee == guarantee::primary));
        BOOST_TEST(stats.nodes.size() == redis_cluster_servers::primaries);
        BOOST_TEST(stats.unreachable == 0u);
        BOOST_TEST(errors_of(s.locker(0)) + errors_of(s.locker(1)) == 0u);
    });
}

task take_turns(
    scene& s, std::size_t who, std::string name, std::function<bool(int)> goes_on, bool& taken)
{
    holdfast::lock mine(s.locker(who), name);
    for (int turn = 0; goes_on(turn); ++turn) {
        lease held = co_await mine.acquire(patience);
        BOOST_TEST(!taken);
        taken = true;
        co_await pause(1ms);
        taken = false;
        co_await held.release();
    }
}

// Two lockers wait for each other in the queue, which is in the slot of the lock.
BOOST_AUTO_TEST_CASE(waiters)
{
    redis_cluster_servers servers;
    const auto store = redis_cluster({servers.seeds()[1]}, quick_options());
    for (const std::string name : {"plain", "{tag}ged", "odd}name"}) {
        scene s(store, 2);
        bool taken = false;
        const auto twenty = [](int turn) {
            return turn < 20;
        };
        std::vector<task> all;
        all.push_back(take_turns(s, 0, name, twenty, taken));
        all.push_back(take_turns(s, 1, name, twenty, taken));
        run(s.io, std::move(all));
        BOOST_TEST(errors_of(s.locker(0)) + errors_of(s.locker(1)) == 0u);
        s.finish();
    }
}

// Other clients lock with SET NX, and put the prefix before the name.
BOOST_AUTO_TEST_CASE(foreign_clients)
{
    redis_cluster_servers servers;
    redlock_options options = quick_options();
    options.key_prefix = "shop:";
    play(redis_cluster(servers.seeds(), options), 1, [&](scene& s) -> task {
        const std::string key = "shop:" + s.resource;
        redis_server& primary = servers.members[servers.first_owner(key)];
        const std::vector<std::string> set{"SET", key, "foreign", "NX", "PX", "60000"};
        lease first = co_await s.lock(0).acquire(patience); // then it is connected
        co_await first.release();
        BOOST_TEST(primary.command(set) == "OK");
        lease none = co_await s.lock(0).try_acquire();
        BOOST_TEST(!none);
        primary.command({"DEL", key});
        lease held = co_await s.lock(0).acquire(patience);
        BOOST_TEST(primary.command(set) == "(nil)");
        co_await held.release();
    });
}

task ask_about_a_lock(scene& s, redis_cluster_servers& servers)
{
    lease held = co_await s.lock(0).acquire(patience);
    holdfast::locker& who = s.locker(0); // is connected
    const auto [inspected, report] = co_await who.inspect(s.resource, no_throw);
    BOOST_TEST(inspected == errc::unreachable);
    BOOST_TEST(!report.held);
    const auto [listed, list] = co_await who.list(s.resource, no_throw);
    BOOST_TEST(listed == errc::unreachable);
    BOOST_TEST(list.locks.empty());
    const auto [taken, forced] = co_await who.force_release(s.resource, no_throw);
    BOOST_TEST(taken == errc::unreachable);
    BOOST_TEST(forced.deleted == 0u);
    for (redis_server& each : servers.members)
        BOOST_TEST(each.command({"KEYS", "holdfast:client:*"}).empty());
    BOOST_TEST(held.held());
    const release_outcome outcome = co_await held.release();
    BOOST_TEST((outcome == release_outcome::released));
}

BOOST_AUTO_TEST_CASE(locks_cannot_be_inspected_or_taken_away)
{
    redis_cluster_servers servers;
    play(redis_cluster(servers.seeds(), quick_options()), 1,
        [&](scene& s) { return ask_about_a_lock(s, servers); });
}

task hold_many(scene& s, std::size_t count)
{
    std::vector<lease> all;
    for (std::size_t i = 0; i < count; ++i) {
        holdfast::lock mine(s.locker(), "many:" + std::to_string(i), with_ttl(6s));
        all.push_back(co_await mine.acquire(patience));
    }
    co_await until(
        "each lease was renewed", [&] { return s.locker().stats().renewals >= 2 * count; });
    const auto held =
        std::count_if(all.begin(), all.end(), [](const lease& each) { return each.held(); });
    BOOST_TEST(static_cast<std::size_t>(held) == count);
    BOOST_TEST(s.locker().stats().lost == 0u);
    BOOST_TEST(errors_of(s.locker()) == 0u);
}

BOOST_AUTO_TEST_CASE(many_leases)
{
    redis_cluster_servers servers;
    play(redis_cluster(servers.seeds(), quick_options()), 1,
        [](scene& s) { return hold_many(s, 1'000); });
}

// The slot goes round while processes take turns, and once more between a grant and its release.
task move_slowly(redis_cluster_servers& servers, std::string name, bool& moved)
{
    for (std::size_t step = 0; step < 6; ++step) {
        co_await pause(100ms);
        servers.begin_move(name, step % 3, (step + 1) % 3);
        co_await pause(20ms);
        servers.end_move(name, step % 3, (step + 1) % 3);
    }
    co_await pause(100ms);
    moved = true;
}

task release_after_a_move(scene& s, redis_cluster_servers& servers)
{
    const std::string name = servers.name_at(1, "released:");
    holdfast::lock mine(s.locker(0), name, with_ttl(30s));
    lease held = co_await mine.acquire(patience);
    servers.begin_move(name, 1, 0);
    servers.end_move(name, 1, 0);
    const release_outcome outcome = co_await held.release();
    BOOST_TEST((outcome == release_outcome::released));
    BOOST_TEST(servers.members[0].command({"EXISTS", name}) == "0");
}

BOOST_AUTO_TEST_CASE(slot_moves_under_waiters)
{
    redis_cluster_servers servers;
    scene s(redis_cluster(servers.seeds(), quick_options()), 2);
    const std::string name = servers.name_at(0, "busy:");
    bool taken = false, moved = false;
    const auto until_moved = [&moved](int) {
        return !moved;
    };
    std::vector<task> all;
    all.push_back(take_turns(s, 0, name, until_moved, taken));
    all.push_back(take_turns(s, 1, name, until_moved, taken));
    all.push_back(move_slowly(servers, name, moved));
    run(s.io, std::move(all));
    run(s.io, release_after_a_move(s, servers));
    BOOST_TEST(s.locker(0).stats().lost + s.locker(1).stats().lost == 0u);
    s.finish();
}

task follow_a_switch(scene& s, redis_cluster_servers& servers)
{
    redis_server& replica = servers.members[redis_cluster_servers::primaries];
    const std::string name = servers.name_at(0, "switched:");
    holdfast::lock mine(s.locker(), name, with_ttl(12s));
    lease held = co_await mine.acquire(patience);
    BOOST_TEST(ask(replica, {"READONLY"}) == "OK");
    co_await until("the replica has the key", [&] {
        return ask(replica, {"EXISTS", name}) == "1";
    });
    BOOST_TEST(ask(replica, {"CLUSTER", "FAILOVER", "TAKEOVER"}) == "OK");
    const std::string port = std::to_string(replica.port());
    co_await until("the new primary is used", [&] {
        const std::vector<node_stats> nodes = s.locker().stats().nodes;
        return std::any_of(nodes.begin(), nodes.end(),
            [&](const node_stats& each) { return each.connected && has(each.address, port); });
    });
    co_await held.extend(); // the new primary has the key
    BOOST_TEST(held.held());
    const release_outcome outcome = co_await held.release();
    BOOST_TEST((outcome == release_outcome::released));
}

// Only an error, or the end of a connection, tells that the primary is another one.
BOOST_AUTO_TEST_CASE(planned_switch)
{
    redis_cluster_servers servers(1);
    play(redis_cluster(servers.seeds(), quick_options()), 1,
        [&](scene& s) { return follow_a_switch(s, servers); });
}

task survive_a_crash(scene& s, redis_cluster_servers& servers)
{
    holdfast::lock there(s.locker(), servers.name_at(0, "there:"), with_ttl(1s));
    holdfast::lock elsewhere(s.locker(), servers.name_at(1, "elsewhere:"), with_ttl(10s));
    lease held = co_await there.acquire(patience);
    lease safe = co_await elsewhere.acquire(patience);
    servers.members[0].kill();
    auto [lost] = co_await held.lost(no_throw);
    BOOST_TEST(lost == errc::lease_lost, lost.message());
    lease next = co_await there.acquire(patience);
    BOOST_TEST(next.held());
    BOOST_TEST(safe.held()); // other primaries are not affected
    co_await next.release();
    co_await safe.release();
}

BOOST_AUTO_TEST_CASE(primary_dies)
{
    redis_cluster_servers servers(1);
    play(redis_cluster(servers.seeds(), quick_options()), 1,
        [&](scene& s) { return survive_a_crash(s, servers); });
}

task fail_with(scene& s, errc expected, std::string_view reason)
{
    auto [ec, none] = co_await s.lock(0).acquire(patience, no_throw);
    BOOST_TEST(ec == expected, ec.message());
    const std::string said = describe_nodes(s.locker().stats());
    BOOST_TEST(has(said, reason), said);
    BOOST_TEST(!has(said, "s3cret"), said);
}

// What is wrong for good fails at once. One seed that answers is enough.
BOOST_AUTO_TEST_CASE(logins_and_seeds)
{
    redis_cluster_servers servers(
        0, {"--requirepass", "s3cret", "--masterauth", "s3cret"}, "s3cret");
    redis_server lone;
    const auto url = [&](const std::string& login, std::size_t member) {
        return "redis://" + login + "127.0.0.1:" + std::to_string(servers.members[member].port());
    };
    play(redis_cluster({url(":s3cret@", 0)}, quick_options()), 1, [&](scene& s) -> task {
        lease held = co_await s.lock(0).acquire(patience);
        co_await held.release();
    });
    play(redis_cluster({lone.url(), url("", 1)}, quick_options()), 1,
        [](scene& s) { return fail_with(s, errc::misconfigured_node, "no member of a cluster"); });
    play(redis_cluster({url(":wrong-s3cret@", 1)}, quick_options()), 1, [](scene& s) {
        return fail_with(s, errc::authentication_failed, "refused the user name");
    });
    redlock_options options = quick_options();
    options.credentials = [](const endpoint&) {
        return credentials{.user = {}, .password = "s3cret"};
    };
    play(redis_cluster({lone.url(), url("", 2)}, options), 1, [&](scene& s) -> task {
        lease held = co_await s.lock(0).acquire(patience);
        co_await held.release();
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
