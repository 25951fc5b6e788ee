// Logins, rights, settings, and servers that cannot be used.
#include "integration/mysql/store.hpp"

#include "support/redis_server.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(mysql_rights)

// With a user `app`, who may use the table and no more.
void make_user(const mariadb_server& server, const std::string& way = "mysql_native_password")
{
    play(store_in(server), 1, [](scene& s) -> task { // makes the table
        lease held = co_await s.lock(0).acquire();
        co_await held.release();
    });
    server.run("CREATE USER app@'127.0.0.1' IDENTIFIED VIA " + way +
               " USING PASSWORD('right secret');"
               "GRANT SELECT, INSERT, UPDATE ON shop.holdfast_locks TO app@'127.0.0.1'");
}

BOOST_AUTO_TEST_CASE(rights_on_the_table_are_enough_over_tcp)
{
    const mariadb_server server({.listens = true});
    make_user(server);
    const auto made = try_with(server.login("app", "right secret"));
    BOOST_TEST(!made.error, made.error.message() << "; " << made.nodes);
    play(mysql(server.login("app", "right secret")), 2, [](scene& s) -> task {
        lease held = co_await s.lock(0).acquire();
        const lock_list all = co_await s.locker(1).list("");
        BOOST_TEST(all.locks.size() == 1u);
        const forced_release done = co_await s.locker(1).force_release(s.resource);
        BOOST_TEST(done.deleted == 1u);
        co_await held.release();
    });
}

BOOST_AUTO_TEST_CASE(a_wrong_password_is_told_without_it)
{
    const mariadb_server server({.listens = true});
    make_user(server);
    const auto wrong = try_with(server.login("app", "wrong secret"));
    BOOST_TEST(wrong.error == errc::authentication_failed, wrong.error.message());
    BOOST_TEST(wrong.nodes.find("1045") != std::string::npos, wrong.nodes);
    const auto none = try_with(server.login("app"));
    BOOST_TEST(none.error == errc::authentication_failed, none.error.message());
}

BOOST_AUTO_TEST_CASE(missing_rights_are_told)
{
    const mariadb_server server({.listens = true});
    make_user(server);
    for (const std::string right : {"INSERT", "UPDATE", "SELECT"}) {
        server.run("REVOKE " + right + " ON shop.holdfast_locks FROM app@'127.0.0.1'");
        const auto made = try_with(server.login("app", "right secret"));
        BOOST_TEST(made.error == errc::permission_denied,
            right << ": " << made.error.message() << "; " << made.nodes);
        server.run("GRANT " + right + " ON shop.holdfast_locks TO app@'127.0.0.1'");
    }
    BOOST_TEST(!try_with(server.login("app", "right secret")).error);
}

// A right that is taken away while the connection is used.
BOOST_AUTO_TEST_CASE(a_right_that_is_lost_is_told)
{
    const mariadb_server server({.listens = true});
    make_user(server);
    play(mysql(server.login("app", "right secret")), 1, [&server](scene& s) {
        return [](scene& all, const mariadb_server& in) -> task {
            lease held = co_await all.lock(0).acquire();
            co_await held.release();
            in.run("REVOKE INSERT ON shop.holdfast_locks FROM app@'127.0.0.1'");
            auto [ec, none] = co_await all.lock(0).acquire(3s, no_throw);
            BOOST_TEST(ec == errc::permission_denied, ec.message());
        }(s, server);
    });
}

BOOST_AUTO_TEST_CASE(a_missing_table_is_told_and_made_on_request)
{
    const mariadb_server server;
    const auto missing = try_with(server.login());
    BOOST_TEST(missing.error == errc::misconfigured_node, missing.error.message());
    BOOST_TEST(missing.nodes.find("no table holdfast_locks") != std::string::npos, missing.nodes);
    BOOST_TEST(!try_with(making_table(server.login())).error);
    BOOST_TEST(!try_with(server.login()).error);
    server.run("CREATE DATABASE locks");
    mysql_options other = making_table(server.login());
    other.database.clear();
    other.table = "locks.mine";
    BOOST_TEST(!try_with(other).error);

    server.run("ALTER TABLE holdfast_locks DROP INDEX guard");
    const auto without = try_with(server.login());
    BOOST_TEST(without.error == errc::misconfigured_node);
    BOOST_TEST(without.nodes.find("UNIQUE KEY guard") != std::string::npos, without.nodes);
    server.run("DROP TABLE holdfast_locks; CREATE TABLE holdfast_locks (a INT) ENGINE = MyISAM");
    const auto foreign = try_with(server.login());
    BOOST_TEST(foreign.error == errc::misconfigured_node);
    BOOST_TEST(foreign.nodes.find("InnoDB") != std::string::npos, foreign.nodes);
}

