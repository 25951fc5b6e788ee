// Locks in a real PostgreSQL server that are shown and taken away otherwise than in other
// databases.
#include "integration/sql/inspection.hpp"
#include "integration/postgresql/store.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(postgresql_inspection)

task pass_strange_rows(scene& s)
{
    const resource_report past = co_await s.locker().inspect("past");
    BOOST_TEST(past.queue.value().length == 1u);
    co_await look_at_strange_rows(s);
}

BOOST_AUTO_TEST_CASE(rows_that_a_person_has_written_do_no_harm)
{
    const postgres_server server;
    play(store_in(server), 1, [](scene& s) { return make_table(s); });
    server.run("INSERT INTO holdfast_locks VALUES "
               "('closed', 'by {\"hand', 1, 2, 'infinity', '{}', '{}'), "
               "('past', 'x', 1, 2, '-infinity', '{a,NULL}', '{infinity,NULL}')");
    play(store_in(server), 1, [](scene& s) { return pass_strange_rows(s); });
}

// No statement reads or sorts the whole table.
BOOST_AUTO_TEST_CASE(a_page_is_read_by_the_index)
{
    const postgres_server server;
    play(store_in(server), 1, [](scene& s) { return make_table(s); });
    server.run("INSERT INTO holdfast_locks SELECT int4send(i), '', 1, 2, now() "
               "FROM generate_series(1, 50000) i; ANALYZE holdfast_locks");
    server.run("SELECT pg_stat_reset()");
    play(store_in(server), 1, [](scene& s) -> task {
        const lock_list all = co_await s.locker().list("");
        BOOST_TEST(all.complete);
        BOOST_TEST(all.locks.empty());
    });
    // The numbers are told when the connection has ended.
    std::string scans;
    for (int i = 0; i < 1000 && scans.empty(); ++i)
        scans = server.run("SELECT seq_scan FROM pg_stat_user_tables WHERE relname = "
                           "'holdfast_locks' AND idx_tup_fetch >= 50000");
    BOOST_TEST(scans == "0");
}

BOOST_AUTO_TEST_CASE(a_holder_in_another_process_is_told_and_the_next_has_the_lock)
{
    const postgres_server server;
    play(store_in(server), 3, [](scene& s) { return take_away(s, brief(60s), true); });
    BOOST_TEST(used_rows(server) == "0");
}

BOOST_AUTO_TEST_CASE(a_holder_that_stands_still_is_not_told)
{
    const postgres_server server({.listens = true});
    child_process holder({HOLDFAST_LOCK_HOLDER, "resource", "20000", server.uri()});
    BOOST_REQUIRE(!holder.read_line().empty());
    holder.pause();
    play(store_in(server), 1, [](scene& s) -> task {
        const forced_release done = co_await s.locker().force_release("resource");
        BOOST_TEST(!done.told);
        BOOST_TEST(done.deleted == 1u);
        lease next = co_await holdfast::lock(s.locker(), "resource").acquire(10s);
        BOOST_TEST(next.held());
    });
    holder.resume();
    BOOST_TEST(holder.wait() == 0); // it has noticed
}

BOOST_AUTO_TEST_CASE(three_rights_are_enough)
{
    const postgres_server server({.listens = true});
    server.run("CREATE ROLE app LOGIN");
    play(store_in(server), 1, [](scene& s) { return make_table(s); });
    server.run("GRANT SELECT, INSERT, UPDATE ON holdfast_locks TO app");
    play(postgresql(server.uri("app")), 3, [](scene& s) { return take_away(s, brief(60s), true); });
    play(postgresql(server.uri("app")), 1, [](scene& s) -> task {
        const lock_list all = co_await s.locker().list("");
        BOOST_TEST(all.complete);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
