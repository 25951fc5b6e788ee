#include "tools/cli.hpp"

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
    const auto complains = [](words arguments, const std::string& about,
                               const words& variables = {}) {
        const auto result = run_cli(arguments, variables);
        BOOST_TEST(result.status == 125);
        BOOST_TEST(has(result.output, about), result.output);
        BOOST_TEST(!has(result.output, secret), result.output);
    };
    const auto run_complains = [&](words options, const std::string& about,
                                   const words& variables = {}) {
        options.insert(options.end(), {"run", "job", "--", "true"});
        complains(options, about, variables);
    };
#ifdef HOLDFAST_WITH_POSTGRESQL
    run_complains({"--store", store, "--fenced"}, "fencing tokens");
    run_complains({"--store", store, "--sentinel", "s"}, "for Redis");
    run_complains({"--store", store, "--prefix", "p"}, "--table");
    run_complains({"--store", store, "--table", "a b"}, "table must be");
    run_complains({"--store", store, "--store", store}, "one URI");
    run_complains({"--store", store, "--user", "u"}, "needs a password");
    run_complains({}, "connection string",
        {std::string("HOLDFAST_STORE=postgresql://h/d?nonsense=") + secret});
    complains({"inspect", "--store", store, "job"}, "cannot inspect");
    complains({"release", "--force", "--yes", "--store", store, "job"}, "cannot release");
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
    const words job{"run", "nightly", "--", "sh", "-c", "echo token $HOLDFAST_TOKEN"};
    const auto missing = run_cli(job, {store});
    BOOST_TEST(missing.status == 125);
    BOOST_TEST(has(missing.output, "no table holdfast_locks"), missing.output);

    make_table(server);
    const auto run = run_cli(job, {store});
    BOOST_TEST(run.status == 0, run.output);
    BOOST_TEST(has(run.output, "token 1"), run.output);
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
}

BOOST_AUTO_TEST_CASE(locks_in_postgresql_are_shown_and_taken_away)
{
    const postgres_server server({.listens = true});
    const words variables{"HOLDFAST_STORE=" + server.uri()};
    const auto missing = run_cli({"inspect", "jobs/nightly"}, variables);
    BOOST_TEST(missing.status == 125, missing.output);
    BOOST_TEST(has(missing.output, "no table holdfast_locks"), missing.output);
    make_table(server);
    const auto free = run_cli({"inspect", "jobs/nightly"}, variables);
    BOOST_TEST(free.status == 1, free.output);
    BOOST_TEST(has(free.output, "free"), free.output);
    const words release{"release", "--force", "--yes", "jobs/nightly"};
    BOOST_TEST(run_cli(release, variables).status == 1);

    child_process holder = hold("jobs/nightly", variables);
    const auto held = run_cli({"inspect", "jobs/nightly"}, variables);
    BOOST_TEST(held.status == 0, held.output);
    for (const std::string part : {"ttl left", "token"})
        BOOST_TEST(has(held.output, part), held.output);
    const auto all = run_cli({"list", "jobs/"}, variables);
    BOOST_TEST(all.status == 0, all.output);
    BOOST_TEST(has(all.output, "jobs/nightly"), all.output);
    BOOST_TEST(!has(run_cli({"list", "other"}, variables).output, "nightly"));
    const auto page = run_cli({"top", "--batch", "--count", "1"}, variables);
    BOOST_TEST(page.status == 0, page.output);
    BOOST_TEST(has(page.output, "jobs/nightly"), page.output);
    const auto ping = run_cli({"ping", "--timeout", "30s"}, variables);
    BOOST_TEST(ping.status == 0, ping.output);
    BOOST_TEST(has(ping.output, "answers in"), ping.output);

    const auto taken = run_cli(release, variables);
    BOOST_TEST(taken.status == 0, taken.output);
    BOOST_TEST(has(taken.output, "the holder was told"), taken.output);
    holder.wait(); // it has lost its lock
    BOOST_TEST(run_cli({"inspect", "jobs/nightly"}, variables).status == 1);
}
#endif

BOOST_AUTO_TEST_SUITE_END()
