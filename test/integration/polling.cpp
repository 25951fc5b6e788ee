// Clients that poll get a resource that lockers use without a pause.
#include "support/cluster.hpp"

#include "redis/node/scripts.hpp"

#include <string>
#include <vector>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(polling)

constexpr auto window = 100ms, period = 25 * window;
constexpr int enough = 3; // windows to be used; run() waits for them up to its hang limit

lock_options busy()
{
    lock_options options;
    options.wait = 30s;
    options.handoff_time = period / 2;
    options.polling_window = window;
    return options;
}

// What some clients have got so far.
struct usage {
    int leases = 0, windows = 0;
    steady::time_point last{};

    void note()
    {
        const auto now = steady::now();
        windows += now - last > period / 2 ? 1 : 0; // else in the same window
        last = now;
        ++leases;
    }
};

// Uses the resource without a pause, until they have had enough.
task use(holdfast::lock lock, usage& ours, const usage& theirs)
{
    while (theirs.windows < enough) {
        lease held = co_await lock.acquire();
        ours.note();
        co_await pause(5ms);
        co_await held.release();
    }
}

task begun(const usage& ours)
{
    while (ours.leases == 0)
        co_await pause(1ms);
}

// Polls as other Redlock clients do, on all nodes.
task poll(cluster& c, std::string key, const usage& ours, usage& theirs)
{
    const std::vector<std::string> take{"SET", key, "other", "NX", "PX", "1000"};
    const std::vector<std::string> give_back{
        "EVAL", std::string(redis::release_script.text), "1", key, "other"};
    co_await begun(ours);
    while (theirs.windows < enough) {
        std::size_t granted = 0;
        for (auto& node : c.nodes)
            granted += node.command(take) == "OK" ? 1u : 0u;
        if (granted >= c.majority())
            theirs.note();
        c.command(give_back);
        co_await pause(20ms);
    }
}

// The same by a locker.
task poll(holdfast::lock lock, const usage& ours, usage& theirs)
{
    co_await begun(ours);
    while (theirs.windows < enough) {
        lease held = co_await lock.acquire();
        theirs.note();
        co_await pause(5ms);
        co_await held.release();
        co_await pause(20ms);
    }
}

BOOST_AUTO_TEST_CASE(a_redlock_client_beside_two_processes)
{
    cluster c(3);
    scene s(c.store(), 2);
    usage ours, theirs;
    std::vector<task> all;
    for (std::size_t user = 0; user < 8; ++user)
        all.push_back(use(s.lock(user % 2, busy()), ours, theirs));
    all.push_back(poll(c, s.resource, ours, theirs));
    run(s.io, std::move(all));

    BOOST_TEST(ours.leases >= 20 * theirs.windows);
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
    usage ours, theirs;
    std::vector<task> all;
    for (std::size_t user = 0; user < 4; ++user)
        all.push_back(use(s.lock(0, busy()), ours, theirs));
    all.push_back(poll(holdfast::lock(other, s.resource, busy()), ours, theirs));
    run(s.io, std::move(all));

    BOOST_TEST(ours.leases >= 20 * theirs.windows);
    bool closed = false;
    other.close([&](error_code) { closed = true; });
    run_until(s.io, [&] { return closed; });
    s.finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
