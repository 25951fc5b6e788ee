// Clients that poll get a resource that lockers use without a pause.
#include "support/cluster.hpp"

#include "redis/node/scripts.hpp"

#include <string>
#include <vector>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(polling)

constexpr auto period = 1s, length = 6 * period;
constexpr int enough = 4; // windows used in that time

// A window of 40 ms once per second.
lock_options busy()
{
    lock_options options;
    options.wait = 30s;
    options.handoff_time = 500ms;
    options.polling_window = 40ms;
    return options;
}

// `think`: the pause between two leases.
task use(holdfast::lock lock, steady::duration think, steady::time_point end, int& leases)
{
    while (steady::now() < end) {
        lease held = co_await lock.acquire();
        ++leases;
        co_await pause(5ms);
        co_await held.release();
        if (think > 0s)
            co_await pause(think);
    }
}

// Polls as other Redlock clients do, on all nodes.
task poll(cluster& c, std::string key, steady::time_point end, int& leases)
{
    const std::vector<std::string> take{"SET", key, "other", "NX", "PX", "1000"};
    const std::vector<std::string> give_back{
        "EVAL", std::string(redis::release_script.text), "1", key, "other"};
    while (steady::now() < end) {
        std::size_t granted = 0;
        for (auto& node : c.nodes)
            granted += node.command(take) == "OK" ? 1u : 0u;
        leases += granted >= c.majority() ? 1 : 0;
        c.command(give_back);
        co_await pause(20ms);
    }
}

BOOST_AUTO_TEST_CASE(a_redlock_client_beside_two_processes)
{
    cluster c(3);
    scene s(c.store(), 2);
    const auto end = steady::now() + length;
    int ours = 0, theirs = 0;
    std::vector<task> all;
    for (std::size_t user = 0; user < 8; ++user)
        all.push_back(use(s.lock(user % 2, busy()), 0s, end, ours));
    all.push_back(poll(c, s.resource, end, theirs));
    run(s.io, std::move(all));

    BOOST_TEST(theirs >= enough);
    BOOST_TEST(ours >= 20 * theirs);
    s.finish();
}

// The user of docs/operation.md without the rights for the queue, which are in its last line.
backend without_a_queue(cluster& c)
{
    std::vector<endpoint> nodes;
    for (auto& node : c.nodes) {
        BOOST_REQUIRE(
            node.command({"ACL", "SETUSER", "worker", "on", ">secret", "~test:*", "-@all", "+hello",
                "+auth", "+client|setname", "+info", "+role", "+select", "+script|load", "+evalsha",
                "+eval", "+get", "+set", "+del", "+pexpire", "+pttl", "+type"}) == "OK");
        std::string url = node.url();
        nodes.emplace_back(url.insert(url.find("//") + 2, "worker:secret@"));
    }
    return redlock(nodes);
}

BOOST_AUTO_TEST_CASE(a_locker_without_the_queue_beside_one_process)
{
    cluster c(3);
    scene s(c.store(), 1);
    const locker_options quick{.retry_min = 4ms, .retry_max = 16ms};
    locker other(s.io.get_executor(), without_a_queue(c), quick);
    const auto end = steady::now() + length;
    int ours = 0, theirs = 0;
    std::vector<task> all;
    for (std::size_t user = 0; user < 4; ++user)
        all.push_back(use(s.lock(0, busy()), 0s, end, ours));
    all.push_back(use(holdfast::lock(other, s.resource, busy()), 20ms, end, theirs));
    run(s.io, std::move(all));

    BOOST_TEST(theirs >= enough);
    bool closed = false;
    other.close([&](error_code) { closed = true; });
    run_until(s.io, [&] { return closed; });
    s.finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
