// Clusters of three members: some of them die, or stand still.
#include "integration/etcd/store.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(etcd_members)

lock_options lasting()
{
    lock_options options;
    options.ttl = 10s;
    return options;
}

template <class Trouble>
void pass_during(Trouble trouble)
{
    etcd_cluster servers(3);
    scene s(store_in(servers), 3);
    critical_section section;
    std::vector<task> all;
    bool over = false;
    const auto pass = [](critical_section& where, holdfast::lock lock, bool& end) -> task {
        while (!end)
            co_await where.pass(lock, 1);
    };
    all.push_back([](Trouble what, etcd_cluster& in, critical_section& where, bool& end) -> task {
        while (where.passed < 10)
            co_await pause(1ms);
        co_await what(in);
        const int before = where.passed;
        while (where.passed < before + 10)
            co_await pause(1ms);
        end = true;
    }(trouble, servers, section, over));
    for (std::size_t i = 0; i < 3; ++i)
        all.push_back(pass(section, s.lock(i, lasting()), over));
    run(s.io, std::move(all));
    BOOST_TEST(
        s.locker(0).stats().lost + s.locker(1).stats().lost + s.locker(2).stats().lost == 0u);
    s.finish();
}

BOOST_AUTO_TEST_CASE(no_lease_is_lost_when_the_leader_is_killed)
{
    pass_during([](etcd_cluster& servers) -> task {
        servers.kill(servers.leader());
        co_return;
    });
}

BOOST_AUTO_TEST_CASE(no_lease_is_lost_when_another_member_is_killed_and_started_again)
{
    pass_during([](etcd_cluster& servers) -> task {
        const std::size_t victim = (servers.leader() + 1) % 3;
        servers.kill(victim);
        co_await pause(2s);
        servers.restart(victim);
    });
}

BOOST_AUTO_TEST_CASE(no_lease_is_lost_while_the_leader_stands_still)
{
    pass_during([](etcd_cluster& servers) -> task {
        const std::size_t leader = servers.leader();
        servers.pause(leader);
        co_await pause(4s);
        servers.resume(leader);
    });
}

BOOST_AUTO_TEST_CASE(without_a_majority_nothing_is_granted_and_leases_end_in_time)
{
    etcd_cluster servers(3);
    scene s(store_in(servers), 2);
    run(s.io, [](scene& all, etcd_cluster& in) -> task {
        lock_options options;
        options.ttl = 3s;
        lease held = co_await all.lock(0, options).acquire();
        in.kill(0);
        in.kill(1);
        const auto killed = steady::now();
        const holdfast::lock other(all.locker(1), all.resource + "2", options);
        auto [ec, none] = co_await other.acquire(5s, no_throw);
        BOOST_TEST(ec == condition::unavailable, ec.message());
        auto [lost] = co_await held.lost(no_throw);
        BOOST_TEST(lost == errc::lease_lost);
        BOOST_TEST((steady::now() < killed + options.ttl + 5s));
        in.restart(0);
        lease again = co_await other.acquire(30s);
        BOOST_TEST(again.held());
    }(s, servers));
    s.finish();
}

// A member that has lost the leader still answers. A watch there would wait for events in vain.
BOOST_AUTO_TEST_CASE(a_member_without_a_leader_is_given_up)
{
    etcd_cluster servers(3);
    etcd_options options;
    options.reconnect_max = 200ms;
    scene s(etcd({servers.url(0)}, options), 2);
    run(s.io, [](scene& all, etcd_cluster& in) -> task {
        lock_options lasting;
        lasting.ttl = 90s; // nothing is sent for long: only the server can tell
        lease held = co_await all.lock(0, lasting).acquire();
        call<lease> waits;
        all.lock(1, lasting).acquire(forever, waits.token());
        while (keys_of(in, all.resource) < 2)
            co_await pause(10ms);
        co_await pause(300ms); // it watches
        in.kill(1);
        in.kill(2);
        const auto limit = steady::now() + 20s; // less than a third of the ttl
        const auto told = [&all] {
            return describe_nodes(all.locker(1).stats()).find("no leader") != std::string::npos;
        };
        while (!told() && steady::now() < limit)
            co_await pause(10ms);
        BOOST_TEST(told(), describe_nodes(all.locker(1).stats()));
        BOOST_TEST(!waits.done());
        in.restart(1);
        co_await held.release();
        while (!waits.done())
            co_await pause(1ms);
        BOOST_TEST(!waits.error(), waits.error().message());
    }(s, servers));
    s.finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
