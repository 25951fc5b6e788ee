// A real PgBouncer between lockers and their server.
#include "integration/postgresql/store.hpp"
#include "support/pgbouncer.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(postgresql_pooler)

// Waiters that are told about their turn have the channel of their process behind an @.
std::string first_waiter(const postgres_server& server)
{
    return server.run("SELECT waiters[1] FROM holdfast_locks WHERE waiters <> '{}'");
}

task wait_once(
    holdfast::locker& first, holdfast::locker& second, const postgres_server& server, bool is_told)
{
    const holdfast::lock here(first, "waited for", brief(10s)),
        there(second, "waited for", brief(10s));
    lease held = co_await here.acquire();
    call<lease> waits;
    there.acquire(forever, waits.token());
    while (first_waiter(server).empty())
        co_await pause(5ms);
    BOOST_TEST((first_waiter(server).find('@') != std::string::npos) == is_told);
    const lease once = co_await there.try_acquire();
    BOOST_TEST(!once);
    co_await held.release();
    while (!waits.done())
        co_await pause(1ms);
    BOOST_TEST(!waits.error(), waits.error().message());
    waits.result<lease>() = lease();
}

// Nobody hears an answer there, and the holder finds out with its next renewal.
task take_away(scene& s)
{
    lease held = co_await s.lock(0, brief()).acquire();
    const resource_report seen = co_await s.locker(1).inspect(s.resource);
    BOOST_TEST(seen.held);
    const lock_list all = co_await s.locker(1).list(s.resource);
    BOOST_TEST(all.locks.size() == 1u);
    const forced_release done = co_await s.locker(1).force_release(s.resource);
    BOOST_TEST(!done.told);
    BOOST_TEST(done.deleted == 1u);
    const auto [lost] = co_await held.lost(no_throw);
    BOOST_TEST(lost == errc::lease_lost);
}

// With fewer connections to the server than lockers.
void pass_through(const std::string& mode, int most)
{
    const postgres_server server;
    const pgbouncer between(server, mode, most);
    constexpr std::size_t lockers = 6;
    scene s(postgresql(between.where(), {.create_table = true}), lockers);
    critical_section section;
    std::vector<task> all;
    for (std::size_t i = 0; i < lockers; ++i)
        all.push_back(section.pass(s.lock(i, brief(20s)), 5));
    run(s.io, std::move(all));
    BOOST_TEST(section.passed == 30);
    run(s.io, wait_once(s.locker(0), s.locker(1), server, false));
    run(s.io, take_away(s));
    s.finish();
    BOOST_TEST(used_rows(server) == "0");
}

BOOST_AUTO_TEST_CASE(locks_pass_a_pooler_that_shares_connections_between_transactions)
{
    pass_through("transaction", 2);
}

BOOST_AUTO_TEST_CASE(locks_pass_a_pooler_that_shares_connections_between_statements)
{
    pass_through("statement", 2);
}

BOOST_AUTO_TEST_CASE(locks_pass_a_pooler_that_lends_connections)
{
    pass_through("session", 10);
}

BOOST_AUTO_TEST_CASE(lockers_behind_a_pooler_and_others_exclude_each_other)
{
    const postgres_server server;
    const pgbouncer between(server, "transaction", 2);
    asio::io_context io;
    holdfast::locker direct(io.get_executor(), store_in(server)),
        pooled(io.get_executor(), postgresql(between.where(), {.create_table = true}));
    critical_section section;
    std::vector<task> all;
    all.push_back(section.pass(holdfast::lock(direct, "both", brief(20s)), 20));
    all.push_back(section.pass(holdfast::lock(pooled, "both", brief(20s)), 20));
    run(io, std::move(all));
    BOOST_TEST(section.passed == 40);
    run(io, wait_once(direct, pooled, server, false));
    run(io, wait_once(pooled, direct, server, true));
    run(io, direct.close(asio::use_awaitable));
    run(io, pooled.close(asio::use_awaitable));
    expect_no_work_left(io);
    BOOST_TEST(used_rows(server) == "0");
}

// No notification arrives there: the answer to a renewal tells that others wait.
BOOST_AUTO_TEST_CASE(a_holder_learns_of_waiters_from_its_renewals)
{
    const postgres_server server;
    const pgbouncer between(server, "transaction", 2);
    scene s(postgresql(between.where(), {.create_table = true}), 2);
    run(s.io, [](scene& all) -> task {
        lock_options sticky = brief();
        sticky.linger = 60s;
        lease first = co_await all.lock(0, sticky).acquire();
        co_await first.release();
        BOOST_TEST(all.locker(0).stats().lingering == 1u);
        lease next = co_await all.lock(1, brief()).acquire(30s);
        BOOST_TEST(next.held());
        co_await next.release();
    }(s));
    s.finish();
}

// Nothing can be set on a connection that others use as well.
BOOST_AUTO_TEST_CASE(asynchronous_commits_behind_a_pooler_are_told)
{
    const postgres_server server({.settings = {"synchronous_commit=off"}});
    const pgbouncer between(server, "transaction", 2);
    const auto made = try_with(between.where(), {.create_table = true});
    BOOST_TEST(made.error == errc::misconfigured_node, made.error.message());
    BOOST_TEST(made.nodes.find("synchronous_commit is off") != std::string::npos, made.nodes);
}

BOOST_AUTO_TEST_CASE(a_pooler_whose_server_is_killed_is_used_again)
{
    postgres_server server;
    const pgbouncer between(server, "transaction", 2);
    scene s(postgresql(between.where(), {.create_table = true}), 1);
    run(s.io, [](scene& all, postgres_server& in) -> task {
        lease held = co_await all.lock(0, brief(30s)).acquire();
        in.restart();
        co_await confirmed(held);
        co_await held.release();
    }(s, server));
    s.finish();
    BOOST_TEST(used_rows(server) == "0");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
