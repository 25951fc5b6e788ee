// Rows that transactions of others have locked.
#include "integration/mysql/store.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(mysql_guards)

task guarded(scene& all, mariadb_session& users, std::string isolation)
{
    lock_options unrenewed = brief(3s); // long enough for the statements before its end
    unrenewed.renewal = renewal::manual;
    lease held = co_await all.lock(0, unrenewed).acquire();
    const mysql_guard g = make_mysql_guard(held);
    users.run("SET TRANSACTION ISOLATION LEVEL " + isolation + "; START TRANSACTION");
    BOOST_TEST(users.run(g.statement, g.parameters).size() == 1u);
    if (isolation != "SERIALIZABLE")
        co_await held.extend(); // a guard lets renewals pass
    // Other resources, near and far, are not delayed.
    const std::string own(all.resource);
    for (const std::string& other : {own + "!", own.substr(0, own.size() - 1) + "!", own + "~"}) {
        if (isolation != "READ COMMITTED")
            break; // the next one may be delayed
        for (int i = 0; i < 3; ++i) {
            lease one = co_await holdfast::lock(all.locker(1), other).acquire(5s);
            co_await one.release();
        }
    }
    // The lease ends, and its holder does not know it. Others wait nevertheless.
    auto [lost] = co_await held.lost(no_throw);
    BOOST_TEST(lost == errc::lease_lost);
    auto [ec, none] = co_await all.lock(1, brief()).acquire(2s, no_throw);
    BOOST_TEST(ec == errc::contended, ec.message());
    const lease once = co_await all.lock(1, brief()).try_acquire();
    BOOST_TEST(!once);
    users.run("COMMIT");
    lease next = co_await all.lock(1, brief()).acquire();
    BOOST_TEST(next.held());
    users.run("START TRANSACTION");
    BOOST_TEST(users.run(g.statement, g.parameters).empty()); // the former holder
    users.run("ROLLBACK");
    co_await next.release();
}

BOOST_AUTO_TEST_CASE(a_guard_keeps_others_out_until_the_transaction_ends)
{
    const mariadb_server server;
    for (const std::string isolation : {"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}) {
        scene s(store_in(server), 2);
        mariadb_session users(server);
        run(s.io, guarded(s, users, isolation));
        s.finish();
    }
}

// Waiters keep their places, and get the lock in their order.
BOOST_AUTO_TEST_CASE(others_may_enter_the_queue_behind_a_guard)
{
    const mariadb_server server;
    scene s(store_in(server), 3);
    mariadb_session users(server);
    run(s.io, [](scene& all, mariadb_session& user, const mariadb_server& in) -> task {
        lease held = co_await all.lock(0, brief(2s)).acquire();
        const mysql_guard g = make_mysql_guard(held);
        user.run("SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION");
        BOOST_TEST(user.run(g.statement, g.parameters).size() == 1u);
        call<lease> second, third;
        all.lock(1, brief(2s)).acquire(forever, second.token());
        while (in.run("SELECT waiters <> '' FROM holdfast_locks") != "1")
            co_await pause(1ms);
        all.lock(2, brief(2s)).acquire(forever, third.token());
        co_await pause(3s); // longer than a place is good for without a refresh
        BOOST_TEST(held.held());
        user.run("COMMIT");
        co_await held.release();
        while (!second.done())
            co_await pause(1ms);
        BOOST_TEST(!third.done());
        BOOST_TEST(!second.error(), second.error().message());
        second.result<lease>() = lease();
        while (!third.done())
            co_await pause(1ms);
        BOOST_TEST(!third.error(), third.error().message());
        third.result<lease>() = lease();
    }(s, users, server));
    s.finish();
}

BOOST_AUTO_TEST_CASE(a_row_that_another_transaction_has_locked_delays_no_other_lock)
{
    const mariadb_server server;
    mariadb_session user(server);
    lock_others_beside_a_locked_row(store_in(server), user,
        "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
