// Locks in a real MariaDB server: what differs from other databases.
#include "integration/mysql/store.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(mysql_locks)

BOOST_AUTO_TEST_CASE(a_locker_in_which_a_lease_lingers_finds_a_waiter_that_comes_later)
{
    const mariadb_server server;
    take_from_lingering(store_in(server));
}

// The database's clock does not depend on time zones.
BOOST_AUTO_TEST_CASE(time_zones_do_no_harm)
{
    const mariadb_server server({.settings = {"default-time-zone=+05:45"}});
    scene s(store_in(server), 1);
    run(s.io, [](scene& all, const mariadb_server& in) -> task {
        lease held = co_await all.lock(0, brief(10s)).acquire();
        BOOST_TEST(in.run("SELECT ABS(expires_at / 1000000 - UNIX_TIMESTAMP() - 10) < 5 "
                          "FROM holdfast_locks") == "1");
        BOOST_TEST(in.run("SELECT ABS(token_end / 1000000 - UNIX_TIMESTAMP()) < 5 "
                          "FROM holdfast_locks") == "1");
        co_await held.release();
    }(s, server));
    s.finish();
}

BOOST_AUTO_TEST_CASE(tokens_grow_although_rows_are_deleted)
{
    const mariadb_server server;
    scene s(store_in(server), 1);
    run(s.io, [](scene& all, const mariadb_server& in) -> task {
        std::uint64_t last = 0;
        for (int i = 0; i < 20; ++i) {
            lease held = co_await all.lock(0, brief()).acquire();
            BOOST_TEST(held.fence().value() > last);
            last = held.fence().value();
            co_await held.release();
            in.run("DELETE FROM holdfast_locks WHERE owner = ''");
        }
    }(s, server));
    s.finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
