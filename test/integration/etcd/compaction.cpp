// Servers that forget old revisions while locks are held and waited for.
#include "integration/etcd/store.hpp"
#include "support/fault_proxy.hpp"

#include <algorithm>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(etcd_compaction)

// Makes the present revision the oldest one that can be read.
void compact(const etcd_cluster& servers)
{
    // Watches from the revision after the last one that was told would still be good.
    for (int i = 0; i < 2; ++i)
        servers.ctl({"put", "another-key", "value"});
    const std::string text = servers.ctl({"endpoint", "status", "-w", "fields"});
    const std::string name = "\"Revision\" : ";
    const auto revision = std::stol(text.substr(text.find(name) + name.size()));
    const std::string told = servers.ctl({"compact", std::to_string(revision)});
    BOOST_TEST(told == "compacted revision " + std::to_string(revision) + "\n");
}

BOOST_AUTO_TEST_CASE(locks_pass_on_while_every_revision_is_compacted)
{
    const etcd_cluster servers;
    scene s(store_in(servers), 3);
    critical_section section;
    bool over = false;
    std::vector<task> all;
    const auto pass = [](critical_section& where, holdfast::lock lock, bool& end) -> task {
        while (!end)
            co_await where.pass(lock, 1, 0ms);
    };
    for (std::size_t i = 0; i < 3; ++i)
        all.push_back(pass(section, s.lock(i), over));
    all.push_back([](const etcd_cluster& in, critical_section& where, bool& end) -> task {
        for (int i = 0; i < 20; ++i) {
            const int before = where.passed;
            while (where.passed < before + 3)
                co_await pause(1ms);
            compact(in);
        }
        end = true;
    }(servers, section, over));
    run(s.io, std::move(all));
    for (std::size_t i = 0; i < 3; ++i)
        BOOST_TEST(s.locker(i).stats().lost == 0u);
    s.finish();
}

// The watches of the waiter began before the compacted revision, and are made anew after it.
BOOST_AUTO_TEST_CASE(a_waiter_outlives_a_compaction_and_a_restart)
{
    etcd_cluster servers;
    scene s(store_in(servers), 2);
    lease held;
    call<lease> waits;
    run(s.io, [](scene& all, lease& to, call<lease>& waiter, const etcd_cluster& in) -> task {
        lock_options options;
        options.ttl = 60s; // outlives the restart
        to = co_await all.lock(0, options).acquire();
        all.lock(1, options).acquire(forever, waiter.token());
        co_await pause(300ms);
        compact(in);
        compact(in);
    }(s, held, waits, servers));
    servers.restart(0);
    run(s.io, [](lease& held_on, call<lease>& waiter, const etcd_cluster& in) -> task {
        compact(in);
        co_await pause(500ms);
        compact(in);
        BOOST_TEST(!waiter.done());
        BOOST_TEST(held_on.held());
        const auto token = held_on.fence();
        co_await held_on.release();
        while (!waiter.done())
            co_await pause(1ms);
        BOOST_TEST(!waiter.error(), waiter.error().message());
        BOOST_TEST((waiter.result<lease>().fence() > token));
    }(held, waits, servers));
    waits.result<lease>() = lease();
    s.finish();
}

// The answer to a waiter is late: what its watch is to begin with has been compacted then.
BOOST_AUTO_TEST_CASE(a_watch_from_a_compacted_revision_is_made_anew)
{
    const etcd_cluster servers;
    fault_proxy path(servers.port());
    scene s(store_in(servers));
    locker late(s.io.get_executor(),
        etcd({"http://127.0.0.1:" + std::to_string(path.port())}, {.request_timeout = 20s}));
    run(s.io, [](scene& all, locker& waiter, fault_proxy& between, const etcd_cluster& in) -> task {
        lease held = co_await all.lock(0).acquire();
        lock_options patient;
        patient.ttl = 60s;
        lease warm = co_await holdfast::lock(waiter, all.resource + "2", patient).acquire();
        co_await warm.release();
        link_faults answers_wait;
        answers_wait.to_client.held = true;
        between.set(answers_wait);
        call<lease> waits;
        holdfast::lock(waiter, all.resource, patient).acquire(forever, waits.token());
        const auto queued = [&all, &in] {
            const std::string keys = keys_in(in, all.resource + "/");
            return std::count(keys.begin(), keys.end(), '/') == 2;
        };
        while (!queued())
            co_await pause(10ms);
        compact(in);
        between.set({});
        co_await pause(300ms);
        BOOST_TEST(!waits.done());
        co_await held.release();
        while (!waits.done())
            co_await pause(1ms);
        BOOST_TEST(!waits.error(), waits.error().message());
        waits.result<lease>() = lease();
        co_await waiter.close();
    }(s, late, path, servers));
    s.finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
