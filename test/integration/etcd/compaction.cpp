// Servers that forget old revisions while locks are held and waited for.
#include "integration/etcd/store.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(etcd_compaction)

// Makes the present revision the oldest one that can be read.
void compact(const etcd_cluster& servers)
{
    servers.ctl({"put", "another-key", "value"}); // so that the revision is a new one
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

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
