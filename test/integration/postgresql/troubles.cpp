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

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
