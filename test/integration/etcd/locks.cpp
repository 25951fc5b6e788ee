// Locks in a real etcd cluster of one member.
#include "integration/etcd/store.hpp"

#include <sstream>
#include <thread>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(etcd_locks)

lock_options brief(std::chrono::milliseconds ttl = 3s)
{
    lock_options options;
    options.ttl = ttl;
    return options;
}

BOOST_AUTO_TEST_CASE(lockers_exclude_each_other_and_tokens_grow)
{
    const etcd_cluster servers;
    scene s(store_in(servers), 4);
    critical_section section;
    std::vector<task> all;
    for (std::size_t i = 0; i < 4; ++i)
        all.push_back(section.pass(s.lock(i, brief()), 25));
    run(s.io, std::move(all));
    BOOST_TEST(section.passed == 100);
    s.finish();
}

BOOST_AUTO_TEST_CASE(the_example_works)
{
    const etcd_cluster servers;
    child_process example({HOLDFAST_EXAMPLE, servers.url()});
    BOOST_TEST(example.read_line().starts_with("wrote the report with token "));
    BOOST_TEST(example.wait() == 0);
    BOOST_TEST(keys_in(servers).empty());
}

BOOST_AUTO_TEST_CASE(the_lock_of_a_killed_process_is_free_after_its_ttl_and_not_before)
{
    const etcd_cluster servers;
    for (const auto life : {0ms, 2500ms}) { // before its first renewal, and after several
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
            lease held = co_await holdfast::lock(locker, "resource").acquire();
        }(s.locker()));
        BOOST_TEST((steady::now() >= valid_until));
        BOOST_TEST((steady::now() < killed + 3s + 5s));
        s.finish();
    }
}

