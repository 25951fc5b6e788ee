// Locks in a real PostgreSQL server.
#include "integration/postgresql/store.hpp"

#include <libpq-fe.h>

#include <memory>
#include <thread>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(postgresql_locks)

BOOST_AUTO_TEST_CASE(lockers_exclude_each_other_and_tokens_grow)
{
    const postgres_server server;
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
    const postgres_server server({.settings = {"max_connections=100"}});
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
    const postgres_server server;
    scene s(store_in(server), 2);
    int held = 0;
    std::vector<task> all;
    for (int i = 0; i < 2000; ++i)
        all.push_back(
            [](holdfast::lock lock,
                int& count) -> task {
                lease one = co_await lock.acquire();
                ++count;
                co_await one.release();
            }(holdfast::lock(s.locker(static_cast<std::size_t>(i) % 2),
                                std::string("\xff\0'\"{", 5) + std::to_string(i / 2), brief(10s)),
                                held));
    run(s.io, std::move(all));
    BOOST_TEST(held == 2000);
    s.finish();
    BOOST_TEST(used_rows(server) == "0");
    BOOST_TEST(server.run("SELECT count(*) FROM holdfast_locks") == "1000");
}

BOOST_AUTO_TEST_CASE(the_lock_of_a_killed_process_is_free_after_its_ttl_and_not_before)
{
    const postgres_server server({.listens = true});
    for (const auto life : {0ms, 2500ms}) { // before its first renewal, and after several
        child_process holder({HOLDFAST_LOCK_HOLDER, "resource", "3000", server.uri()});
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
    const postgres_server server({.listens = true});
    child_process holder({HOLDFAST_LOCK_HOLDER, "resource", "2000", server.uri()});
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
BOOST_AUTO_TEST_CASE(a_waiter_that_comes_later_tells_the_locker_in_which_a_lease_lingers)
{
    const postgres_server server;
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

BOOST_AUTO_TEST_CASE(the_example_works)
{
    const postgres_server server({.listens = true});
    child_process example({HOLDFAST_EXAMPLE, server.uri()});
    BOOST_TEST(example.read_line().starts_with("sold one, 9 left, with token "));
    BOOST_TEST(example.wait() == 0);
    BOOST_TEST(used_rows(server) == "0");
}

struct finish {
    void operator()(PGconn* each) const noexcept { ::PQfinish(each); }
};
using connection = std::unique_ptr<PGconn, finish>;

// The number of rows, or -1 if it fails.
int rows_of(PGconn* to, const char* statement, const std::vector<std::string>& parameters = {})
{
    std::vector<const char*> values;
    for (const std::string& each : parameters)
        values.push_back(each.c_str());
    PGresult* const found = ::PQexecParams(to, statement, static_cast<int>(values.size()), nullptr,
        values.data(), nullptr, nullptr, 0);
    const int rows = ::PQresultStatus(found) == PGRES_TUPLES_OK ? ::PQntuples(found) : -1;
    ::PQclear(found);
    return rows;
}

BOOST_AUTO_TEST_CASE(a_guard_keeps_others_out_until_the_transaction_ends)
{
    const postgres_server server;
    scene s(store_in(server), 2);
    const connection users(::PQconnectdb(server.where().c_str()));
    run(s.io, [](scene& all, PGconn* to) -> task {
        lock_options unrenewed = brief(1s);
        unrenewed.renewal = renewal::manual;
        lease held = co_await all.lock(0, unrenewed).acquire();
        const postgresql_guard g = guard(held);
        rows_of(to, "BEGIN");
        BOOST_TEST(rows_of(to, g.statement.c_str(), g.parameters) == 1);
        co_await held.extend(); // a guard lets renewals pass
        // The lease ends, and its holder does not know it. Others wait nevertheless.
        auto [lost] = co_await held.lost(no_throw);
        BOOST_TEST(lost == errc::lease_lost);
        auto [ec, none] = co_await all.lock(1, brief()).acquire(2s, no_throw);
        BOOST_TEST(ec == errc::contended, ec.message());
        const lease once = co_await all.lock(1, brief()).try_acquire();
        BOOST_TEST(!once);
        rows_of(to, "COMMIT");
        lease next = co_await all.lock(1, brief()).acquire();
        BOOST_TEST(next.held());
        rows_of(to, "BEGIN");
        BOOST_TEST(rows_of(to, g.statement.c_str(), g.parameters) == 0); // the former holder
        rows_of(to, "ROLLBACK");
        co_await next.release();
    }(s, users.get()));
    s.finish();
}

BOOST_AUTO_TEST_CASE(a_row_that_another_transaction_has_locked_delays_no_other_lock)
{
    const postgres_server server;
    scene s(store_in(server), 1);
    const connection users(::PQconnectdb(server.where().c_str()));
    run(s.io, [](scene& all, PGconn* to) -> task {
        {
            lease held = co_await all.lock(0, brief(10s)).acquire();
            co_await held.release();
        }
        rows_of(to, "BEGIN");
        BOOST_TEST(rows_of(to, "SELECT 1 FROM holdfast_locks FOR UPDATE") == 1);
        call<lease> waits;
        all.lock(0, brief(10s)).acquire(forever, waits.token());
        for (int i = 0; i < 50; ++i) {
            lease other =
                co_await holdfast::lock(all.locker(), "other" + std::to_string(i)).acquire(5s);
            co_await other.release();
        }
        BOOST_TEST(!waits.done());
        rows_of(to, "ROLLBACK");
        while (!waits.done())
            co_await pause(1ms);
        BOOST_TEST(!waits.error(), waits.error().message());
        waits.result<lease>() = lease();
    }(s, users.get()));
    s.finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
