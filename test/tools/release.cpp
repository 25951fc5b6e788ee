// A lock is taken away from its holder.
#include "tools/cli.hpp"
#include "tools/pseudo_terminal.hpp"

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>

namespace {

using namespace holdfast::test;

struct cli_release_fixture {
    std::vector<redis_server> servers = start_servers(1);
    words variables{store_of(servers)};

    std::string value() { return servers[0].command({"GET", "job"}); }
    words on_terminal() const { return {variables[0], HOLDFAST_CLI, "release", "--force", "job"}; }
};

int exit_status(pseudo_terminal& terminal)
{
    const int status = terminal.wait();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(cli_release, cli_release_fixture)

BOOST_AUTO_TEST_CASE(the_holder_is_told)
{
    auto holder = hold("job", variables);
    const auto pid = holder.pid(); // until it ends
    const auto result = run_cli({"--json", "release", "--force", "--yes", "job"}, variables);
    BOOST_TEST(result.status == 0, result.output);
    const auto line = boost::json::parse(result.output).as_object();
    BOOST_TEST(line.at("released").as_bool());
    BOOST_TEST(line.at("told").as_bool());
    BOOST_TEST(line.at("owner").as_object().at("client").as_object().at("pid").as_int64() == pid);
    BOOST_TEST(has(read_all(holder), "lost the lease"));
    BOOST_TEST(holder.wait() == 123);
    BOOST_TEST(value() == "(nil)");
    BOOST_TEST(run_cli({"release", "--force", "--yes", "job"}, variables).status == 1);
}

BOOST_AUTO_TEST_CASE(another_client_cannot_be_told)
{
    servers[0].command({"SET", "job", "someone", "PX", "60000"});
    const auto result = run_cli({"release", "--force", "--yes", "job"}, variables);
    BOOST_TEST(result.status == 3, result.output);
    BOOST_TEST(has(result.output, "another client"), result.output);
    BOOST_TEST(has(result.output, "could not be told"), result.output);
    BOOST_TEST(value() == "(nil)");
}

BOOST_AUTO_TEST_CASE(it_must_be_meant)
{
    servers[0].command({"SET", "job", "someone", "PX", "60000"});
    for (const words& arguments : {words{"release", "job"}, words{"release", "--yes", "job"}}) {
        const auto result = run_cli(arguments, variables);
        BOOST_TEST(result.status == 125);
        BOOST_TEST(has(result.output, "--force"), result.output);
    }
    // Neither standard stream is a terminal.
    const auto result = run_cli({"release", "--force", "job"}, variables);
    BOOST_TEST(result.status == 125);
    BOOST_TEST(has(result.output, "--yes"), result.output);
    BOOST_TEST(value() == "someone");
}

BOOST_AUTO_TEST_CASE(a_terminal_is_asked)
{
    servers[0].command({"SET", "job", "someone", "PX", "60000"});
    for (const char* answer : {"n\n", "\n", "\x04", "maybe\n"}) {
        pseudo_terminal user(on_terminal());
        BOOST_TEST(has(user.read_until("[y/N]"), "another client"));
        user.type(answer);
        BOOST_TEST(exit_status(user) == 2);
        BOOST_TEST(value() == "someone");
    }
    pseudo_terminal user(on_terminal());
    user.read_until("[y/N]");
    user.type("y\n");
    BOOST_TEST(exit_status(user) == 3);
    BOOST_TEST(value() == "(nil)");
}

BOOST_AUTO_TEST_CASE(a_successor_keeps_the_lock)
{
    servers[0].command({"SET", "job", "someone", "PX", "60000"});
    pseudo_terminal user(on_terminal());
    user.read_until("[y/N]");
    servers[0].command({"DEL", "job"});
    auto successor = hold("job", variables);
    user.type("y\n");
    user.read_until("changed hands");
    BOOST_TEST(exit_status(user) == 2);
    BOOST_TEST(run_cli({"inspect", "job"}, variables).status == 0);
}

BOOST_AUTO_TEST_SUITE_END()