BOOST_AUTO_TEST_CASE(a_read_only_server_is_told)
{
    const mariadb_server server({.settings = {"read_only=1"}});
    const auto made = try_with(making_table(server.login()));
    BOOST_TEST(made.error == errc::misconfigured_node, made.error.message());
    BOOST_TEST(made.nodes.find("read-only") != std::string::npos, made.nodes);
}

BOOST_AUTO_TEST_CASE(the_server_that_accepts_writes_is_used)
{
    const mariadb_server replica({.settings = {"read_only=1"}, .listens = true});
    const mariadb_server primary({.listens = true});
    mysql_options all = making_table(primary.login("root"));
    all.hosts = {"127.0.0.1:" + std::to_string(free_port()),
        "127.0.0.1:" + std::to_string(replica.port()),
        "127.0.0.1:" + std::to_string(primary.port())};
    for (int i = 0; i < 3; ++i)
        BOOST_TEST(!try_with(all).error);
}

// As in a planned fail-over: the user is no administrator.
BOOST_AUTO_TEST_CASE(a_server_that_becomes_read_only_is_left)
{
    const mariadb_server first({.listens = true}), second({.listens = true});
    make_user(first);
    make_user(second);
    mysql_options both = first.login("app", "right secret");
    both.hosts.push_back("127.0.0.1:" + std::to_string(second.port()));
    both.reconnect_max = 200ms;
    play(mysql(both), 1, [&](scene& s) {
        return [](scene& all, const mariadb_server& a, const mariadb_server& b) -> task {
            lease held = co_await all.lock(0).acquire();
            co_await held.release();
            const auto nodes = all.locker().stats().nodes;
            (nodes.at(0).connected ? a : b).run("SET GLOBAL read_only = 1");
            for (;;) {
                auto [ec, again] = co_await all.lock(0).acquire(10s, no_throw);
                if (!ec)
                    break;
                BOOST_TEST(ec == errc::misconfigured_node, ec.message());
                co_await pause(10ms);
            }
            BOOST_TEST(all.locker().stats().nodes.at(0).connected != nodes.at(0).connected);
        }(s, first, second);
    });
}

BOOST_AUTO_TEST_CASE(too_many_connections_and_no_database_are_told)
{
    const mariadb_server server({.listens = true});
    make_user(server);
    server.run("ALTER USER app@'127.0.0.1' WITH MAX_USER_CONNECTIONS 1");
    scene first(mysql(server.login("app", "right secret")), 1);
    run(first.io, [](scene& s) -> task {
        lease held = co_await s.lock(0).acquire();
    }(first));
    const auto many = try_with(server.login("app", "right secret"));
    BOOST_TEST(many.error == errc::overloaded, many.error.message() << "; " << many.nodes);
    first.finish();
    mysql_options other = server.login();
    other.database = "nothing";
    const auto none = try_with(other);
    BOOST_TEST(none.error == errc::misconfigured_node, none.error.message());
}

BOOST_AUTO_TEST_CASE(commits_that_may_be_lost_must_be_allowed)
{
    const mariadb_server server({.settings = {"innodb-flush-log-at-trx-commit=2"}});
    const auto refused = try_with(making_table(server.login()));
    BOOST_TEST(refused.error == errc::misconfigured_node, refused.error.message());
    mysql_options allowed = making_table(server.login());
    allowed.allow_asynchronous_commit = true;
    BOOST_TEST(!try_with(allowed).error);
}

BOOST_AUTO_TEST_CASE(settings_of_the_server_do_no_harm)
{
    const mariadb_server server(
        {.settings = {"transaction-isolation=SERIALIZABLE", "autocommit=0", "sql-mode=ANSI,ORACLE",
             "character-set-server=utf8mb4", "collation-server=utf8mb4_unicode_ci",
             "innodb-lock-wait-timeout=50", "group-concat-max-len=4", "log-bin", "sync-binlog=1",
             "binlog-format=MIXED"}});
    const auto made = try_with(making_table(server.login()));
    BOOST_TEST(!made.error, made.error.message() << "; " << made.nodes);
}

BOOST_AUTO_TEST_CASE(short_packets_are_told)
{
    const mariadb_server server({.settings = {"max-allowed-packet=4M"}});
    const auto made = try_with(making_table(server.login()));
    BOOST_TEST(made.error == errc::misconfigured_node, made.error.message());
    BOOST_TEST(made.nodes.find("max_allowed_packet") != std::string::npos, made.nodes);
}

BOOST_AUTO_TEST_CASE(a_server_that_is_no_mysql_is_told)
{
    const redis_server other;
    mysql_options options;
    options.hosts = {"127.0.0.1:" + std::to_string(other.port())};
    options.user = "a";
    options.password = "secret";
    options.database = "b";
    options.connect_timeout = 500ms;
    const auto made = try_with(mysql(options), 2s);
    BOOST_TEST(bool(made.error));
    BOOST_TEST(!made.nodes.empty());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
