// Who holds locks in a real MariaDB server, and how they are taken away.
#include "integration/mysql/store.hpp"

#include <algorithm>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(mysql_inspection)

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
    BOOST_TEST(seen.queue->address == "mysql");
    co_await held.release();
    while (!waits.done())
        co_await pause(1ms);
    waits.result<lease>() = lease();
}

BOOST_AUTO_TEST_CASE(the_holder_and_the_queue_are_told)
{
    const mariadb_server server;
    play(store_in(server), 3, [](scene& s) { return look_at(s); });
}

task look_at_strange_rows(scene& s)
{
    const resource_report seen = co_await s.locker().inspect("closed");
    BOOST_TEST(seen.owner.value().foreign);
    BOOST_TEST((seen.ttl_left > 24h));
    const resource_report past = co_await s.locker().inspect("past");
    BOOST_TEST(!past.held);
    const lock_list all = co_await s.locker().list("");
    BOOST_TEST(all.locks.size() == 1u);
    const forced_release done = co_await s.locker().force_release("closed");
    BOOST_TEST(!done.told);
    BOOST_TEST(done.deleted == 1u);
    for (const std::string name : {"past", "broken", "odd", "closed"}) {
        lease held = co_await holdfast::lock(s.locker(), name).acquire(5s);
        BOOST_TEST(held.held(), name);
        co_await held.release();
    }
}

BOOST_AUTO_TEST_CASE(rows_that_a_person_has_written_do_no_harm)
{
    const mariadb_server server;
    play(store_in(server), 1, [](scene& s) { return make_table(s); });
    server.run("INSERT INTO holdfast_locks VALUES "
               "('closed', 'by {\"hand', 1, 2, 9223372036854775807, ''), "
               "('past', 'x', 1, 2, -1, '[\"a\",\"b\",{}]'), "
               "('broken', '', 1, 2, 0, 'nonsense]['), "
               "('odd', '', 1, 2, 0, '[[1]],{\"a\":2},[\"x\"],[\"y\",null],7')");
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
    const mariadb_server server;
    play(store_in(server), 1, [](scene& s) { return make_table(s); });
    server.run("INSERT INTO holdfast_locks SELECT CONCAT(x'ff', UNHEX(LPAD(HEX(seq), 8, '0'))), "
               "IF(seq % 10 = 0, 'x', ''), 1, 2, UNIX_TIMESTAMP() * 1000000 + 3600000000, '' "
               "FROM seq_1_to_20000");
    server.run("INSERT INTO holdfast_locks SELECT n, 'x', 1, 2, "
               "UNIX_TIMESTAMP() * 1000000 + 3600000000, '' FROM (SELECT 'a%' AS n UNION SELECT "
               "'a_' UNION SELECT 'ab' UNION SELECT 'b') t");
    play(store_in(server), 1, [](scene& s) { return list_many(s); });
}

// The holder is told nothing, and finds it out when it renews.
task take_away(scene& s)
{
    lease held = co_await s.lock(0, brief(6s)).acquire();
    call<lease> waits;
    s.lock(1, brief(6s)).acquire(forever, waits.token());
    co_await waiters(s.locker(2), s.resource, 1);
    const forced_release done = co_await s.locker(2).force_release(s.resource);
    BOOST_TEST(!done.told);
    BOOST_TEST(done.deleted == 1u);
    BOOST_TEST(!done.owner.value().foreign);
    while (!waits.done())
        co_await pause(1ms);
    BOOST_TEST(!waits.error(), waits.error().message());
    const auto [lost] = co_await held.lost(no_throw);
    BOOST_TEST(lost == errc::lease_lost);
    waits.result<lease>() = lease();
    const auto [ec, none] = co_await s.locker(2).force_release("nobody has it", no_throw);
    BOOST_TEST(ec == errc::not_held, ec.message());
}

BOOST_AUTO_TEST_CASE(the_next_has_the_lock_that_was_taken_away)
{
    const mariadb_server server;
    play(store_in(server), 3, [](scene& s) { return take_away(s); });
    BOOST_TEST(used_rows(server) == "0");
}

task take_what_is_locked(scene& s, mariadb_session& user)
{
    lease held = co_await s.lock(0, brief(30s)).acquire();
    user.run("START TRANSACTION");
    user.run("SELECT 1 FROM holdfast_locks FOR UPDATE");
    const auto begun = steady::now();
    const auto [ec, done] = co_await s.locker(1).force_release(s.resource, no_throw);
    BOOST_TEST(ec == errc::contended, ec.message());
    BOOST_TEST(done.deleted == 0u);
    BOOST_TEST((steady::now() - begun < 10s));
    const resource_report seen = co_await s.locker(1).inspect(s.resource); // reads without a lock
    BOOST_TEST(seen.held);
    BOOST_TEST(held.held());
    user.run("ROLLBACK");
    const forced_release again = co_await s.locker(1).force_release(s.resource);
    BOOST_TEST(again.deleted == 1u);
    co_await held.release();
}

BOOST_AUTO_TEST_CASE(a_row_that_a_transaction_has_locked_is_left_alone)
{
    const mariadb_server server;
    mariadb_session users(server);
    play(store_in(server), 2, [&](scene& s) { return take_what_is_locked(s, users); });
}

BOOST_AUTO_TEST_CASE(without_a_server_the_time_is_bounded)
{
    mariadb_server server;
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
