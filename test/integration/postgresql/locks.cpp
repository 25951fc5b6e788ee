// Locks in a real PostgreSQL server: what differs from other databases.
#include "integration/postgresql/store.hpp"
#include "postgresql/statements.hpp"

#include <optional>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(postgresql_locks)

BOOST_AUTO_TEST_CASE(a_waiter_that_comes_later_tells_the_locker_in_which_a_lease_lingers)
{
    const postgres_server server;
    take_from_lingering(store_in(server));
}

// As if it was made while the query ran. Many processes begin with an empty database at once.
BOOST_AUTO_TEST_CASE(a_table_that_is_made_during_the_query_for_it_is_not_there_yet)
{
    const postgres_server server;
    const postgresql_store::statements texts("holdfast_locks");
    postgres_session early(server);
    early.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
    early.run("SELECT 1"); // what it sees is fixed from now on
    server.run(texts.create());
    BOOST_TEST(early.run("SELECT to_regclass($1) IS NOT NULL", {"holdfast_locks"}).at(0) == "t");
    const auto seen = [&] {
        return early.run(texts.facts(), {"holdfast_locks"}).at(0);
    };
    BOOST_TEST(seen().find("|f|f|f|f|") != std::string::npos, seen());
    early.run("COMMIT");
    BOOST_TEST(seen().find("|f|f|t|t|") != std::string::npos, seen());
}

BOOST_AUTO_TEST_CASE(the_example_works)
{
    const postgres_server server({.listens = true});
    child_process example({HOLDFAST_EXAMPLE, server.uri()});
    BOOST_TEST(example.read_line().starts_with("sold one, 9 left, with token "));
    BOOST_TEST(example.wait() == 0);
    BOOST_TEST(used_rows(server) == "0");
}

BOOST_AUTO_TEST_CASE(a_guard_keeps_others_out_until_the_transaction_ends)
{
    const postgres_server server;
    scene s(store_in(server), 2);
    postgres_session users(server);
    run(s.io, [](scene& all, postgres_session& user) -> task {
        lock_options unrenewed = brief(3s); // long enough for the statements before its end
        unrenewed.renewal = renewal::manual;
        lease held = co_await all.lock(0, unrenewed).acquire();
        const postgresql_guard g = guard(held);
        user.run("BEGIN");
        BOOST_TEST(user.run(g.statement, g.parameters).size() == 1u);
        co_await held.extend(); // a guard lets renewals pass
        // The lease ends, and its holder does not know it. Others wait nevertheless.
        auto [lost] = co_await held.lost(no_throw);
        BOOST_TEST(lost == errc::lease_lost);
        auto [ec, none] = co_await all.lock(1, brief()).acquire(2s, no_throw);
        BOOST_TEST(ec == errc::contended, ec.message());
        const lease once = co_await all.lock(1, brief()).try_acquire();
        BOOST_TEST(!once);
        user.run("COMMIT");
        lease next = co_await all.lock(1, brief()).acquire();
        BOOST_TEST(next.held());
        user.run("BEGIN");
        BOOST_TEST(user.run(g.statement, g.parameters).empty()); // the former holder
        user.run("ROLLBACK");
        co_await next.release();
    }(s, users));
    s.finish();
}

BOOST_AUTO_TEST_CASE(a_row_that_another_transaction_has_locked_delays_no_other_lock)
{
    const postgres_server server;
    postgres_session user(server);
    lock_others_beside_a_locked_row(store_in(server), user, "BEGIN");
}

BOOST_AUTO_TEST_CASE(a_release_behind_a_locked_row_ends_with_the_locker)
{
    const postgres_server server;
    scene s(store_in(server));
    postgres_session user(server);
    lease held;
    run(s.io, [](scene& all, lease& to) -> task {
        to = co_await all.lock(0, brief(10s)).acquire();
    }(s, held));
    user.run("BEGIN");
    user.run("SELECT 1 FROM holdfast_locks FOR UPDATE");
    std::optional<release_outcome> outcome;
    held.release([&](error_code, release_outcome how) { outcome = how; });
    s.finish(); // no work is left
    BOOST_TEST((outcome == release_outcome::unconfirmed));
    user.run("COMMIT");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
