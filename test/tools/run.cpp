#include "tools/cli.hpp"

#include "support/temporary_folder.hpp"

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <sys/types.h>

#include <chrono>
#include <csignal>

namespace {

using namespace holdfast::test;

struct cli_run_fixture {
    std::vector<redis_server> servers = start_servers(1);
    words variables{store_of(servers)};

    cli_result run(const words& arguments) { return run_cli(arguments, variables); }
    child_process start(const words& arguments) { return start_cli(arguments, variables); }

    cli_result shell(const std::string& script)
    {
        return run({"run", "job", "--", "sh", "-c", script});
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(cli_run, cli_run_fixture)

BOOST_AUTO_TEST_CASE(the_status_of_the_command_is_passed_on)
{
    BOOST_TEST(shell("exit 0").status == 0);
    BOOST_TEST(shell("exit 7").status == 7);
    BOOST_TEST(shell("kill -KILL $$").status == 128 + SIGKILL);
    BOOST_TEST(shell("kill -INT $$").status == 128 + SIGINT);
    BOOST_TEST(servers[0].command({"exists", "job"}) == "0");
}

BOOST_AUTO_TEST_CASE(a_command_that_cannot_be_started)
{
    const auto missing = run({"run", "job", "--", "/does/not/exist"});
    BOOST_TEST(missing.status == 127);
    BOOST_TEST(missing.output.find("No such file") != std::string::npos);
    BOOST_TEST(run({"run", "job", "--", "not-in-the-path-of-anyone"}).status == 127);
    BOOST_TEST(run({"run", "job", "--", "/"}).status == 126);
    BOOST_TEST(servers[0].command({"exists", "job"}) == "0"); // each has released the lock
}

BOOST_AUTO_TEST_CASE(a_lock_that_others_hold)
{
    auto holder = start({"run", "job", "--", "sh", "-c", "echo held; exec sleep 1000"});
    BOOST_TEST(holder.read_line() == "held");
    BOOST_TEST(run({"run", "--try", "job", "--", "echo", "ran"}).status == 124);
    BOOST_TEST(run({"run", "--wait", "0.2", "job", "--", "echo", "ran"}).status == 124);
    const auto chosen = run({"run", "--try", "-E", "9", "job", "--", "echo", "ran"});
    BOOST_TEST(chosen.status == 9);
    BOOST_TEST(chosen.output == "holdfast: \"job\" is held by others\n");
    const auto json = run({"--json", "run", "--try", "job", "--", "true"});
    const auto message = boost::json::parse(json.output).as_object();
    BOOST_TEST(message.at("event").as_string() == "not_acquired");
    BOOST_TEST(message.at("resource").as_string() == "job");
    BOOST_TEST(run({"-q", "run", "--try", "job", "--", "true"}).output.empty());
    const auto no_text = run({"--json", "-v", "run", "a\xff", "--", "true"});
    const auto acquired =
        boost::json::parse(no_text.output.substr(0, no_text.output.find('\n'))).as_object();
    BOOST_TEST(acquired.at("event").as_string() == "acquired");
    BOOST_TEST(acquired.at("resource_hex").as_string() == "61ff");

    holder.ask_to_end(); // is passed on
    BOOST_TEST(holder.wait() == 128 + SIGTERM);
    BOOST_TEST(run({"run", "--try", "job", "--", "true"}).status == 0);
}

BOOST_AUTO_TEST_CASE(runs_exclude_each_other)
{
    const temporary_folder folder("cli");
    // mkdir fails if another command is between its own mkdir and rmdir.
    const std::string script =
        "mkdir \"$0\" || exit 1; n=0; while [ $n -lt 300 ]; do n=$((n + 1)); done; rmdir \"$0\"";
    for (int round = 0; round < 5; ++round) {
        std::vector<child_process> all;
        for (int i = 0; i < 5; ++i)
            all.push_back(
                start({"run", "job", "--", "sh", "-c", script, folder.path() + "/inside"}));
        for (auto& one : all) {
            BOOST_TEST(read_all(one).empty());
            BOOST_TEST(one.wait() == 0);
        }
    }
}

BOOST_AUTO_TEST_CASE(the_command_learns_about_its_lock)
{
    const auto before = std::chrono::system_clock::now().time_since_epoch();
    const auto plain = shell("echo $HOLDFAST_RESOURCE $HOLDFAST_DEADLINE $HOLDFAST_TOKEN");
    const auto end = std::stod(plain.output.substr(plain.output.find(' ')));
    const auto begin = std::chrono::duration<double>(before).count();
    const auto now =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch());
    BOOST_TEST(plain.output.starts_with("job "));
    BOOST_TEST(plain.output.find(' ') == plain.output.rfind(' ')); // there is no token
    BOOST_TEST(end > begin);
    BOOST_TEST(end < now.count() + 30);
}

BOOST_AUTO_TEST_CASE(fenced_runs_have_growing_tokens)
{
    std::uint64_t last = 0;
    for (int i = 0; i < 3; ++i) {
        const auto result = run({"run", "--fenced", "--first-deployment", "job", "--", "sh", "-c",
            "echo $HOLDFAST_TOKEN"});
        BOOST_TEST_REQUIRE(result.status == 0, result.output);
        const auto token = std::stoull(result.output);
        BOOST_TEST(token > last);
        last = token;
    }
}

BOOST_AUTO_TEST_CASE(signals_are_passed_on)
{
    auto process = start({"run", "job", "--", "sh", "-c",
        "trap 'exit 42' USR1; trap 'exit 43' HUP; echo ready; while :; do sleep 0.05; done"});
    BOOST_TEST(process.read_line() == "ready");
    ::kill(process.pid(), SIGUSR1);
    BOOST_TEST(process.wait() == 42);

    auto other = start({"run", "job", "--", "sh", "-c",
        "trap 'exit 42' USR1; trap 'exit 43' HUP; echo ready; while :; do sleep 0.05; done"});
    BOOST_TEST(other.read_line() == "ready");
    ::kill(other.pid(), SIGHUP);
    BOOST_TEST(other.wait() == 43);
}

BOOST_AUTO_TEST_CASE(a_signal_ends_the_waiting)
{
    auto holder = start({"run", "job", "--", "sh", "-c", "echo held; exec sleep 1000"});
    BOOST_TEST(holder.read_line() == "held");
    auto waiter = start({"run", "job", "--", "echo", "ran"});
    BOOST_TEST(waiter.read_line().starts_with("holdfast: waiting for \"job\""));
    waiter.ask_to_end();
    BOOST_TEST(read_all(waiter).empty());
    BOOST_TEST(waiter.wait() == 128 + SIGTERM);
}

BOOST_AUTO_TEST_CASE(an_ignored_signal_stays_ignored)
{
    child_process process(words{"sh", "-c",
        "trap '' HUP; exec env " + variables[0] +
            " " HOLDFAST_CLI " run job -- sh -c 'kill -HUP $$ $PPID; echo on'"});
    BOOST_TEST(process.read_line() == "on");
    BOOST_TEST(process.wait() == 0);
}

BOOST_AUTO_TEST_CASE(closed_streams)
{
    const std::string start = "exec env " + variables[0] + " " HOLDFAST_CLI;
    child_process process(
        words{"sh", "-c", start + " -v run job -- sh -c 'echo text; exit 3' <&- >&- 2>&-"});
    BOOST_TEST(process.wait() == 3);
    child_process reader(words{"sh", "-c", start + " run job -- cat <&-"});
    BOOST_TEST(reader.wait() == 0);
}

BOOST_AUTO_TEST_CASE(bad_use)
{
    const auto complains = [this](const words& arguments, const std::string& about) {
        const auto result = run(arguments);
        BOOST_TEST(result.status == 125);
        BOOST_TEST(result.output.find(about) != std::string::npos, result.output);
        BOOST_TEST(result.output.starts_with("holdfast: error: "), result.output);
    };
    complains({"run", "job"}, "command after \"--\"");
    complains({"run", "job", "--"}, "command after \"--\"");
    complains({"run", "--", "true"}, "NAME");
    complains({"run", "", "--", "true"}, "must not be empty");
    complains({"run", "--ttl", "soon", "job", "--", "true"}, "not a duration");
    complains({"run", "--ttl", "1ms", "job", "--", "true"}, "ttl");
    complains({"run", "--ttl", "3", "--kill-after", "4", "job", "--", "true"}, "--kill-after");
    complains({"run", "--try", "--wait", "1", "job", "--", "true"}, "--wait");
    complains({"run", "-E", "256", "job", "--", "true"}, "255");
    complains({"run", "--first-deployment", "job", "--", "true"}, "--fenced");
    complains({"run", "--what", "job", "--", "true"}, "--what");
    complains({"ping", "--", "true"}, "--");
    complains({}, "a command is missing");
}

BOOST_AUTO_TEST_CASE(nodes_that_cannot_be_reached)
{
    servers[0].kill();
    const auto result = run({"run", "--try", "job", "--", "echo", "ran"});
    BOOST_TEST(result.status == 125);
    BOOST_TEST(result.output.find("Connection refused") != std::string::npos, result.output);
    BOOST_TEST(result.output.find("ran") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
