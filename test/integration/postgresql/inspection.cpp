// Who holds locks in a real PostgreSQL server, and how they are taken away.
#include "integration/postgresql/store.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <memory>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(postgresql_inspection)

task make_table(scene& s)
{
    lease once = co_await s.lock(0).acquire();
    co_await once.release();
}

// Waits until so many wait for the resource.
task waiters(holdfast::locker& locker, resource what, std::size_t count)
{
    for (;;) {
        const resource_report seen = co_await locker.inspect(what);
        if (seen.queue && seen.queue->length == count)
            co_return;
        co_await pause(5ms);
    }
}

task look_at(scene& s)
{
    const resource_report none = co_await s.locker(2).inspect(s.resource);
    BOOST_TEST(!none.held);
    BOOST_TEST(!none.fence.has_value());
    lease held = co_await s.lock(0, brief(10s)).acquire();
    call<lease> waits;
    s.lock(1, brief(10s)).acquire(forever, waits.token());
    co_await waiters(s.locker(2), s.resource, 1);
    const resource_report seen = co_await s.locker(2).inspect(s.resource);
    BOOST_TEST(seen.held);
    BOOST_TEST((seen.ttl_left > 5s && seen.ttl_left <= 10s));
    BOOST_TEST(seen.fence.value() >= held.fence().value());
    BOOST_TEST(!seen.owner.value().foreign);
    BOOST_REQUIRE(seen.queue.value().waiters.size() == 1u);
    BOOST_TEST(seen.queue->waiters[0].id != seen.owner->id);
    BOOST_TEST(seen.queue->waiters[0].mark != seen.owner->mark);
    BOOST_TEST(seen.queue->address == "postgresql");
    co_await held.release();
    while (!waits.done())
        co_await pause(1ms);
    waits.result<lease>() = lease();
}

BOOST_AUTO_TEST_CASE(the_holder_and_the_queue_are_told)
{
    const postgres_server server({.settings = {"bytea_output=escape"}});
    play(store_in(server), 3, [](scene& s) { return look_at(s); });
}

task look_at_strange_rows(scene& s)
{
    const resource_report seen = co_await s.locker().inspect("closed");
    BOOST_TEST(seen.owner.value().foreign);
    BOOST_TEST((seen.ttl_left > 24h));
    const resource_report past = co_await s.locker().inspect("past");
    BOOST_TEST(!past.held);
    BOOST_TEST(past.queue.value().length == 1u);
    const lock_list all = co_await s.locker().list("");
    BOOST_TEST(all.locks.size() == 1u);
    const forced_release done = co_await s.locker().force_release("closed");
    BOOST_TEST(!done.told);
    BOOST_TEST(done.deleted == 1u);
}

BOOST_AUTO_TEST_CASE(rows_that_a_person_has_written_do_no_harm)
{
    const postgres_server server;
    play(store_in(server), 1, [](scene& s) { return make_table(s); });
    server.run("INSERT INTO holdfast_locks VALUES "
               "('closed', 'by {\"hand', 1, 2, 'infinity', '{}', '{}'), "
               "('past', 'x', 1, 2, '-infinity', '{a,NULL}', '{infinity,NULL}')");
    play(store_in(server), 1, [](scene& s) { return look_at_strange_rows(s); });
}

task list_many(scene& s)
{
    const lock_list all = co_await s.locker().list("");
    BOOST_TEST(all.complete);
    BOOST_TEST(all.locks.size() == 2004u);
    BOOST_TEST(std::is_sorted(all.locks.begin(), all.locks.end(),
        [](const auto& a, const auto& b) { return a.resource < b.resource; }));
    const lock_list bytes = co_await s.locker().list("\xff");
    BOOST_TEST(bytes.locks.size() == 2000u);
    const lock_list percent = co_await s.locker().list("a%");
    BOOST_TEST(percent.locks.size() == 1u);
    const lock_list letters = co_await s.locker().list("a");
    BOOST_TEST(letters.locks.size() == 3u);
}

