// The view of all locks, as pages and on a terminal.
#include "tools/cli.hpp"
#include "tools/pseudo_terminal.hpp"

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>

#include <csignal>

namespace {

using namespace holdfast::test;

constexpr const char* begins = "\x1b[?1049h";
constexpr const char* ends = "\x1b[?1049l";

struct cli_top_fixture {
    std::vector<redis_server> servers = start_servers(1);
    words variables{store_of(servers)};

    words top(const std::string& interval) const
    {
        return {variables[0], "TERM=xterm", HOLDFAST_CLI, "top", "--interval", interval};
    }

    // With a shell that stays: the end of the first process would reset the terminal.
    words top_in_shell(const std::string& interval) const
    {
        return {variables[0], "TERM=xterm", "sh", "-c",
            "trap : INT TERM HUP QUIT; \"$@\"; echo \"status $?.\"; read line", "sh", HOLDFAST_CLI,
            "top", "--interval", interval};
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(cli_top, cli_top_fixture)

BOOST_AUTO_TEST_CASE(pages)
{
    const auto b = hold("b", variables), a = hold("a", variables);
    const auto result = run_cli(
        {"top", "--batch", "--count", "2", "--interval", "100ms", "--sort", "name"}, variables);
    BOOST_TEST(result.status == 0, result.output);
    BOOST_TEST(has(result.output, "1 of 1 nodes connected"), result.output);
    BOOST_TEST(has(result.output, "2 locks, 2 held, 0 waiting, sorted by name"), result.output);
    BOOST_TEST(result.output.find("\na  ") < result.output.find("\nb  "), result.output);
    BOOST_TEST(result.output.rfind("\na  ") > result.output.find("\nb  "), result.output); // twice
    BOOST_TEST(!has(result.output, "\x1b"));

    const auto json = boost::json::parse(
        run_cli({"top", "--batch", "--json", "--count", "1", "b"}, variables).output)
                          .as_object();
    BOOST_TEST(json.at("complete").as_bool());
    BOOST_TEST(json.at("locks").as_array().size() == 1u);
    BOOST_TEST(json.at("locks").as_array()[0].as_object().at("queue_length").as_int64() == 0);
    BOOST_TEST(json.at("nodes").as_array().size() == 1u);
}

BOOST_AUTO_TEST_CASE(wrong_uses)
{
    for (const words& arguments :
        {words{"top"}, words{"top", "--batch", "--count", "0"}, words{"top", "--json"},
            words{"top", "--batch", "--interval", "1ms"}, words{"top", "--batch", "--sort", "x"}}) {
        const auto result = run_cli(arguments, variables);
        BOOST_TEST(result.status == 125, result.output);
        BOOST_TEST(has(result.output, "--"), result.output);
    }
}

BOOST_AUTO_TEST_CASE(no_node)
{
    servers[0].kill();
    const auto result = run_cli({"top", "--batch", "--count", "1"}, variables);
    BOOST_TEST(result.status == 2);
    BOOST_TEST(has(result.output, "cannot list the locks"), result.output);
}

BOOST_AUTO_TEST_CASE(a_screen)
{
    pseudo_terminal user(top_in_shell("100ms"));
    const tcflag_t modes = user.modes();
    const std::string first = user.read_until("0 locks");
    BOOST_TEST(has(first, begins));
    const auto holder = hold("job", variables);
    user.read_until("job"); // the view is refreshed
    BOOST_TEST((user.modes() & (ECHO | ICANON)) == 0u);
    user.type("q");
    user.read_until(ends);
    user.read_until("status 0.");
    BOOST_TEST(user.modes() == modes);
}

BOOST_AUTO_TEST_CASE(keys_and_size)
{
    const auto holder = hold("job", variables);
    pseudo_terminal user(top("1h")); // only events change the view
    user.read_until("refresh\x1b[K");
    user.type("n");
    user.read_until("sorted by name");
    user.type("l");
    user.read_until("sorted by queue");
    user.resize(12, 21);
    user.read_until("q quit  sort: a age,\x1b[K");
    servers[0].command({"SET", "other", servers[0].command({"GET", "job"}), "PX", "60000"});
    user.resize(24, 80);
    user.type(" ");
    user.read_until("other");
    user.type("q");
    user.read_until(ends);
}

BOOST_AUTO_TEST_CASE(signals)
{
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        pseudo_terminal user(top_in_shell("1h"));
        const tcflag_t modes = user.modes();
        user.read_until("refresh");
        user.signal(number);
        user.read_until(ends);
        user.read_until("status " + std::to_string(128 + number) + ".");
        BOOST_TEST(user.modes() == modes);
    }
}

BOOST_AUTO_TEST_CASE(stopped_and_continued)
{
    pseudo_terminal user(top("1h"));
    const tcflag_t modes = user.modes();
    user.read_until("refresh");
    user.signal(SIGTSTP);
    BOOST_TEST(WIFSTOPPED(user.wait()));
    user.read_until(ends);
    BOOST_TEST(user.modes() == modes);
    user.signal(SIGCONT);
    user.read_until(begins);
    user.read_until("refresh");
    user.type("q");
    user.read_until(ends);
}

BOOST_AUTO_TEST_SUITE_END()
