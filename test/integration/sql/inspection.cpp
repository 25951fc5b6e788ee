// Who holds locks in a real server, and how they are taken away.
#include "integration/sql/inspection.hpp"

#include "integration/sql/tested_store.hpp"

#include <algorithm>

namespace holdfast::test {
namespace {

HOLDFAST_SQL_SUITE(inspection)

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
    BOOST_TEST(seen.queue->address == tested_store);
    co_await held.release();
    while (!waits.done())
        co_await pause(1ms);
    waits.result<lease>() = lease();
}

BOOST_AUTO_TEST_CASE(the_holder_and_the_queue_are_told)
{
    const tested_server server({.settings = other_formats()});
    play(store_in(server), 3, [](scene& s) { return look_at(s); });
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
    const tested_server server;
    play(store_in(server), 1, [](scene& s) { return make_table(s); });
    insert_many_locks(server);
    play(patient_store_in(server), 1, [](scene& s) { return list_many(s); });
}

task take_what_is_locked(scene& s, tested_session& user)
{
    lease held = co_await s.lock(0, brief(30s)).acquire();
    user.run("BEGIN");
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
    BOOST_TEST(again.told == tells_holders);
    if (tells_holders) {
        const auto [lost] = co_await held.lost(no_throw);
        BOOST_TEST(lost == errc::lease_lost);
    } else {
        co_await held.release();
    }
}

BOOST_AUTO_TEST_CASE(a_row_that_a_transaction_has_locked_is_left_alone)
{
    const tested_server server;
    tested_session users(server);
    play(store_in(server), 2, [&](scene& s) { return take_what_is_locked(s, users); });
}

BOOST_AUTO_TEST_CASE(without_a_server_the_time_is_bounded)
{
    tested_server server;
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