BOOST_AUTO_TEST_CASE(many_locks_are_listed_in_pages_and_free_rows_are_passed)
{
    const postgres_server server;
    play(store_in(server), 1, [](scene& s) { return make_table(s); });
    // Bytes that are no text, and some that LIKE would take for more.
    server.run("INSERT INTO holdfast_locks SELECT decode('ff', 'hex') || int4send(i), "
               "CASE WHEN i % 10 = 0 THEN 'x' ELSE '' END, 1, 2, now() + interval '1 hour' "
               "FROM generate_series(1, 20000) i");
    server.run("INSERT INTO holdfast_locks SELECT convert_to(name, 'UTF8'), 'x', 1, 2, "
               "now() + interval '1 hour' FROM unnest(ARRAY['a%', 'a_', 'ab', 'b']) n(name)");
    play(store_in(server), 1, [](scene& s) { return list_many(s); });
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

task take_away(scene& s)
{
    lease held = co_await s.lock(0, brief(60s)).acquire();
    call<lease> waits;
    s.lock(1, brief(60s)).acquire(forever, waits.token());
    co_await waiters(s.locker(2), s.resource, 1);
    const auto begun = steady::now();
    const forced_release done = co_await s.locker(2).force_release(s.resource);
    BOOST_TEST(done.told);
    BOOST_TEST(done.deleted == 1u);
    const auto [lost] = co_await held.lost(no_throw);
    BOOST_TEST(lost == errc::lease_lost);
    while (!waits.done())
        co_await pause(1ms);
    BOOST_TEST(!waits.error(), waits.error().message());
    BOOST_TEST((steady::now() - begun < 15s)); // renewals are due after 20 s
    waits.result<lease>() = lease();
}

BOOST_AUTO_TEST_CASE(a_holder_in_another_process_is_told_and_the_next_has_the_lock)
{
    const postgres_server server;
    play(store_in(server), 3, [](scene& s) { return take_away(s); });
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

struct finish {
    void operator()(PGconn* each) const noexcept { ::PQfinish(each); }
};

void run_in(PGconn* to, const char* statement)
{
    PGresult* const done = ::PQexec(to, statement);
    BOOST_TEST(
        (::PQresultStatus(done) == PGRES_COMMAND_OK || ::PQresultStatus(done) == PGRES_TUPLES_OK));
    ::PQclear(done);
}

task take_what_is_locked(scene& s, PGconn* to)
{
    lease held = co_await s.lock(0, brief(30s)).acquire();
    run_in(to, "BEGIN");
    run_in(to, "SELECT 1 FROM holdfast_locks FOR UPDATE");
    const auto begun = steady::now();
    const auto [ec, done] = co_await s.locker(1).force_release(s.resource, no_throw);
    BOOST_TEST(ec == errc::contended, ec.message());
    BOOST_TEST(done.deleted == 0u);
    BOOST_TEST((steady::now() - begun < 10s));
    const resource_report seen = co_await s.locker(1).inspect(s.resource); // reads without a lock
    BOOST_TEST(seen.held);
    BOOST_TEST(held.held());
    run_in(to, "ROLLBACK");
    const forced_release again = co_await s.locker(1).force_release(s.resource);
    BOOST_TEST(again.told);
    const auto [lost] = co_await held.lost(no_throw);
    BOOST_TEST(lost == errc::lease_lost);
}

BOOST_AUTO_TEST_CASE(a_row_that_a_transaction_has_locked_is_left_alone)
{
    const postgres_server server;
    const std::unique_ptr<PGconn, finish> users(::PQconnectdb(server.where().c_str()));
    play(store_in(server), 2, [&](scene& s) { return take_what_is_locked(s, users.get()); });
}

BOOST_AUTO_TEST_CASE(three_rights_are_enough)
{
    const postgres_server server({.listens = true});
    server.run("CREATE ROLE app LOGIN");
    play(store_in(server), 1, [](scene& s) { return make_table(s); });
    server.run("GRANT SELECT, INSERT, UPDATE ON holdfast_locks TO app");
    play(postgresql(server.uri("app")), 3, [](scene& s) { return take_away(s); });
    play(postgresql(server.uri("app")), 1, [](scene& s) -> task {
        const lock_list all = co_await s.locker().list("");
        BOOST_TEST(all.complete);
    });
}

BOOST_AUTO_TEST_CASE(without_a_server_the_time_is_bounded)
{
    postgres_server server;
    scene s(store_in(server), 1);
    run(s.io, make_table(s));
    server.kill();
    run(s.io, [](scene& all) -> task {
        const auto begun = steady::now();
        const auto [looked, report] = co_await all.locker().inspect(all.resource, no_throw);
        BOOST_TEST(looked == errc::unreachable, looked.message());
        const auto [listed, list] = co_await all.locker().list("", no_throw);
        BOOST_TEST(listed == errc::unreachable, listed.message());
        const auto [forced, done] = co_await all.locker().force_release(all.resource, no_throw);
        BOOST_TEST(forced == errc::unreachable, forced.message());
        BOOST_TEST((steady::now() - begun < 20s));
    }(s));
    s.finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
