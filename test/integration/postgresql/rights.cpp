// Logins, rights, settings, and servers that cannot be used.
#include "integration/postgresql/store.hpp"

#include "support/redis_server.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(postgresql_rights)

std::string with_password(const postgres_server& server, const std::string& password)
{
    return "postgresql://app:" + password + "@127.0.0.1:" + std::to_string(server.port()) +
           "/postgres";
}

// With a user `app`, who may use the table and no more.
void make_user(const postgres_server& server, bool with_table = true)
{
    server.run("CREATE ROLE app LOGIN PASSWORD 'right secret'");
    if (!with_table)
        return;
    play(store_in(server), 1, [](scene& s) -> task { // makes the table
        lease held = co_await s.lock(0).acquire();
        co_await held.release();
    });
    server.run("GRANT SELECT, INSERT, UPDATE ON holdfast_locks TO app");
}

BOOST_AUTO_TEST_CASE(rights_on_the_table_are_enough_over_tcp)
{
    const postgres_server server({.listens = true, .auth = "scram-sha-256"});
    make_user(server);
    const auto made = try_with(with_password(server, "right%20secret"));
    BOOST_TEST(!made.error, made.error.message() << "; " << made.nodes);
}

BOOST_AUTO_TEST_CASE(a_wrong_password_is_told_without_it)
{
    const postgres_server server({.listens = true, .auth = "scram-sha-256"});
    make_user(server, false);
    const auto wrong = try_with(with_password(server, "wrong%20secret"));
    BOOST_TEST(wrong.error == errc::authentication_failed, wrong.error.message());
    BOOST_TEST(wrong.nodes.find("28P01") != std::string::npos, wrong.nodes);
    const auto none = try_with(server.uri("app"));
    BOOST_TEST(none.error == errc::authentication_failed, none.error.message());
}

BOOST_AUTO_TEST_CASE(missing_rights_are_told)
{
    const postgres_server server({.listens = true});
    make_user(server);
    for (const std::string right : {"INSERT", "UPDATE", "SELECT"}) {
        server.run("REVOKE " + right + " ON holdfast_locks FROM app");
        const auto made = try_with(server.uri("app"));
        BOOST_TEST(made.error == errc::permission_denied, right << ": " << made.error.message());
        server.run("GRANT " + right + " ON holdfast_locks TO app");
    }
    BOOST_TEST(!try_with(server.uri("app")).error);
}

BOOST_AUTO_TEST_CASE(a_missing_table_is_told_and_made_on_request)
{
    const postgres_server server;
    const auto missing = try_with(server.where());
    BOOST_TEST(missing.error == errc::misconfigured_node, missing.error.message());
    BOOST_TEST(missing.nodes.find("no table holdfast_locks") != std::string::npos, missing.nodes);
    BOOST_TEST(!try_with(server.where(), {.create_table = true}).error);
    BOOST_TEST(!try_with(server.where()).error);
    server.run("CREATE SCHEMA locks");
    BOOST_TEST(!try_with(server.where(), {.table = "locks.mine", .create_table = true}).error);

    server.run("ALTER TABLE holdfast_locks DROP CONSTRAINT holdfast_locks_resource_token_end_key");
    const auto without = try_with(server.where());
    BOOST_TEST(without.error == errc::misconfigured_node);
    BOOST_TEST(without.nodes.find("UNIQUE") != std::string::npos, without.nodes);
}

// Guards need an index whose key changes with each grant. A column that is only included is no key,
// and neither is one in an index of expressions.
BOOST_AUTO_TEST_CASE(an_index_that_gives_no_guard_is_told)
{
    const postgres_server server;
    BOOST_TEST(!try_with(server.where(), {.create_table = true}).error);
    server.run("ALTER TABLE holdfast_locks DROP CONSTRAINT holdfast_locks_resource_token_end_key");
    for (const char* const index : {"(resource) INCLUDE (token_end)", "(token_end, lower(owner))",
             "(resource, token_end) WHERE owner <> ''"}) {
        server.run(std::string("CREATE UNIQUE INDEX tried ON holdfast_locks ") + index);
        const auto made = try_with(server.where());
        BOOST_TEST(made.error == errc::misconfigured_node, index);
        BOOST_TEST(made.nodes.find("UNIQUE") != std::string::npos, made.nodes);
        server.run("DROP INDEX tried");
    }
    server.run("CREATE UNIQUE INDEX tried ON holdfast_locks (token_end, resource)");
    BOOST_TEST(!try_with(server.where()).error);
}

BOOST_AUTO_TEST_CASE(a_read_only_server_is_told)
{
    const postgres_server server({.settings = {"default_transaction_read_only=on"}});
    const auto made = try_with(server.where(), {.create_table = true});
    BOOST_TEST(made.error == errc::misconfigured_node, made.error.message());
    BOOST_TEST(made.nodes.find("read-only") != std::string::npos, made.nodes);
}

BOOST_AUTO_TEST_CASE(the_server_that_accepts_writes_is_used)
{
    const postgres_server standby(
        {.settings = {"default_transaction_read_only=on"}, .listens = true});
    const postgres_server primary({.listens = true});
    const std::string list = "host=127.0.0.1,127.0.0.1,127.0.0.1 user=shop dbname=postgres port=" +
                             std::to_string(free_port()) + "," + std::to_string(standby.port()) +
                             "," + std::to_string(primary.port());
    for (int i = 0; i < 3; ++i)
        BOOST_TEST(!try_with(list, {.create_table = true}).error);
}

BOOST_AUTO_TEST_CASE(too_many_connections_and_no_database_are_told)
{
    const postgres_server server({.listens = true});
    server.run("CREATE ROLE app LOGIN CONNECTION LIMIT 0");
    const auto many = try_with(server.uri("app"));
    BOOST_TEST(many.error == errc::overloaded, many.error.message() << "; " << many.nodes);
    const auto none = try_with(server.uri() + "x");
    BOOST_TEST(none.error == errc::misconfigured_node, none.error.message());
}

BOOST_AUTO_TEST_CASE(asynchronous_commits_are_made_synchronous)
{
    const postgres_server server({.settings = {"synchronous_commit=off"}});
    BOOST_TEST(!try_with(server.where(), {.create_table = true}).error);
    BOOST_TEST(
        !try_with(server.where(), {.create_table = true, .allow_asynchronous_commit = true}).error);
}

BOOST_AUTO_TEST_CASE(settings_of_the_server_do_no_harm)
{
    const postgres_server server(
        {.settings = {"default_transaction_isolation=serializable", "bytea_output=escape",
             "standard_conforming_strings=off", "lc_messages=C"}});
    // The timeout is that of the user: this statement itself would not be certain to end in it.
    server.run("ALTER ROLE shop SET TimeZone = 'Asia/Kathmandu'; "
               "ALTER ROLE shop SET statement_timeout = '1ms'");
    const auto made =
        try_with(server.where() + " options='-c statement_timeout=0'", {.create_table = true});
    BOOST_TEST(!made.error, made.error.message() << "; " << made.nodes);
}

BOOST_AUTO_TEST_CASE(a_server_that_is_no_postgresql_is_told)
{
    const redis_server other;
    const auto made =
        try_with("postgresql://a:secret@127.0.0.1:" + std::to_string(other.port()) + "/b",
            {.create_table = true});
    BOOST_TEST(bool(made.error));
    BOOST_TEST(!made.nodes.empty());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