BOOST_AUTO_TEST_CASE(a_process_that_stands_still_loses_its_lock)
{
    const etcd_cluster servers;
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

BOOST_AUTO_TEST_CASE(etcdctl_lock_is_excluded_and_excludes)
{
    const etcd_cluster servers;
    scene s(store_in(servers), 2);
    run(s.io, [](scene& all, const etcd_cluster& in) -> task {
        lease held = co_await all.lock(0, brief()).acquire();
        const auto token = held.fence();
        child_process other = in.start_ctl({"lock", all.resource});
        // It is in the queue when there are two keys.
        const auto count = [&] {
            const std::string keys = keys_in(in, all.resource + "/");
            return std::count(keys.begin(), keys.end(), '/');
        };
        while (count() < 2)
            co_await pause(10ms);
        call<lease> third;
        all.lock(1, brief()).acquire(forever, third.token());
        while (count() < 3)
            co_await pause(10ms);
        co_await held.release();
        BOOST_TEST(other.read_line().starts_with(all.resource + "/")); // it has the lock
        lease refused = co_await all.lock(0, brief()).try_acquire();
        BOOST_TEST(!refused);
        BOOST_TEST(!third.done());
        other.ask_to_end(); // it gives the lock back
        while (!third.done())
            co_await pause(1ms);
        BOOST_TEST(!third.error(), third.error().message());
        BOOST_TEST((third.result<lease>().fence() > token));
        other.wait();
    }(s, servers));
    s.finish();
}

BOOST_AUTO_TEST_CASE(a_resource_does_not_wait_for_another_below_it)
{
    const etcd_cluster servers;
    scene s(store_in(servers), 2);
    run(s.io, [](scene& all) -> task {
        const holdfast::lock below(all.locker(0), all.resource + "/below");
        const holdfast::lock above(all.locker(1), all.resource);
        lease one = co_await below.acquire();
        lease two = co_await above.try_acquire();
        BOOST_TEST(two.held());
        lease again = co_await below.try_acquire();
        BOOST_TEST(!again);
        co_await two.release();
        lease three = co_await above.acquire(); // by the queue
        BOOST_TEST(three.held());
    }(s));
    s.finish();
}

BOOST_AUTO_TEST_CASE(closing_gives_everything_back)
{
    const etcd_cluster servers;
    asio::io_context io;
    locker closing(io.get_executor(), store_in(servers));
    run(io, [](locker& one, const etcd_cluster& in) -> task {
        lease held = co_await holdfast::lock(one, "a", brief()).acquire();
        lease other = co_await holdfast::lock(one, "b", brief(20s)).acquire();
        BOOST_TEST(!keys_in(in).empty());
        held = lease();
        other = lease();
        co_await one.close();
    }(closing, servers));
    BOOST_TEST(keys_in(servers).empty());
    BOOST_TEST(servers.ctl({"lease", "list"}).find("found 0 leases") != std::string::npos);
    expect_no_work_left(io);
}

BOOST_AUTO_TEST_CASE(a_release_and_the_next_wait_of_the_same_process_are_one_commit)
{
    const etcd_cluster servers;
    scene s(store_in(servers), 2);
    critical_section section;
    std::vector<task> all;
    const auto revision = [&] {
        const std::string text = servers.ctl({"endpoint", "status", "-w", "fields"});
        const auto at = text.find("\"Revision\" : ");
        return std::stol(text.substr(at + 13));
    };
    const long before = revision();
    for (std::size_t i = 0; i < 4; ++i) // two waiters in each process: turns change between them
        all.push_back(section.pass(s.lock(i % 2, brief()), 10));
    run(s.io, std::move(all));
    BOOST_TEST(revision() - before <= 2 * section.passed);
    s.finish();
}

// An attempt that is executed late must not leave a key without an owner.
BOOST_AUTO_TEST_CASE(a_late_attempt_leaves_no_key)
{
    etcd_cluster servers;
    scene s(store_in(servers), 2);
    run(s.io, [](scene& all, etcd_cluster& in) -> task {
        lease warm = co_await all.lock(0).acquire(); // the session is there
        const holdfast::lock other(all.locker(0), all.resource + "2");
        in.pause(0);
        auto [ec, none] = co_await other.acquire(500ms, no_throw);
        BOOST_TEST(bool(ec));
        co_await pause(3s); // the connection is given up; another one is tried
        in.resume(0);
        const holdfast::lock rival(all.locker(1), all.resource + "2");
        lease next = co_await rival.acquire(30s);
        BOOST_TEST(next.held());
        BOOST_TEST(warm.held());
        co_await next.release();
        while (!keys_in(in, all.resource + "2/").empty())
            co_await pause(10ms);
        co_await pause(500ms);
        BOOST_TEST(keys_in(in, all.resource + "2/").empty());
    }(s, servers));
    s.finish();
}

BOOST_AUTO_TEST_CASE(a_key_that_is_deleted_by_hand_is_a_lost_lease_if_others_wait)
{
    const etcd_cluster servers;
    scene s(store_in(servers), 2);
    run(s.io, [](scene& all, const etcd_cluster& in) -> task {
        lease first = co_await all.lock(0, brief(10s)).acquire();
        call<lease> waits;
        all.lock(1, brief(10s)).acquire(forever, waits.token());
        while (keys_of(in, all.resource) < 2)
            co_await pause(10ms);
        co_await first.release();
        while (!waits.done())
            co_await pause(1ms);
        lease held = std::move(waits.result<lease>()); // it has waited, so it watches the queue
        in.ctl({"del", all.resource + "/", "--prefix"});
        auto [ec] = co_await held.lost(no_throw);
        BOOST_TEST(ec == errc::lease_lost);
    }(s, servers));
    s.finish();
}

BOOST_AUTO_TEST_CASE(a_session_that_the_server_ends_is_lost_and_a_waiter_queues_again)
{
    const etcd_cluster servers;
    scene s(store_in(servers), 2);
    run(s.io, [](scene& all, const etcd_cluster& in) -> task {
        lease held = co_await all.lock(0, brief(10s)).acquire();
        call<lease> waits;
        all.lock(1, brief(10s)).acquire(forever, waits.token());
        while (keys_of(in, all.resource) < 2)
            co_await pause(10ms);
        // That of the waiter first, or it would get the lock under a lease that is ended then.
        std::istringstream keys(in.ctl({"get", all.resource + "/", "--prefix", "--sort-by=CREATE",
            "--order=DESCEND", "-w", "fields"}));
        const std::string name = "\"Lease\" : ";
        int ended = 0;
        for (std::string line; std::getline(keys, line);) {
            if (!line.starts_with(name))
                continue;
            std::ostringstream id; // in hexadecimal digits
            id << std::hex << std::stoull(line.substr(name.size()));
            in.ctl({"lease", "revoke", id.str()});
            ++ended;
        }
        BOOST_TEST(ended == 2);
        auto [ec] = co_await held.lost(no_throw);
        BOOST_TEST(ec == errc::lease_lost);
        while (!waits.done())
            co_await pause(1ms);
        BOOST_TEST(!waits.error(), waits.error().message());
        BOOST_TEST(waits.result<lease>().held());
    }(s, servers));
    s.finish();
}

BOOST_AUTO_TEST_CASE(a_waiter_outlives_a_restart_of_the_server)
{
    etcd_cluster servers;
    scene s(store_in(servers), 2);
    lease held;
    call<lease> waits;
    run(s.io, [](scene& all, lease& to, call<lease>& waiter) -> task {
        lock_options options;
        options.ttl = 60s; // outlives the restart
        to = co_await all.lock(0, options).acquire();
        all.lock(1, options).acquire(forever, waiter.token());
        co_await pause(300ms);
    }(s, held, waits));
    servers.restart(0);
    run(s.io, [](lease& held_on, call<lease>& waiter) -> task {
        co_await pause(1s);
        BOOST_TEST(held_on.held());
        BOOST_TEST(!waiter.done());
        co_await held_on.release();
        while (!waiter.done())
            co_await pause(1ms);
        BOOST_TEST(!waiter.error(), waiter.error().message());
    }(held, waits));
    waits.result<lease>() = lease();
    s.finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
