// States in which a server refuses commands. A real server is put into each state, and the model
// must refuse the same commands with the same messages.
#include "verification/fidelity/twins.hpp"

#include "redis/node/fence_scripts.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace holdfast::test;
using namespace std::chrono_literals;
using words = twins::words;
using trouble = redis_model::trouble;

// Asks the real server until its reply contains the answer.
void wait_for(twins& both, const words& question, const std::string& answer)
{
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (both.real_only(question).find(answer) == std::string::npos) {
        BOOST_REQUIRE_MESSAGE(std::chrono::steady_clock::now() < deadline, "no " << answer);
        std::this_thread::sleep_for(1ms);
    }
}

void configure(twins& both, const std::string& name, const std::string& value)
{
    BOOST_REQUIRE_EQUAL(both.real_only({"CONFIG", "SET", name, value}), "OK");
}

// Creates keys of all types, some of which expire soon, and a queue, and loads the scripts.
void fill(twins& both, random_commands& random)
{
    const auto to = both.connect();
    both.say(*to,
        {{"SET", "a", random.one_in(2) ? "x" : random.member().substr(0, 32), "PX", "100000"},
            {"SET", "b", "y"}, {"SET", "c", "x", "PX", "5"}, {"DEL", "list", "q"},
            {"LPUSH", "list", "x"},
            {"ZADD", "q", "1", random.member(), "2", random.member(), "3", random.member()},
            {"SCRIPT", "LOAD", std::string(holdfast::redis::release_script.text)},
            {"SCRIPT", "LOAD", std::string(holdfast::redis::renew_script.text)},
            {"SCRIPT", "LOAD", std::string(holdfast::redis::pass_on_script.text)},
            {"SCRIPT", "LOAD", std::string(holdfast::redis::enqueue_script.text)},
            {"SCRIPT", "LOAD", std::string(holdfast::redis::open_script.text)}, {"DEL", "n", "f"},
            {"EVAL", std::string(holdfast::redis::open_script.text), "2", "n", "f", "100 10 16384",
                random.one_in(3) ? "r2" : "r1", "100", "0", "first"}},
        random);
}

// Again and again: writes keys, enters the state, sends commands, leaves the state.
void suffer(twins& both, trouble what, const std::function<void()>& enter,
    const std::function<void()>& leave)
{
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        BOOST_TEST_CONTEXT("seed " << seed)
        {
            random_commands random(seed, seed % 2 == 0 ? random_commands::about::fencing
                                                       : random_commands::about::everything);
            fill(both, random);
            enter();
            both.model().state = what;
            both.say(100, random);
            leave();
            both.model().state = trouble::none;
        }
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(troubles)

BOOST_AUTO_TEST_CASE(out_of_memory)
{
    twins both;
    suffer(
        both, trouble::out_of_memory, [&] { configure(both, "maxmemory", "1"); },
        [&] { configure(both, "maxmemory", "0"); });
}

BOOST_AUTO_TEST_CASE(no_replicas)
{
    twins both;
    suffer(
        both, trouble::no_replicas, [&] { configure(both, "min-replicas-to-write", "1"); },
        [&] { configure(both, "min-replicas-to-write", "0"); });
}

BOOST_AUTO_TEST_CASE(read_only)
{
    twins both; // a replica without a primary: the port is closed
    suffer(
        both, trouble::read_only,
        [&] {
            both.real_only({"REPLICAOF", "127.0.0.1", "1"});
        },
        [&] {
            both.real_only({"REPLICAOF", "NO", "ONE"});
        });
}

// A snapshot fails because its file name is that of a folder.
BOOST_AUTO_TEST_CASE(misconfigured)
{
    twins both;
    const std::string folder = both.real_only({"CONFIG", "GET", "dir"});
    std::filesystem::create_directory(folder.substr(folder.find('\n') + 1) + "/dump.rdb");
    both.real_only({"BGSAVE"});
    wait_for(both, {"INFO", "persistence"}, "rdb_last_bgsave_status:err");
    suffer(
        both, trouble::misconfigured, [&] { configure(both, "save", "3600 1"); },
        [&] { configure(both, "save", ""); });
}

BOOST_AUTO_TEST_CASE(busy)
{
    twins both;
    random_commands random(1);
    fill(both, random);
    both.say(100, random); // opens all connections
    configure(both, "busy-reply-threshold", "1");
    wire stuck(both.server().port());
    stuck.send({encode_command({"EVAL", "while true do end", "0"})});
    wait_for(both, {"PING"}, "BUSY");
    both.model().state = trouble::busy;
    both.say(2'000, random);
    BOOST_REQUIRE_EQUAL(both.real_only({"SCRIPT", "KILL"}), "OK");
    BOOST_REQUIRE(stuck.receive(1).front().starts_with("-ERR Script killed")); // now it has ended
    configure(both, "busy-reply-threshold", "5000");
    both.model().state = trouble::none;
    both.say(500, random);
}

// The server loads many keys slowly.
BOOST_AUTO_TEST_CASE(loading)
{
    twins both({}, {"--enable-debug-command", "yes"});
    random_commands random(1);
    both.say(100, random); // opens all connections
    for (int i = 0; i < 3'000; ++i)
        both.real_only({"SET", "large:" + std::to_string(i), std::string(2'000, 'x')});
    configure(both, "rdbcompression", "no");
    configure(both, "loading-process-events-interval-bytes", "1024");
    configure(both, "key-load-delay", "10000");
    wire stuck(both.server().port());
    stuck.send({encode_command({"DEBUG", "RELOAD"})});
    wait_for(both, {"PING"}, "LOADING");
    both.flush_model(); // the real server flushes before it loads
    both.compare_pushes();
    both.model().state = trouble::loading;
    both.say(500, random);
    BOOST_TEST(both.real_only({"PING"}).find("LOADING") != std::string::npos); // it still loads
}

BOOST_AUTO_TEST_SUITE_END()
