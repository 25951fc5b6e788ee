// Servers that die, stand still, or end connections.
#include "integration/sql/tested_store.hpp"

#include <thread>

namespace holdfast::test {
namespace {

HOLDFAST_SQL_SUITE(troubles)

template <class Trouble>
void pass_during(Trouble trouble)
{
    tested_server server;
    pass_during(store_in(server), server, trouble);
    BOOST_TEST(used_rows(server) == "0");
}

BOOST_AUTO_TEST_CASE(no_lease_is_lost_when_the_server_is_killed_and_started_again)
{
    pass_during([](tested_server& server) -> task {
        server.restart();
        co_return;
    });
}

BOOST_AUTO_TEST_CASE(no_lease_is_lost_while_the_server_stands_still)
{
    pass_during([](tested_server& server) -> task {
        server.pause();
        co_await pause(3s);
        server.resume();
    });
}

BOOST_AUTO_TEST_CASE(no_lease_is_lost_when_connections_are_ended)
{
    pass_during([](tested_server& server) -> task {
        for (int i = 0; i < 5; ++i) {
            end_connections(server);
            co_await pause(50ms);
        }
    });
}

BOOST_AUTO_TEST_CASE(statements_that_are_cancelled_are_made_again)
{
    pass_during([](tested_server& server) -> task {
        for (int i = 0; i < 100; ++i) {
            cancel_statements(server);
            co_await pause(2ms);
        }
    });
}

BOOST_AUTO_TEST_CASE(a_locked_table_delays_and_breaks_nothing)
{
    pass_during([](tested_server& server) -> task {
        std::thread locks([&server] { lock_table_for_a_second(server); });
        co_await pause(1200ms);
        locks.join();
    });
}

BOOST_AUTO_TEST_CASE(leases_end_in_time_without_a_server_and_work_goes_on_with_it)
{
    tested_server server;
    scene s(store_in(server), 2);
    lease held;
    run(s.io, [](scene& all, tested_server& in, lease& to) -> task {
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
    tested_server server;
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

// A row that was used lately keeps the order of tokens.
BOOST_AUTO_TEST_CASE(only_old_rows_are_cleaned_up)
{
    const tested_server server;
    const auto rows = [&server] {
        return server.run("SELECT COUNT(*) FROM holdfast_locks");
    };
    take_turns(store_in(server), 1, 1, 1);
    server.run(clean_up);
    BOOST_TEST(rows() == "1");
    server.run("UPDATE holdfast_locks SET token_end = token_end - 86401000000");
    server.run(clean_up);
    BOOST_TEST(rows() == "0");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
