// The command ends no later than its lease, whatever happens to the nodes or to the program.
#include "tools/cli.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/types.h>

#include <csignal>
#include <optional>

namespace {

using namespace holdfast::test;

// A command and a process that it has started in the background. The latter says itself that it has
// begun: a signal before its exec could be lost in the copy of the shell.
struct cli_run_end_of_lease_fixture {
    void start(const std::string& reaction, const std::string& ttl = "4s")
    {
        const words all{"run", "--ttl", ttl, "--kill-after", "2s", "job", "--", "sh", "-c",
            reaction + "; echo $$; sh -c 'echo $$; exec sleep 1000' & while :; do wait; done"};
        process.emplace(start_cli(all, {store_of(servers)}));
        command = read_pid(*process);
        background = read_pid(*process);
    }

    void kill_servers()
    {
        for (auto& server : servers)
            server.kill();
    }

    void await_both()
    {
        await_end(command);
        await_end(background);
    }

    // The message of the program and the line of the command come in any order: the guardian tells
    // the command.
    std::string read_message_and_told()
    {
        const std::string first = process->read_line(), second = process->read_line();
        BOOST_TEST((first == "told" || second == "told"), first + "\n" + second);
        return first + "\n" + second;
    }

    std::vector<redis_server> servers = start_servers(3);
    std::optional<child_process> process;
    pid_t command = -1, background = -1;
};

// The process that stops the command: the leader of its group.
pid_t guardian_of(pid_t command)
{
    return ::getpgid(command);
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(cli_run_end_of_lease, cli_run_end_of_lease_fixture)

BOOST_AUTO_TEST_CASE(lost_nodes_stop_the_command)
{
    start("trap 'echo told; exit 0' TERM");
    kill_servers();
    const auto lines = read_message_and_told();
    BOOST_TEST(lines.find("lost the lease on \"job\"") != std::string::npos, lines);
    BOOST_TEST(lines.find("Connection refused") != std::string::npos, lines);
    BOOST_TEST(process->wait() == 123);
    await_both();
}

BOOST_AUTO_TEST_CASE(a_command_that_does_not_stop_is_killed_at_the_end)
{
    start("trap 'echo told' TERM");
    kill_servers();
    const auto lines = read_message_and_told();
    BOOST_TEST(lines.find("is killed in") != std::string::npos, lines);
    await_both(); // the trap ends nothing, and `wait` begins again
    BOOST_TEST(process->wait() == 123);
}

BOOST_AUTO_TEST_CASE(processes_that_the_command_leaves_behind_are_killed)
{
    // The command ends at once, the background process takes no notice.
    const words all{"run", "--ttl", "4s", "--kill-after", "2s", "job", "--", "sh", "-c",
        "trap 'exit 0' TERM; sh -c 'trap \"\" TERM; echo $$; exec sleep 1000' & "
        "while :; do wait; done"};
    process.emplace(start_cli(all, {store_of(servers)}));
    background = read_pid(*process);
    kill_servers();
    await_end(background);
    BOOST_TEST(process->wait() == 123);
}

BOOST_AUTO_TEST_CASE(a_lock_that_is_taken_away_kills_the_command_at_once)
{
    start("trap '' TERM");
    for (auto& server : servers)
        BOOST_TEST(server.command({"set", "job", "another", "px", "100000"}) == "OK");
    await_both();
    BOOST_TEST(process->wait() == 123);
    for (auto& server : servers)
        BOOST_TEST(server.command({"get", "job"}) == "another");
}

BOOST_AUTO_TEST_CASE(renewals_keep_a_command_for_longer_than_a_ttl)
{
    const auto result =
        run_cli({"run", "--ttl", "2s", "--kill-after", "50ms", "job", "--", "sh", "-c", "sleep 3"},
            {store_of(servers)});
    BOOST_TEST(result.status == 0, result.output);
}

BOOST_AUTO_TEST_CASE(a_killed_program_leaves_no_command)
{
    start("trap - TERM", "1h");
    const pid_t guardian = guardian_of(command);
    process->kill();
    await_both(); // SIGTERM, at once
    await_end(guardian);
}

BOOST_AUTO_TEST_CASE(a_killed_program_leaves_no_command_that_ignores_signals)
{
    start("trap '' TERM"); // in the background process as well
    const pid_t guardian = guardian_of(command);
    process->kill();
    await_both();
    await_end(guardian);
}

BOOST_AUTO_TEST_CASE(a_frozen_program_does_not_keep_its_command)
{
    start("trap '' TERM");
    process->pause();
    await_both();
    process->resume();
    const auto message = process->read_line();
    BOOST_TEST(message.find("lost the lease") != std::string::npos, message);
    BOOST_TEST(process->wait() == 123);
}

BOOST_AUTO_TEST_CASE(without_its_guardian_the_command_is_killed)
{
    start("trap '' TERM");
    ::kill(guardian_of(command), SIGKILL);
    await_both();
    BOOST_TEST(process->read_line().find("has ended") != std::string::npos);
    BOOST_TEST(process->wait() == 128 + SIGKILL);
}

BOOST_AUTO_TEST_CASE(a_stopped_group_is_killed)
{
    start("trap '' TERM");
    ::kill(-guardian_of(command), SIGSTOP);
    kill_servers();
    await_both();
    BOOST_TEST(process->read_line().find("lost the lease") != std::string::npos);
    BOOST_TEST(process->wait() == 123);
}

BOOST_AUTO_TEST_CASE(nothing_is_left_after_a_good_run)
{
    start("trap 'kill $!; exit 5' TERM");
    const pid_t guardian = guardian_of(command);
    BOOST_TEST(guardian != command);
    process->ask_to_end();
    BOOST_TEST(process->wait() == 5);
    await_both();
    await_end(guardian);
    for (auto& server : servers)
        BOOST_TEST(server.command({"exists", "job"}) == "0");
}

BOOST_AUTO_TEST_SUITE_END()
