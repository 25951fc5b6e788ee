// Job control: the program between a shell and its command, on a terminal.
#include "tools/cli.hpp"
#include "tools/pseudo_terminal.hpp"

#include <boost/test/unit_test.hpp>

namespace {

using namespace holdfast::test;

constexpr const char* prompt = "next> ";

// A shell on a terminal of its own.
class shell : public pseudo_terminal {
public:
    explicit shell(const std::string& store)
        : pseudo_terminal({store, "PS1=next> ", "HF=" HOLDFAST_CLI, "bash", "--norc", "--noprofile",
              "--noediting", "-i"})
    {
        type("stty -echo; echo be\"gins\"\n");
        read_until("begins");
        read_until(prompt);
    }
};

struct cli_run_terminal_fixture {
    std::vector<redis_server> servers = start_servers(1);
    shell user{store_of(servers)};

    // The exit status of the last command, at the next prompt.
    std::string status()
    {
        user.read_until(prompt);
        user.type("echo status=$?.\n");
        user.read_until("status=");
        std::string digits = user.read_until(".");
        digits.pop_back();
        return digits;
    }
};

constexpr const char* interrupt = "\x03";
constexpr const char* suspend = "\x1a";

} // namespace

BOOST_FIXTURE_TEST_SUITE(cli_run_terminal, cli_run_terminal_fixture)

BOOST_AUTO_TEST_CASE(the_command_has_the_terminal)
{
    user.type("$HF run job -- sh -c 'echo re\"ady\"; read line; echo got $line'\n");
    user.read_until("ready");
    user.type("text\n");
    user.read_until("got text");
    BOOST_TEST(status() == "0");
}

// The command is one process when it says that it is ready: a shell would start the next process
// after the signal.
BOOST_AUTO_TEST_CASE(an_interrupt_ends_the_command_and_the_loop_around_it)
{
    user.type("while :; do $HF run job -- sh -c 'echo re\"ady\"; exec sleep 1000'; done\n");
    user.read_until("ready");
    user.type(interrupt);
    BOOST_TEST(status() == "130");
    BOOST_TEST(servers[0].command({"exists", "job"}) == "0");
}

BOOST_AUTO_TEST_CASE(an_interrupt_ends_a_script)
{
    user.type(
        "sh -c '$HF run job -- sh -c \"echo re\\\"ady\\\"; exec sleep 1000\"; echo w\"ent on\"'\n");
    user.read_until("ready");
    user.type(interrupt);
    BOOST_TEST(user.read_until(prompt).find("went on") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_stopped_command_is_continued)
{
    user.type("$HF run job -- sh -c 'echo re\"ady\"; read line; echo got $line'\n");
    user.read_until("ready");
    user.type(suspend);
    user.read_until("Stopped");
    user.read_until(prompt);
    BOOST_TEST(servers[0].command({"exists", "job"}) == "1");
    user.type("fg\n");
    user.type("text\n");
    user.read_until("got text");
    BOOST_TEST(status() == "0");
}

BOOST_AUTO_TEST_CASE(a_command_that_is_stopped_for_too_long_is_not_continued)
{
    user.type("$HF run --ttl 1s job -- sh -c 'echo re\"ady\"; read line; echo go\"t it\"'\n");
    user.read_until("ready");
    user.type(suspend);
    user.read_until("Stopped");
    user.read_until(prompt);
    while (servers[0].command({"exists", "job"}) == "1") {
    }
    user.type("fg\n");
    BOOST_TEST(user.read_until("lost the lease").find("got it") == std::string::npos);
    BOOST_TEST(status() == "123");
}

BOOST_AUTO_TEST_CASE(a_command_in_the_background_gets_the_terminal_later)
{
    user.type("$HF run job -- sh -c 'read line; echo got $line' &\n");
    user.read_until(prompt);
    user.type("while ! jobs | grep -q Stopped; do :; done; fg\n");
    user.type("text\n");
    user.read_until("got text");
    BOOST_TEST(status() == "0");
}

BOOST_AUTO_TEST_SUITE_END()
