// Servers that die, stand still, or end connections.
#include "integration/mysql/store.hpp"

#include <cstdint>
#include <stdexcept>
#include <thread>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(mysql_troubles)

template <class Trouble>
void pass_during(Trouble trouble)
{
    mariadb_server server;
    pass_during(store_in(server), server, trouble);
    BOOST_TEST(used_rows(server) == "0");
}

// KILL for all connections but our own, and one more.
void kill_all(const mariadb_server& server, const std::string& what, std::uint64_t but = 0)
{
    mariadb_session admin(server);
    for (const std::string& each :
        admin.run("SELECT id FROM information_schema.PROCESSLIST WHERE id <> CONNECTION_ID() AND "
                  "user = 'root' AND id <> " +
                  std::to_string(but))) {
        try {
            admin.run("KILL " + what + " " + each);
        } catch (const std::runtime_error&) { // it has ended
        }
    }
}

BOOST_AUTO_TEST_CASE(no_lease_is_lost_when_the_server_is_killed_and_started_again)
{
    pass_during([](mariadb_server& server) -> task {
        server.restart();
        co_return;
    });
}

BOOST_AUTO_TEST_CASE(no_lease_is_lost_while_the_server_stands_still)
{
    pass_during([](mariadb_server& server) -> task {
        server.pause();
        co_await pause(3s);
        server.resume();
    });
}

BOOST_AUTO_TEST_CASE(no_lease_is_lost_when_connections_are_ended)
{
    pass_during([](mariadb_server& server) -> task {
        for (int i = 0; i < 5; ++i) {
            kill_all(server, "CONNECTION");
            co_await pause(50ms);
        }
    });
}

BOOST_AUTO_TEST_CASE(statements_that_are_cancelled_are_made_again)
{
    pass_during([](mariadb_server& server) -> task {
        for (int i = 0; i < 100; ++i) {
            kill_all(server, "QUERY");
            co_await pause(2ms);
        }
    });
}

BOOST_AUTO_TEST_CASE(a_locked_table_delays_and_breaks_nothing)
{
    pass_during([](mariadb_server& server) -> task {
        std::thread locks([&server] {
            server.run("LOCK TABLES holdfast_locks WRITE; SELECT SLEEP(1); UNLOCK TABLES");
        });
        co_await pause(1200ms);
        locks.join();
    });
}

BOOST_AUTO_TEST_CASE(leases_end_in_time_without_a_server_and_work_goes_on_with_it)
{
    mariadb_server server;
    scene s(store_in(server), 2);
    lease held;
    run(s.io, [](scene& all, mariadb_server& in, lease& to) -> task {
        to = co_await all.lock(0, brief()).acquire();
        in.kill();
        const auto killed = steady::now();
        const holdfast::lock other(all.locker(1), all.resource + "2", brief());
        auto [ec, none] = co_await other.acquire(5s, no_throw);
        BOOST_TEST(ec == condition::unavailable, ec.message());
        auto [lost] = co_await to.lost(no_throw);
        BOOST_TEST(lost == errc::lease_lost);
        BOOST_TEST((steady::now() < killed + 10s));
        in.restart();
        lease again = co_await other.acquire(30s);
        BOOST_TEST(again.held());
    }(s, server, held));
    s.finish();
}

BOOST_AUTO_TEST_CASE(a_waiter_outlives_a_restart_of_the_server)
{
    mariadb_server server;
    scene s(store_in(server), 2);
    lease held;
    call<lease> waits;
    run(s.io, [](scene& all, lease& to, call<lease>& waiter) -> task {
        to = co_await all.lock(0, brief(60s)).acquire(); // outlives the restart
        all.lock(1, brief(60s)).acquire(forever, waiter.token());
        co_await pause(300ms);
    }(s, held, waits));
    server.restart();
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

// The server stands still while a statement arrives, and reads it when its client has given up.
// What it may grant then is given back, long before the end of a lease of 60 s.
BOOST_AUTO_TEST_CASE(a_statement_that_is_executed_after_its_client_is_gone_leaves_nothing)
{
    mariadb_server server;
    scene s(store_in(server), 2);
    run(s.io, [](scene& all, mariadb_server& in) -> task {
        lease first = co_await all.lock(0, brief()).acquire();
        co_await first.release();
        in.pause();
        auto [ec, none] = co_await all.lock(0, brief(60s)).acquire(300ms, no_throw);
        BOOST_TEST(bool(ec));
        while (all.locker(0).stats().nodes.at(0).connected) // until it makes another connection
            co_await pause(10ms);
        in.resume();
        lease next = co_await all.lock(1, brief()).acquire(20s);
        BOOST_TEST(next.held());
        co_await next.release();
    }(s, server));
    s.finish();
    BOOST_TEST(used_rows(server) == "0");
}

// Neither does one that the server ends while it waits for the table.
BOOST_AUTO_TEST_CASE(a_statement_that_is_killed_leaves_nothing)
{
    const mariadb_server server;
    scene s(store_in(server), 2);
    mariadb_session stranger(server);
    run(s.io, [](scene& all, const mariadb_server& in, mariadb_session& admin) -> task {
        lease first = co_await all.lock(0, brief()).acquire();
        co_await first.release();
        admin.run("LOCK TABLES holdfast_locks WRITE");
        auto [ec, none] = co_await all.lock(0, brief(60s)).acquire(300ms, no_throw);
        BOOST_TEST(bool(ec));
        kill_all(in, "CONNECTION", admin.id());
        admin.run("UNLOCK TABLES");
        lease next = co_await all.lock(1, brief()).acquire(20s);
        BOOST_TEST(next.held());
        co_await next.release();
    }(s, server, stranger));
    s.finish();
    BOOST_TEST(used_rows(server) == "0");
}

// It would repeat tokens only if rows were lost as well.
BOOST_AUTO_TEST_CASE(tokens_grow_whatever_the_clock_shows)
{
    const mariadb_server server;
    scene s(store_in(server), 1);
    run(s.io, [](scene& all, const mariadb_server& in) -> task {
        lease held = co_await all.lock(0, brief()).acquire();
        co_await held.release();
        // As if all that was written in a time that is yet to come.
        in.run("UPDATE holdfast_locks SET token = token + 3600000000, "
               "token_end = token_end + 3600000000");
        const auto last = std::stoull(in.run("SELECT token_end FROM holdfast_locks"));
        lease again = co_await all.lock(0, brief()).acquire();
        BOOST_TEST(again.fence().value() > last);
        co_await again.release();
    }(s, server));
    s.finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
