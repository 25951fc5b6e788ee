// Several processes, so to speak, that want one resource: whose turn it is, and what is lost when
// the queue between them is. The ttl is long: whoever waited for it would come too late.
#include "support/call.hpp"
#include "support/cluster.hpp"

#include <deque>
#include <numeric>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(contention)

constexpr auto in_time = 5s; // to notice what was lost; a fraction of the ttl

lock_options patient()
{
    lock_options options;
    options.ttl = 30s;
    options.wait = 20s;
    return options;
}

std::uint64_t commands(scene& s, std::size_t lockers)
{
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < lockers; ++i) {
        for (const node_stats& node : s.locker(i).stats().nodes)
            all += node.commands;
    }
    return all;
}

// A wait of locker `which` that stands in the queue at one of the nodes.
task stand_in_the_queue(scene& s, cluster& c, std::size_t which, call<lease>& wait)
{
    const std::string queue = s.resource + ":holdfast:queue";
    const auto length = [&] {
        std::size_t all = 0;
        for (auto& node : c.nodes)
            all += std::stoul(node.command({"ZCARD", queue}));
        return all;
    };
    const std::size_t before = length();
    s.lock(which, patient()).acquire(wait.token());
    const auto deadline = steady::now() + in_time;
    while (length() == before && steady::now() < deadline)
        co_await pause(1ms);
    BOOST_TEST(length() == before + 1);
}

task be_granted(call<lease>& wait, steady::duration limit = in_time)
{
    const auto deadline = steady::now() + limit;
    while (!wait.done() && steady::now() < deadline)
        co_await pause(1ms);
    BOOST_REQUIRE(wait.done());
    BOOST_TEST(!wait.error(), wait.error().message());
    BOOST_TEST(wait.result<lease>().held());
}

task take_turns(scene& s, cluster& c)
{
    constexpr std::size_t lockers = 4;
    lease held = co_await s.lock(0, patient()).acquire();
    std::deque<call<lease>> waits(lockers);
    for (std::size_t i = 1; i < lockers; ++i)
        co_await stand_in_the_queue(s, c, i, waits[i]);
    for (std::size_t i = 1; i < lockers; ++i) {
        const auto before = commands(s, lockers);
        co_await held.release();
        co_await be_granted(waits[i]);
        for (std::size_t k = i + 1; k < lockers; ++k)
            BOOST_TEST(!waits[k].done()); // first come, first served
        BOOST_TEST(commands(s, lockers) - before <= 30u);
        held = std::move(waits[i].result<lease>());
    }
    co_await held.release();
}

BOOST_AUTO_TEST_CASE(a_release_is_the_next_process_s_turn)
{
    cluster c(5);
    play(c.store(), 4, [&](scene& s) { return take_turns(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

task lose_the_queue(scene& s, cluster& c)
{
    lease held = co_await s.lock(0, patient()).acquire();
    call<lease> wait;
    co_await stand_in_the_queue(s, c, 1, wait);
    c.command({"DEL", s.resource + ":holdfast:queue"});
    co_await held.release();
    co_await be_granted(wait);
}

BOOST_AUTO_TEST_CASE(a_queue_that_is_lost_costs_time_only)
{
    cluster c(5);
    play(c.store(), 2, [&](scene& s) { return lose_the_queue(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

task lose_the_arbiter(scene& s, cluster& c, bool frozen)
{
    lease held = co_await s.lock(0, patient()).acquire();
    call<lease> wait;
    co_await stand_in_the_queue(s, c, 1, wait);
    for (auto& node : c.nodes) {
        if (node.command({"EXISTS", s.resource + ":holdfast:queue"}) != "1")
            continue;
        frozen ? node.pause() : node.kill();
        break;
    }
    co_await held.release();
    co_await be_granted(wait);
    co_await wait.result<lease>().release();
    for (auto& node : c.nodes) {
        if (frozen)
            node.resume();
    }
}

BOOST_AUTO_TEST_CASE(an_arbiter_that_is_lost_costs_time_only)
{
    for (const bool frozen : {false, true}) {
        cluster c(5);
        play(c.store(), 2, [&](scene& s) { return lose_the_arbiter(s, c, frozen); });
    }
}

// Redlock clients that know nothing of the queue.
task share_with_a_stranger(scene& s, cluster& c)
{
    c.command({"SET", s.resource, "a stranger", "NX", "PX", "30000"});
    call<lease> wait;
    co_await stand_in_the_queue(s, c, 0, wait);
    c.command({"DEL", s.resource});
    co_await be_granted(wait);
    const auto refused = c.nodes[0].command({"SET", s.resource, "a stranger", "NX", "PX", "30000"});
    BOOST_TEST(refused == "(nil)");
}

BOOST_AUTO_TEST_CASE(strangers_and_we_exclude_each_other)
{
    cluster c(5);
    play(c.store(), 1, [&](scene& s) { return share_with_a_stranger(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

task share_without_a_queue(scene& s)
{
    for (int i = 0; i < 5; ++i) {
        lease held = co_await s.lock(0, patient()).acquire();
        call<lease> wait;
        s.lock(1, patient()).acquire(wait.token());
        co_await pause(20ms);
        co_await held.release();
        co_await be_granted(wait);
        co_await wait.result<lease>().release();
    }
}

// A user without the rights for it.
BOOST_AUTO_TEST_CASE(without_a_queue_locks_work)
{
    cluster c(3);
    std::vector<endpoint> nodes;
    for (auto& node : c.nodes) {
        const auto made =
            node.command({"ACL", "SETUSER", "plain", "on", ">secret", "~test:*", "-@all", "+hello",
                "+auth", "+client|setname", "+info", "+role", "+select", "+script|load", "+evalsha",
                "+eval", "+get", "+set", "+del", "+pexpire", "+pttl", "+type"});
        BOOST_REQUIRE(made == "OK");
        std::string url = node.url();
        nodes.emplace_back(url.insert(url.find("//") + 2, "plain:secret@"));
    }
    play(redlock(nodes), 2, [](scene& s) { return share_without_a_queue(s); });
    BOOST_TEST(c.empty_within(0s));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
