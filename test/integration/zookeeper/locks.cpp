// Locks on one real ZooKeeper server.
#include "integration/zookeeper/store.hpp"

#include <thread>

namespace holdfast::test {
namespace {

namespace wire = zookeeper_store::wire;

BOOST_AUTO_TEST_SUITE(zookeeper_locks)

BOOST_AUTO_TEST_CASE(lockers_exclude_each_other_and_tokens_grow)
{
    const zookeeper_servers servers;
    scene s(store_in(servers), 4);
    critical_section section;
    std::vector<task> all;
    for (std::size_t i = 0; i < 4; ++i)
        all.push_back(section.pass(s.lock(i, lasting(3s)), 25));
    run(s.io, std::move(all));
    BOOST_TEST(section.passed == 100);
    s.finish();
    zookeeper_client client(servers.port());
    BOOST_TEST(client.children("/holdfast/" + s.resource).empty());
    for (const auto& name : client.children("/holdfast"))
        BOOST_TEST(!name.starts_with("_s_")); // the sessions were given back
}

BOOST_AUTO_TEST_CASE(the_lock_of_a_killed_process_is_free_after_its_session_and_not_before)
{
    const zookeeper_servers servers;
    for (const auto life : {0ms, 2500ms}) { // before its first heartbeats, and after several
        child_process holder({HOLDFAST_LOCK_HOLDER, "resource", "3000", servers.url()});
        const auto first = holder.read_line();
        BOOST_REQUIRE(!first.empty());
        std::this_thread::sleep_for(life);
        holder.kill();
        const auto killed = steady::now();
        auto last = first;
        for (auto line = first; !line.empty(); line = holder.read_line())
            last = line;
        const steady::time_point valid_until{steady::duration(std::stoll(last))};
        BOOST_TEST((valid_until > killed)); // it was killed while it held the lock
        BOOST_TEST((life == 0ms || last != first));

        scene s(store_in(servers));
        run(s.io, [](holdfast::locker& locker) -> task {
            lease held = co_await holdfast::lock(locker, "resource").acquire(30s);
            BOOST_TEST(held.held());
        }(s.locker()));
        BOOST_TEST((steady::now() >= valid_until));
        s.finish();
    }
}

BOOST_AUTO_TEST_CASE(a_process_that_stands_still_loses_its_lock)
{
    const zookeeper_servers servers;
    child_process holder({HOLDFAST_LOCK_HOLDER, "resource", "2000", servers.url()});
    BOOST_REQUIRE(!holder.read_line().empty());
    holder.pause();
    scene s(store_in(servers));
    run(s.io, [](holdfast::locker& locker) -> task {
        lease held = co_await holdfast::lock(locker, "resource").acquire(30s);
        BOOST_TEST(held.held());
    }(s.locker()));
    holder.resume();
    auto last = holder.read_line();
    for (auto line = last; !line.empty(); line = holder.read_line())
        last = line; // it ends by itself when it finds that its lease is lost
    BOOST_TEST(holder.wait() == 0);
    s.finish();
}

// The names that Curator gives: with protection and without. `fixForSorting()` of its driver takes
// what follows the last "lock-".
BOOST_AUTO_TEST_CASE(nodes_that_are_named_as_curator_s_exclude_and_are_excluded)
{
    const zookeeper_servers servers;
    for (const std::string prefix : {"lock-", "_c_6e1a7a4d-5f6c-4d0e-9c8f-0a1b2c3d4e5f-lock-"}) {
        zookeeper_client curator(servers.port());
        scene s(store_in(servers));
        const std::string folder = "/holdfast/" + s.resource;
        run(s.io, [](scene& all, zookeeper_client& other, std::string path) -> task {
            lease held = co_await all.lock(0).acquire();
            BOOST_TEST(other.create(path, wire::node_mode::ephemeral_sequential) == wire::code::ok);
            // The order in which Curator sorts is that of the numbers.
            auto nodes = other.children(path.substr(0, path.rfind('/')));
            std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) {
                return a.substr(a.rfind("lock-")) < b.substr(b.rfind("lock-"));
            });
            BOOST_REQUIRE(nodes.size() == 2u);
            BOOST_TEST(nodes[1].starts_with(path.substr(path.rfind('/') + 1)));
            co_await held.release(); // now the other one holds it
            lease refused = co_await all.lock(0).try_acquire();
            BOOST_TEST(!refused);
            call<lease> waits;
            all.lock(0).acquire(forever, waits.token());
            co_await pause(100ms);
            BOOST_TEST(!waits.done());
            BOOST_TEST(other.remove(path.substr(0, path.rfind('/') + 1) + nodes[1]) == 0);
            while (!waits.done())
                co_await pause(1ms);
            BOOST_TEST(!waits.error(), waits.error().message());
        }(s, curator, folder + '/' + prefix));
        s.finish();
    }
}

BOOST_AUTO_TEST_CASE(names_of_any_bytes_are_different_locks)
{
    const zookeeper_servers servers;
    scene s(store_in(servers));
    const std::vector<std::string> names{
        "a/b", "a%2Fb", ".", "..", "zookeeper", "\xff\x01\n", "_s_1", "\u00e9"};
    run(s.io, [](holdfast::locker& locker, const std::vector<std::string>& all_names) -> task {
        std::vector<lease> all;
        for (const std::string& name : all_names) {
            all.push_back(co_await holdfast::lock(locker, name).try_acquire());
            BOOST_TEST(all.back().held(), name);
        }
    }(s.locker(), names));
    s.finish();
}

task hold_a_crowd(holdfast::locker& locker)
{
    constexpr std::size_t crowd = HOLDFAST_CROWD;
    std::vector<lease> all(crowd);
    std::size_t open = crowd, failed = 0;
    for (std::size_t i = 0; i < crowd; ++i)
        holdfast::lock(locker, "crowd:" + std::to_string(i), lasting(10s))
            .acquire(forever, [&, i](error_code ec, lease got) {
                failed += ec ? 1u : 0u;
                all[i] = std::move(got);
                --open;
            });
    while (open != 0)
        co_await pause(10ms);
    BOOST_TEST(failed == 0u);
    const auto before = locker.stats().nodes.front().commands;
    co_await pause(12s); // longer than the session would last without heartbeats
    const auto sent = locker.stats().nodes.front().commands - before;
    BOOST_TEST(sent >= 2u);
    BOOST_TEST(sent <= 6u);
    BOOST_TEST(std::all_of(all.begin(), all.end(), [](const lease& each) { return each.held(); }));
    BOOST_TEST(locker.stats().lost == 0u);
    all.clear();
    co_await locker.close(asio::use_awaitable);
}

// One session, so one heartbeat.
BOOST_AUTO_TEST_CASE(a_crowd_of_locks_is_kept_by_one_heartbeat)
{
    const zookeeper_servers servers;
    scene s(store_in(servers, {.session_timeout = 10s}));
    bool over = false;
    asio::co_spawn(s.io, hold_a_crowd(s.locker()), [&](const std::exception_ptr& error) {
        over = true;
        BOOST_TEST(!error);
    });
    run_until(
        s.io, [&] { return over; }, 400s); // three transactions for each lock
    expect_no_work_left(s.io);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
