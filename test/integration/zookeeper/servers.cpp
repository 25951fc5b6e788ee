// Ensembles of three servers, of which some die or stand still; and one that does.
#include "integration/zookeeper/store.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(zookeeper_ensembles)

zookeeper_servers three_servers()
{
    return zookeeper_servers({.servers = 3, .sync_ticks = 4, .lines = {"maxSessionTimeout=30000"}});
}

template <class Trouble>
void pass_during(Trouble trouble)
{
    zookeeper_servers servers = three_servers();
    scene s(store_in(servers, {.session_timeout = 20s}), 3);
    critical_section section;
    std::vector<task> all;
    bool over = false;
    const auto pass = [](critical_section& where, holdfast::lock lock, bool& end) -> task {
        while (!end)
            co_await where.pass(lock, 1);
    };
    all.push_back(
        [](Trouble what, zookeeper_servers& in, critical_section& where, bool& end) -> task {
            while (where.passed < 10)
                co_await pause(1ms);
            co_await what(in);
            const int before = where.passed;
            while (where.passed < before + 10)
                co_await pause(1ms);
            end = true;
        }(trouble, servers, section, over));
    for (std::size_t i = 0; i < 3; ++i)
        all.push_back(pass(section, s.lock(i, lasting(20s)), over));
    run(s.io, std::move(all));
    BOOST_TEST(
        s.locker(0).stats().lost + s.locker(1).stats().lost + s.locker(2).stats().lost == 0u);
    s.finish();
}

BOOST_AUTO_TEST_CASE(no_lease_is_lost_when_the_leader_is_killed)
{
    pass_during([](zookeeper_servers& servers) -> task {
        servers.kill(servers.leader());
        co_return;
    });
}

BOOST_AUTO_TEST_CASE(no_lease_is_lost_when_another_server_is_killed_and_started_again)
{
    pass_during([](zookeeper_servers& servers) -> task {
        const std::size_t victim = (servers.leader() + 1) % 3;
        servers.kill(victim);
        co_await pause(2s);
        servers.restart(victim);
    });
}

BOOST_AUTO_TEST_CASE(no_lease_is_lost_while_the_leader_stands_still)
{
    pass_during([](zookeeper_servers& servers) -> task {
        const std::size_t leader = servers.leader();
        servers.pause(leader);
        co_await pause(4s);
        servers.resume(leader);
    });
}

BOOST_AUTO_TEST_CASE(no_lease_is_lost_while_another_server_stands_still)
{
    pass_during([](zookeeper_servers& servers) -> task {
        for (std::size_t i = 0; i < 3; ++i) {
            if (i == servers.leader())
                continue;
            servers.pause(i);
            co_await pause(3s);
            servers.resume(i);
            co_await pause(500ms);
        }
    });
}

BOOST_AUTO_TEST_CASE(without_a_majority_nothing_is_granted_and_leases_end_in_time)
{
    zookeeper_servers servers = three_servers();
    scene s(store_in(servers, {.session_timeout = 3s}), 2);
    run(s.io, [](scene& all, zookeeper_servers& in) -> task {
        lease held = co_await all.lock(0, lasting(3s)).acquire();
        const std::size_t leader = in.leader();
        in.kill(leader);
        in.kill((leader + 1) % 3);
        const auto killed = steady::now();
        call<lease> other;
        all.lock(1, lasting(3s)).acquire(4s, other.token());
        auto valid_until = held.valid_until();
        while (held.held()) {
            valid_until = std::max(valid_until, held.valid_until());
            co_await pause(10ms);
        }
        BOOST_TEST((valid_until < killed + 3s)); // nobody could confirm it since
        while (!other.done())
            co_await pause(10ms);
        BOOST_TEST(bool(other.error()));
        BOOST_TEST(!other.result<lease>());
        in.restart(leader);
        lease again = co_await all.lock(1, lasting(3s)).acquire(60s);
        BOOST_TEST(again.held());
    }(s, servers));
    s.finish();
}

BOOST_AUTO_TEST_CASE(leases_outlive_a_restart_of_the_server)
{
    zookeeper_servers servers({.lines = {"maxSessionTimeout=30000"}});
    scene s(store_in(servers, {.session_timeout = 30s}));
    run(s.io, [](scene& all, zookeeper_servers& in) -> task {
        lease held = co_await all.lock(0, lasting(30s)).acquire();
        in.kill(0);
        in.restart(0);
        co_await held.extend(); // the server confirms that it knows the session
        BOOST_TEST(held.held());
        BOOST_TEST((co_await held.release() == release_outcome::released));
    }(s, servers));
    s.finish();
}

BOOST_AUTO_TEST_CASE(a_session_that_expires_ends_its_leases_and_a_new_one_begins)
{
    const zookeeper_servers servers;
    fault_proxy proxy(servers.port());
    scene s(zookeeper("zookeeper://127.0.0.1:" + std::to_string(proxy.port()),
        {.session_timeout = 2s, .reconnect_max = 100ms}));
    run(s.io, [](scene& all, fault_proxy& way, const zookeeper_servers& in) -> task {
        lease held = co_await all.lock(0, lasting(2s)).acquire();
        const auto token = held.fence();
        way.set({.to_server = {.lost = true}, .new_connections = newcomers::ignored});
        while (held.held())
            co_await pause(5ms);
        while (!nodes_of(in, all.resource).empty()) // the server ends the session later
            co_await pause(20ms);
        way.set({});
        way.reset();
        lease again = co_await all.lock(0, lasting(2s)).acquire(30s);
        BOOST_TEST(again.held());
        BOOST_TEST((again.fence() > token));
        BOOST_TEST(nodes_of(in, all.resource).size() == 1u);
    }(s, proxy, servers));
    s.finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
