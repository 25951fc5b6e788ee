#include "tools/store_cases.hpp"

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
#ifdef HOLDFAST_WITH_MYSQL
    expect_sql_complaints(store);
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
    run_with_table({store}, [&] { make_table(server); });
    BOOST_TEST(server.run("SELECT CONVERT(resource USING utf8) FROM holdfast_locks") == "nightly");

    std::string socket; // with each slash as %2F
    for (const char c : server.socket())
        socket += c == '/' ? "%2F" : std::string(1, c);
    const auto local =
        run_cli(job, {"HOLDFAST_STORE=mysql://root@127.0.0.1:1," + socket + "/shop"});
    BOOST_TEST(local.status == 0, local.output); // the second host, as the first one is not there
}

// libmariadb ignores SIGPIPE. A command that inherits that may write without end.
BOOST_AUTO_TEST_CASE(the_command_ends_with_its_reader_in_mysql)
{
    const mariadb_server server({.listens = true});
    make_table(server);
    const auto run = run_cli(
        {"run", "job", "--", "sh", "-c", "yes | head -1"}, {"HOLDFAST_STORE=" + uri(server)});
    BOOST_TEST(run.status == 0);
    BOOST_TEST(run.output == "y\n"); // and no message of `yes`
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
    show_and_take_away(
        variables, [&] { make_table(server); }, "3s", false);
}
#endif

BOOST_AUTO_TEST_SUITE_END()
