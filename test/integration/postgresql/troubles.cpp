// Notifications that are lost.
#include "integration/postgresql/store.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(postgresql_troubles)

BOOST_AUTO_TEST_CASE(a_turn_of_which_nobody_was_told_is_found)
{
    const postgres_server server;
    scene s(store_in(server), 2);
    run(s.io, [](scene& all, const postgres_server& in) -> task {
        lease held = co_await all.lock(0, brief()).acquire();
        call<lease> waits;
        all.lock(1, brief()).acquire(forever, waits.token());
        co_await pause(200ms);
        // The row is handed over as by a release, without a notification.
        in.run("UPDATE holdfast_locks SET owner = waiters[1], expires_at = waiters_until[1], "
               "token = token_end + 1, token_end = token_end + 1, waiters = '{}', "
               "waiters_until = '{}'");
        while (!waits.done())
            co_await pause(1ms);
        BOOST_TEST(!waits.error(), waits.error().message());
        BOOST_TEST(waits.result<lease>().fence().value() > held.fence().value());
        waits.result<lease>() = lease();
        auto [lost] = co_await held.lost(no_throw);
        BOOST_TEST(lost == errc::lease_lost);
    }(s, server));
    s.finish();
}

// The statement of docs/postgresql.md. A row that was used lately keeps the order of tokens.
BOOST_AUTO_TEST_CASE(only_old_rows_are_cleaned_up)
{
    const postgres_server server;
    const std::string clean_up =
        "DELETE FROM holdfast_locks WHERE expires_at < now() - interval '1 day' AND waiters = '{}' "
        "AND token_end < (extract(epoch FROM now()) - 86400) * 1000000";
    const auto rows = [&server] {
        return server.run("SELECT COUNT(*) FROM holdfast_locks");
    };
    scene s(store_in(server), 1);
    run(s.io, [](scene& all) -> task {
        lease held = co_await all.lock(0, brief()).acquire();
        co_await held.release();
    }(s));
    s.finish();
    server.run(clean_up);
    BOOST_TEST(rows() == "1");
    server.run("UPDATE holdfast_locks SET token_end = token_end - 86401000000");
    server.run(clean_up);
    BOOST_TEST(rows() == "0");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
