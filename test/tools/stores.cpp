#include "support/sentinels.hpp" // before store_cases.hpp: a parameter has the name `words`

#include "tools/store_cases.hpp"

#include "holdfast/console.hpp"
#include "holdfast/stores.hpp"
#ifdef HOLDFAST_WITH_ETCD_SERVERS
#include "support/etcd_cluster.hpp"
#endif
#include "support/temporary_folder.hpp"

#include <boost/test/unit_test.hpp>

#include <fstream>

namespace {

using namespace holdfast::test;

std::string file_with(
    const temporary_folder& folder, const std::string& name, const std::string& text)
{
    const std::string path = folder.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
}

struct cli_stores_fixture {
    std::vector<redis_server> servers = start_servers(1, {"--requirepass", secret});
    temporary_folder folder{"cli"};

    cli_stores_fixture() { servers[0].command({"auth", secret}); }

    std::string with_login(const std::string& login) const
    {
        return "redis://" + login + "@127.0.0.1:" + std::to_string(servers[0].port());
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(cli_stores, cli_stores_fixture)

BOOST_AUTO_TEST_CASE(the_password_comes_from_the_environment_or_a_file)
{
    const std::string password = std::string("HOLDFAST_PASSWORD=") + secret;
    const std::string store = store_of(servers);
    BOOST_TEST(run_cli({"ping"}, {store, password}).status == 0);
    BOOST_TEST(run_cli({"ping"}, {store}).status == 2);
    BOOST_TEST(
        run_cli({"ping"}, {"HOLDFAST_STORE=" + with_login(std::string(":") + secret)}).status == 0);
    const std::string file = file_with(folder, "password", std::string(secret) + "\nrest\n");
    BOOST_TEST(run_cli({"ping", "--password-file", file}, {store}).status == 0);
    BOOST_TEST(run_cli({"ping"}, {store, "HOLDFAST_PASSWORD_FILE=" + file}).status == 0);
    BOOST_TEST(run_cli({"ping", "--user", "default"}, {store, password}).status == 0);
    const auto other = run_cli({"ping", "--user", "nobody"}, {store, password});
    BOOST_TEST(other.status == 2);
    BOOST_TEST(!has(other.output, secret), other.output);
}

BOOST_AUTO_TEST_CASE(the_password_is_not_shown)
{
    const std::string store = store_of(servers);
    const std::string script = "cat /proc/$$/cmdline /proc/$PPID/cmdline /proc/$$/environ | "
                               "tr '\\0' '\\n' | grep -v ^grep";
    const words run{"-v", "run", "job", "--", "sh", "-c", script};
    const auto by_variable = run_cli(run, {store, std::string("HOLDFAST_PASSWORD=") + secret});
    BOOST_TEST(by_variable.status == 0);
    BOOST_TEST(has(by_variable.output, "HOLDFAST_RESOURCE=job"), by_variable.output);
    BOOST_TEST(has(by_variable.output, "HOLDFAST_STORE=redis://127.0.0.1"));
    BOOST_TEST(!has(by_variable.output, secret), by_variable.output);
    const auto by_url = run_cli(run, {"HOLDFAST_STORE=" + with_login(std::string(":") + secret)});
    BOOST_TEST(by_url.status == 0);
    BOOST_TEST(!has(by_url.output, secret), by_url.output);

    // A wrong password, and URLs in wrong places.
    const std::string wrong = std::string(":") + secret + "x";
    for (const auto& result :
        {run_cli({"run", "--try", "job", "--", "true"}, {"HOLDFAST_STORE=" + with_login(wrong)}),
            run_cli({"ping"}, {"HOLDFAST_STORE=" + with_login(wrong) + "x:7"}),
            run_cli({"--store", with_login(wrong), "ping"}), run_cli({"ping", with_login(wrong)}),
            run_cli({"--store=" + with_login(wrong), "ping"})}) {
        BOOST_TEST(result.status != 0);
        BOOST_TEST(!result.output.empty());
        BOOST_TEST(!has(result.output, secret), result.output);
    }
    BOOST_TEST(has(run_cli({"ping", "--store", with_login(wrong)}).output, "HOLDFAST_PASSWORD"));
}

BOOST_AUTO_TEST_CASE(a_configuration_file)
{
    const std::string url = with_login(std::string(":") + secret);
    const std::string good =
        file_with(folder, "holdfast.toml", "store = [\"" + url + "\"]\n[run]\nttl = \"20s\"\n");
    BOOST_TEST(run_cli({"ping", "--config", good}).status == 0);
    BOOST_TEST(run_cli({"ping"}, {"XDG_CONFIG_HOME=" + folder.path()}).status == 0);
    BOOST_TEST(run_cli({"ping"}, {"HOME=" + folder.path()}).status == 125); // ~/.config
    BOOST_TEST(run_cli({"--config", good, "run", "job", "--", "true"}).status == 0);
    const auto kept = run_cli(
        {"--config", good, "run", "job", "--", "sh", "-c", "echo $HOLDFAST_DEADLINE; date +%s"});
    const double end = std::stod(kept.output),
                 now = std::stod(kept.output.substr(kept.output.find('\n')));
    BOOST_TEST(end - now < 21);
    BOOST_TEST(run_cli({"--config", good, "run", "--ttl", "1ms", "job", "--", "true"}).status ==
               125); // the option counts, not the file

    // The command line counts before the environment, and that before the file.
    const std::string nothing = "redis://127.0.0.1:1";
    BOOST_TEST(run_cli({"--config", good, "ping"}, {"HOLDFAST_STORE=" + nothing}).status == 2);
    BOOST_TEST(run_cli({"ping", "--store", nothing}, {"HOLDFAST_STORE=" + url}).status == 2);

    for (const std::string& text :
        {"stores = \"" + url + "\"\n", "[other]\nstore = \"" + url + "\"\n", url + "\n"}) {
        const auto bad = run_cli({"ping", "--config", file_with(folder, "bad.toml", text)});
        BOOST_TEST(bad.status == 125);
        BOOST_TEST(!has(bad.output, secret), bad.output);
    }
    const auto missing = run_cli({"ping", "--config", folder.path() + "/none.toml"});
    BOOST_TEST(missing.status == 125);
    BOOST_TEST(has(missing.output, "none.toml"), missing.output);
}

BOOST_AUTO_TEST_CASE(bad_stores)
{
    complains({"ping"}, "no store");
    complains({"ping", "--store", ","}, "no store");
    complains({"ping", "--store", "127.0.0.1:1"}, "redis://");
    complains({"ping", "--store", "redis://127.0.0.1:1", "--store", "redis://127.0.0.1:1"},
        "127.0.0.1:1");
    complains({"ping", "--store", "redis://h", "--user", "u"}, "needs a password");
    complains({"ping", "--store", "redis://h", "--password-file", folder.path() + "/none"},
        "cannot be read");
    complains({"ping", "--store", "redis://h", "--password-file",
                  file_with(folder, "empty", "\nsecond line\n")},
        "is empty");
    complains({"ping", "--store", "redis://h", "--quarantine", "5s"}, "--fenced");
#ifdef HOLDFAST_WITH_TLS
    complains({"ping", "--store", "redis://h", "--ca-file", "ca.pem"}, "rediss");
    complains(
        {"ping", "--store", "rediss://h", "--ca-file", folder.path() + "/none.pem"}, "none.pem");
#endif
}

BOOST_AUTO_TEST_CASE(bad_stores_in_etcd)
{
#ifdef HOLDFAST_WITH_ETCD
    const std::string store = "etcd://127.0.0.1:1,127.0.0.1:2";
    run_complains({"--store", store, "--fenced"}, "fencing tokens");
    run_complains({"--store", store, "--primary"}, "--primary");
    run_complains({"--store", store, "--sentinel", "s"}, "for Redis");
    run_complains({"--store", "etcd://h", "--store", "redis://h"}, "etcd://");
    run_complains({"--store", "etcd://h,etcds://g"}, "etcd://");
    run_complains({"--store", "etcd://h,h"}, "twice");
    run_complains({"--store", "etcd://h:0"}, "port");
    run_complains({"--store", store, "--user", "u"}, "needs a password");
    run_complains({"--store", store}, "--user", {std::string("HOLDFAST_PASSWORD=") + secret});
    run_complains({}, "--user", {std::string("HOLDFAST_STORE=etcd://u:") + secret + "@h"});
    complains({"release", "--force", "--yes", "--store", store, "job"}, "etcdctl lease revoke");
    complains({"inspect", "--store", store, "job"}, "127.0.0.1:2");
#ifdef HOLDFAST_WITH_TLS
    run_complains({"--store", store, "--ca-file", "ca.pem"}, "etcds");
    run_complains({"--store", "etcds://h", "--ca-file", folder.path() + "/none"}, "none");
#endif
#else
    complains({"--store", "etcd://h", "run", "job", "--", "true"}, "without etcd");
#endif
}

#ifdef HOLDFAST_WITH_ETCD_SERVERS
BOOST_AUTO_TEST_CASE(a_store_in_etcd)
{
    const etcd_cluster cluster;
    const std::string member = "127.0.0.1:" + std::to_string(cluster.port());
    const std::string store = "HOLDFAST_STORE=etcd://" + member;
    // A command under a lock that `etcdctl` sees.
    const auto run = run_cli({"--prefix", "jobs/", "run", "nightly", "--", "env", "ETCDCTL_API=3",
                                 "etcdctl", "--command-timeout=60s", "--endpoints=" + member, "get",
                                 "jobs/nightly/", "--prefix", "--print-value-only"},
        {store});
    BOOST_TEST(run.status == 0, run.output);
    BOOST_TEST(has(run.output, "holdfast-cli"), run.output);
    // The next member is used if the first one cannot be reached.
    const auto other = run_cli({"run", "job", "--", "sh", "-c", "echo token $HOLDFAST_TOKEN"},
        {"HOLDFAST_STORE=etcd://127.0.0.1:1," + member});
    BOOST_TEST(other.status == 0, other.output);
}

BOOST_AUTO_TEST_CASE(locks_in_etcd_are_shown)
{
    const etcd_cluster cluster;
    const std::string member = "127.0.0.1:" + std::to_string(cluster.port());
    const words variables{"HOLDFAST_STORE=etcd://" + member};
    expect_free(variables);
    child_process holder = hold("jobs/nightly", variables);
    expect_held(variables, {"process " + std::to_string(holder.pid()) + " (holdfast)",
                               "holdfast-cli", "ttl left", "token"});

    // Of etcd's own client.
    child_process other = cluster.start_ctl({"lock", "mail"});
    BOOST_TEST(!other.read_line().empty());
    const auto foreign = run_cli({"inspect", "mail"}, variables);
    BOOST_TEST(foreign.status == 0, foreign.output);
    BOOST_TEST(has(foreign.output, "another client"), foreign.output);
    other.ask_to_end();
    other.wait();
}

BOOST_AUTO_TEST_CASE(members_of_etcd_are_pinged)
{
    etcd_cluster cluster(3);
    std::string members = "HOLDFAST_STORE=etcd://";
    for (std::size_t i = 0; i < cluster.size(); ++i)
        members += (i == 0 ? "" : ",") + cluster.url(i).substr(std::string("http://").size());
    ping_three(cluster, {members});
}
#endif

BOOST_AUTO_TEST_CASE(one_primary)
{
    const std::string store = store_of(servers),
                      password = std::string("HOLDFAST_PASSWORD=") + secret;
    const auto result = run_cli({"ping", "--primary"}, {store, password});
    BOOST_TEST(result.status == 0, result.output);
    BOOST_TEST(has(result.output, "a fail-over may lose locks"), result.output);
    for (const words& wrong : {words{"ping", "--primary", "--fenced"},
             words{"ping", "--primary", "--sentinel", "mymaster"},
             words{"ping", "--primary", "--store", "redis://a,redis://b"},
             words{"ping", "--sentinel", "my master"}, words{"ping", "--prefix", "hf:"}})
        BOOST_TEST(run_cli(wrong, {store, password}).status == 125);
}

BOOST_AUTO_TEST_CASE(a_primary_that_sentinels_watch)
{
    redis_sentinel_server sentinel(
        {"sentinel monitor mymaster 127.0.0.1 " + std::to_string(servers[0].port()) + " 1",
            std::string("sentinel auth-pass mymaster ") + secret});
    const words variables{
        "HOLDFAST_STORE=" + sentinel.url(), std::string("HOLDFAST_PASSWORD=") + secret};
    const auto result = run_cli({"ping", "--sentinel", "mymaster"}, variables);
    BOOST_TEST(result.status == 0, result.output);
    BOOST_TEST(has(result.output, "mymaster"), result.output);
    const auto held =
        run_cli({"run", "--sentinel", "mymaster", "job", "--", "echo", "holds"}, variables);
    BOOST_TEST(held.output == "holds\n");
    const auto other = run_cli({"ping", "--sentinel", "other"}, variables);
    BOOST_TEST(other.status == 2);
    BOOST_TEST(!has(other.output, secret), other.output);
}

BOOST_AUTO_TEST_CASE(a_prefix_of_all_keys)
{
    servers[0].command(
        {"acl", "setuser", "shop", "on", std::string(">") + secret, "+@all", "&*", "~shop:*"});
    const words variables{
        store_of(servers), std::string("HOLDFAST_PASSWORD=") + secret, "HOLDFAST_USER=shop"};
    const auto holder =
        hold("job", {store_of(servers), std::string("HOLDFAST_PASSWORD=") + secret});
    BOOST_TEST(
        run_cli({"run", "--prefix", "shop:", "job", "--", "echo", "holds"}, variables).output ==
        "holds\n");
    BOOST_TEST(run_cli({"inspect", "--prefix", "shop:", "job"}, variables).status == 1);
    BOOST_TEST(run_cli({"inspect", "job"}, variables).status == 125);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(credentials_are_taken_out_of_text)
{
    using holdfast::cli::without_credentials;
    BOOST_TEST(without_credentials("no URL, me@home") == "no URL, me@home");
    BOOST_TEST(without_credentials("redis://h:1 x@y") == "redis://h:1 x@y");
    BOOST_TEST(without_credentials("a redis://u:p@h:1,rediss://:p/@q@i b") ==
               "a redis://***@h:1,rediss://***@i b");
    BOOST_TEST(without_credentials("x://") == "x://");
    BOOST_TEST(holdfast::cli::has_password("redis://a,redis://:p@b"));
    BOOST_TEST(holdfast::cli::has_password("--store=mysql://app:a,b@h/shop"));
    BOOST_TEST(holdfast::cli::has_password("mysql://app:a/b@h/shop"));
    BOOST_TEST(!holdfast::cli::has_password("--store=redis://a,unix:///b"));
    BOOST_TEST(!holdfast::cli::has_password("postgresql://app@db-1:5432/shop"));
    BOOST_TEST(!holdfast::cli::has_password("mail to me:you@home"));
#ifdef HOLDFAST_WITH_POSTGRESQL
    BOOST_TEST(holdfast::cli::has_password("postgresql://app@db/shop?password=p"));
    BOOST_TEST(holdfast::cli::has_password("--store=postgres://db/shop?user=app&pass%77ord=p"));
    BOOST_TEST(holdfast::cli::has_password("postgresql://db/shop?sslpassword=p"));
    BOOST_TEST(!holdfast::cli::has_password("postgresql://app@db/shop?passfile=f&user=app"));
#endif
}
