#include "tools/cli.hpp"

#ifdef HOLDFAST_WITH_MYSQL_SERVERS
#include "support/mariadb_server.hpp"
#endif

#include <boost/test/unit_test.hpp>

namespace {

using namespace holdfast::test;

#ifdef HOLDFAST_WITH_MYSQL_SERVERS
// As docs/mysql.md has it.
void make_table(const mariadb_server& server)
{
    server.run("CREATE TABLE holdfast_locks (resource VARBINARY(512) NOT NULL PRIMARY KEY, "
               "owner VARCHAR(255) CHARACTER SET latin1 COLLATE latin1_bin NOT NULL, "
               "token BIGINT NOT NULL, token_end BIGINT NOT NULL, expires_at BIGINT NOT NULL, "
               "waiters MEDIUMTEXT CHARACTER SET latin1 COLLATE latin1_bin NOT NULL, "
               "UNIQUE KEY guard (resource, token, token_end)) ENGINE = InnoDB");
}

std::string uri(const mariadb_server& server, const std::string& login = "root")
{
    return "mysql://" + login + "@127.0.0.1:" + std::to_string(server.port()) + "/shop";
}
#endif

} // namespace

BOOST_AUTO_TEST_SUITE(cli_stores_in_mysql)

BOOST_AUTO_TEST_CASE(bad_stores_in_mysql)
{
    const std::string store = "mysql://app@127.0.0.1:1/shop";
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
#ifdef HOLDFAST_WITH_MYSQL
    run_complains({"--store", store, "--fenced"}, "fencing tokens");
    run_complains({"--store", store, "--sentinel", "s"}, "for Redis");
    run_complains({"--store", store, "--prefix", "p"}, "--table");
    run_complains({"--store", store, "--table", "a b"}, "table");
    run_complains({"--store", store, "--store", store}, "one URI");
    run_complains({"--store", "mysql://app@h"}, "/database");
    run_complains({"--store", "mysql://app@h/"}, "/database");
    run_complains({"--store", "mysql://app@h/d?x=1"}, "no parameters");
    run_complains({"--store", "mysql://app@/d"}, "no host");
    run_complains({"--store", "mysql://app@h:0/d"}, "port");
    run_complains({"--store", "mysql://app@h%2/d"}, "hexadecimal");
    run_complains({"--store", "mysql://app@%zz/d"}, "hexadecimal");
    run_complains({"--store", "mysql://h/d"}, "user");
    run_complains({"--store", "mysql://h/d", "--user", "u"}, "needs a password");
    run_complains({"--store", std::string("mysql://app:") + secret + "@h/d"}, "HOLDFAST_PASSWORD");
    run_complains({}, "no host", {std::string("HOLDFAST_STORE=mysql://app:") + secret + "@/d"});
    run_complains({"--store", store, "--ca-file", "ca.pem"}, "mysqls");
    run_complains({"--store", "mysqls://app@h/d", "--cert", "cert.pem"}, "key");
    complains({"inspect", "--store", store, "job"}, "cannot inspect");
    complains({"release", "--force", "--yes", "--store", store, "job"}, "cannot release");
#else
    run_complains({"--store", store}, "without MariaDB");
#endif
}

#ifdef HOLDFAST_WITH_MYSQL_SERVERS
BOOST_AUTO_TEST_CASE(a_store_in_mysql)
{
    const mariadb_server server({.listens = true});
    const std::string store = "HOLDFAST_STORE=" + uri(server);
    const words job{"run", "nightly", "--", "sh", "-c", "echo token $HOLDFAST_TOKEN"};
    const auto missing = run_cli(job, {store});
    BOOST_TEST(missing.status == 125);
    BOOST_TEST(has(missing.output, "no table holdfast_locks"), missing.output);

    make_table(server);
    const auto run = run_cli(job, {store});
    BOOST_TEST(run.status == 0, run.output);
    BOOST_TEST(has(run.output, "token 1"), run.output);
    BOOST_TEST(server.run("SELECT CONVERT(resource USING utf8) FROM holdfast_locks") == "nightly");

    std::string socket; // with each slash as %2F
    for (const char c : server.socket())
        socket += c == '/' ? "%2F" : std::string(1, c);
    const auto local =
        run_cli(job, {"HOLDFAST_STORE=mysql://root@127.0.0.1:1," + socket + "/shop"});
    BOOST_TEST(local.status == 0, local.output); // the second host, as the first one is not there
}

BOOST_AUTO_TEST_CASE(the_three_rights_are_enough_in_mysql)
{
    const mariadb_server server({.listens = true});
    make_table(server);
    server.run(std::string("CREATE USER app@'127.0.0.1' IDENTIFIED BY '") + secret +
               "'; GRANT SELECT, INSERT, UPDATE ON shop.holdfast_locks TO app@'127.0.0.1'");
    const std::string password = std::string("HOLDFAST_PASSWORD=") + secret;
    const std::string store = "HOLDFAST_STORE=" + uri(server, "app");
    const words job{"run", "job", "--", "true"};
    const auto good = run_cli(job, {store, password});
    BOOST_TEST(good.status == 0, good.output);
    BOOST_TEST(
        run_cli(job, {"HOLDFAST_STORE=" + uri(server, std::string("app:") + secret)}).status == 0);
    child_process holder = hold("jobs/nightly", {store, password});
    BOOST_TEST(run_cli({"inspect", "jobs/nightly"}, {store, password}).status == 0);
    BOOST_TEST(
        run_cli({"release", "--force", "--yes", "jobs/nightly"}, {store, password}).status == 3);
    const auto wrong = run_cli(job, {store, "HOLDFAST_PASSWORD=x"});
    BOOST_TEST(wrong.status == 125);
    BOOST_TEST(has(wrong.output, "1045"), wrong.output);
    BOOST_TEST(!has(wrong.output, secret), wrong.output);
}

BOOST_AUTO_TEST_CASE(locks_in_mysql_are_shown_and_taken_away)
{
    const mariadb_server server({.listens = true});
    const words variables{"HOLDFAST_STORE=" + uri(server)};
    const auto missing = run_cli({"inspect", "jobs/nightly"}, variables);
    BOOST_TEST(missing.status == 125, missing.output);
    BOOST_TEST(has(missing.output, "no table holdfast_locks"), missing.output);
    make_table(server);
    const auto free = run_cli({"inspect", "jobs/nightly"}, variables);
    BOOST_TEST(free.status == 1, free.output);
    BOOST_TEST(has(free.output, "free"), free.output);
    const words release{"release", "--force", "--yes", "jobs/nightly"};
    BOOST_TEST(run_cli(release, variables).status == 1);

    child_process holder = start_cli(
        {"run", "--ttl", "3s", "jobs/nightly", "--", "sh", "-c", "echo holds; exec sleep 1000"},
        variables);
    BOOST_TEST_REQUIRE(holder.read_line() == "holds");
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
    BOOST_TEST(taken.status == 3, taken.output);
    BOOST_TEST(has(taken.output, "could not be told"), taken.output);
    BOOST_TEST(run_cli({"inspect", "jobs/nightly"}, variables).status == 1);
    holder.wait(); // it learns with its next renewal that it has lost its lock
}
#endif

BOOST_AUTO_TEST_SUITE_END()
