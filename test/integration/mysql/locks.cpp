// Locks in a real MariaDB server.
#include "integration/mysql/store.hpp"

#include <thread>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(mysql_locks)

BOOST_AUTO_TEST_CASE(lockers_exclude_each_other_and_tokens_grow)
{
    const mariadb_server server;
    scene s(store_in(server), 4);
    critical_section section;
    std::vector<task> all;
    for (std::size_t i = 0; i < 4; ++i)
        all.push_back(section.pass(s.lock(i, brief()), 25));
    run(s.io, std::move(all));
    BOOST_TEST(section.passed == 100);
    s.finish();
    BOOST_TEST(used_rows(server) == "0");
}

BOOST_AUTO_TEST_CASE(many_processes_wait_for_one_lock_and_each_has_its_turn)
{
    const mariadb_server server({.settings = {"max_connections=100"}});
    scene s(store_in(server), 40);
    critical_section section;
    std::vector<task> all;
    for (std::size_t i = 0; i < 40; ++i)
        all.push_back(section.pass(s.lock(i, brief(10s)), 3));
    run(s.io, std::move(all));
    BOOST_TEST(section.passed == 120);
    s.finish();
    BOOST_TEST(used_rows(server) == "0");
}

BOOST_AUTO_TEST_CASE(many_locks_are_taken_at_once)
{
    const mariadb_server server;
    scene s(store_in(server), 2);
    int held = 0;
    std::vector<task> all;
    for (int i = 0; i < 2000; ++i)
        all.push_back([](holdfast::lock lock,
                          int& count) -> task {
            lease one = co_await lock.acquire();
            ++count;
            co_await one.release();
        }(holdfast::lock(s.locker(static_cast<std::size_t>(i) % 2),
                                          std::string("\xff\0'\"\\;{", 7) + std::to_string(i / 2),
                                          brief(10s)),
                                          held));
    run(s.io, std::move(all));
    BOOST_TEST(held == 2000);
    s.finish();
    BOOST_TEST(used_rows(server) == "0");
    BOOST_TEST(server.run("SELECT COUNT(*) FROM holdfast_locks") == "1000");
}

BOOST_AUTO_TEST_CASE(the_lock_of_a_killed_process_is_free_after_its_ttl_and_not_before)
{
    const mariadb_server server;
    for (const auto life : {0ms, 2500ms}) { // before its first renewal, and after several
        child_process holder(
            {HOLDFAST_LOCK_HOLDER, "resource", "3000", "mysql:" + server.socket()});
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

        scene s(store_in(server));
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
    const mariadb_server server;
    child_process holder({HOLDFAST_LOCK_HOLDER, "resource", "2000", "mysql:" + server.socket()});
    BOOST_REQUIRE(!holder.read_line().empty());
    holder.pause();
    scene s(store_in(server));
    run(s.io, [](holdfast::locker& locker) -> task {
        lease held = co_await holdfast::lock(locker, "resource").acquire(20s);
        BOOST_TEST(held.held());
    }(s.locker()));
    holder.resume();
    BOOST_TEST(holder.wait() == 0); // it has noticed
    s.finish();
}

// The next renewal would come too late to tell.
BOOST_AUTO_TEST_CASE(a_locker_in_which_a_lease_lingers_finds_a_waiter_that_comes_later)
{
    const mariadb_server server;
    scene s(store_in(server), 2);
    run(s.io, [](scene& all) -> task {
        lock_options sticky = brief(60s);
        sticky.linger = 60s;
        lease first = co_await all.lock(0, sticky).acquire();
        co_await first.release();
        co_await pause(300ms);
        BOOST_TEST(all.locker(0).stats().lingering == 1u);
        lease next = co_await all.lock(1, brief()).acquire(10s);
        BOOST_TEST(next.held());
        co_await next.release();
    }(s));
    s.finish();
}

// The database's clock does not depend on time zones.
BOOST_AUTO_TEST_CASE(time_zones_do_no_harm)
{
    const mariadb_server server({.settings = {"default-time-zone=+05:45"}});
    scene s(store_in(server), 1);
    run(s.io, [](scene& all, const mariadb_server& in) -> task {
        lease held = co_await all.lock(0, brief(10s)).acquire();
        BOOST_TEST(in.run("SELECT ABS(expires_at / 1000000 - UNIX_TIMESTAMP() - 10) < 5 "
                          "FROM holdfast_locks") == "1");
        BOOST_TEST(in.run("SELECT ABS(token_end / 1000000 - UNIX_TIMESTAMP()) < 5 "
                          "FROM holdfast_locks") == "1");
        co_await held.release();
    }(s, server));
    s.finish();
}

BOOST_AUTO_TEST_CASE(tokens_grow_although_rows_are_deleted)
{
    const mariadb_server server;
    scene s(store_in(server), 1);
    run(s.io, [](scene& all, const mariadb_server& in) -> task {
        std::uint64_t last = 0;
        for (int i = 0; i < 20; ++i) {
            lease held = co_await all.lock(0, brief()).acquire();
            BOOST_TEST(held.fence().value() > last);
            last = held.fence().value();
            co_await held.release();
            in.run("DELETE FROM holdfast_locks WHERE owner = ''");
        }
    }(s, server));
    s.finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
