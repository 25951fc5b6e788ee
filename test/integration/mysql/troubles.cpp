// Statements that the server executes late, or ends; clocks that are wrong.
#include "integration/mysql/store.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(mysql_troubles)

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

// The default since MariaDB 11.6: a row that was changed after a statement began is an error for
// it.
BOOST_AUTO_TEST_CASE(a_server_that_refuses_to_lock_changed_rows_serves_all)
{
    const mariadb_server server({.settings = {"innodb_snapshot_isolation=ON"}});
    take_turns(store_in(server), 4, 16, 20);
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
