#include "tools/store_cases.hpp"

#ifdef HOLDFAST_WITH_POSTGRESQL_SERVERS
#include "support/postgres_server.hpp"
#endif

#include <boost/test/unit_test.hpp>

namespace {

using namespace holdfast::test;

#ifdef HOLDFAST_WITH_POSTGRESQL_SERVERS
void make_table(const postgres_server& server)
{
    server.run("CREATE TABLE holdfast_locks (resource bytea PRIMARY KEY, owner text NOT NULL, "
               "token bigint NOT NULL, token_end bigint NOT NULL, expires_at timestamptz NOT NULL, "
               "waiters text[] NOT NULL DEFAULT '{}', "
               "waiters_until timestamptz[] NOT NULL DEFAULT '{}', UNIQUE (resource, token_end))");
}
#endif

} // namespace

BOOST_AUTO_TEST_SUITE(cli_stores_in_postgresql)

BOOST_AUTO_TEST_CASE(bad_stores_in_postgresql)
{
    const std::string store = "postgresql://127.0.0.1:1/locks";
#ifdef HOLDFAST_WITH_POSTGRESQL
    expect_sql_complaints(store);
    run_complains({"--store", store, "--user", "u"}, "needs a password");
    run_complains({}, "connection string",
        {std::string("HOLDFAST_STORE=postgresql://h/d?nonsense=") + secret});
    run_complains({"--store", "redis://h", "--table", "t"}, "for PostgreSQL");
#else
    run_complains({"--store", store}, "without PostgreSQL");
#endif
}

#ifdef HOLDFAST_WITH_POSTGRESQL_SERVERS
BOOST_AUTO_TEST_CASE(a_store_in_postgresql)
{
    const postgres_server server({.listens = true, .auth = "scram-sha-256"});
    const std::string store = "HOLDFAST_STORE=" + server.uri();
    run_with_table({store}, [&] { make_table(server); });
    BOOST_TEST(
        server.run("SELECT convert_from(resource, 'UTF8') FROM holdfast_locks") == "nightly");

    server.run(std::string("CREATE ROLE app LOGIN PASSWORD '") + secret +
               "'; GRANT SELECT, INSERT, UPDATE ON holdfast_locks TO app");
    const std::string plain =
        "HOLDFAST_STORE=postgresql://127.0.0.1:" + std::to_string(server.port()) + "/postgres";
    const words with_user{"--user", "app", "run", "job", "--", "true"};
    BOOST_TEST(run_cli(with_user, {plain, std::string("HOLDFAST_PASSWORD=") + secret}).status == 0);
    const auto wrong = run_cli(with_user, {plain, "HOLDFAST_PASSWORD=x"});
    BOOST_TEST(wrong.status == 125);
    BOOST_TEST(has(wrong.output, "28P01"), wrong.output);

    const auto inside = run_cli({"run", "job", "--", "sh", "-c", "echo store $HOLDFAST_STORE"},
        {plain + "?user=app&password=" + secret});
    BOOST_TEST(inside.status == 0);
    BOOST_TEST(inside.output == "store\n");
}

BOOST_AUTO_TEST_CASE(locks_in_postgresql_are_shown_and_taken_away)
{
    const postgres_server server({.listens = true});
    const words variables{"HOLDFAST_STORE=" + server.uri()};
    show_and_take_away(
        variables, [&] { make_table(server); }, "1m", true);
}

BOOST_AUTO_TEST_CASE(ping_of_several_servers_of_postgresql)
{
    const postgres_server server({.listens = true});
    make_table(server);
    const std::string port = ':' + std::to_string(server.port());
    const auto ping = [&](const std::string& hosts) {
        return run_cli({"ping", "--timeout", "30s"},
            {"HOLDFAST_STORE=postgresql://shop@" + hosts + "/postgres"});
    };
    const auto good =
        ping("127.0.0.1" + port + ",localhost" + port); // any of them may be the first
    BOOST_TEST(good.status == 0, good.output);
    BOOST_TEST(has(good.output, "1 of 2 nodes connected; one at a time is used"), good.output);
    BOOST_TEST(has(good.output, "idle    not used now"), good.output);
    const auto bad = ping("127.0.0.1:1,localhost:1");
    BOOST_TEST(bad.status == 2, bad.output);
    BOOST_TEST(has(bad.output, "0 of 2 nodes connected"), bad.output);
}
#endif

BOOST_AUTO_TEST_SUITE_END()
