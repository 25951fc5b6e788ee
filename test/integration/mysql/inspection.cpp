// Locks in a real MariaDB server that are shown and taken away otherwise than in other databases.
#include "integration/sql/inspection.hpp"
#include "integration/mysql/store.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(mysql_inspection)

task pass_strange_rows(scene& s)
{
    co_await look_at_strange_rows(s);
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
    play(store_in(server), 1, [](scene& s) { return pass_strange_rows(s); });
}

// The holder is told nothing, and finds it out when it renews.
BOOST_AUTO_TEST_CASE(the_next_has_the_lock_that_was_taken_away)
{
    const mariadb_server server;
    play(store_in(server), 3, [](scene& s) { return take_away(s, brief(6s), false); });
    BOOST_TEST(used_rows(server) == "0");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
