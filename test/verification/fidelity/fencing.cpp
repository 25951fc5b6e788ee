// Fenced mode: the model opens nodes, and accepts and refuses ballots, like the real server.
#include "verification/fidelity/twins.hpp"

#include "redis/node/fence_scripts.hpp"

#include <boost/test/unit_test.hpp>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace holdfast::test;
using namespace std::chrono_literals;
namespace redis = holdfast::redis;
namespace status = redis::open_status;
using words = twins::words;

constexpr std::int64_t quarantine = 200'000;

// The arguments of the script that opens a node.
struct client {
    std::string agreed = "200000 1000 16384", run_id = "run", quarantine = "200000", clock = "0",
                trust{};

    words open() const
    {
        return {"EVAL", std::string(redis::open_script.text), "2", "n", "f", agreed, run_id,
            quarantine, clock, trust};
    }
};

std::int64_t number_at(std::string_view reply, std::size_t at)
{
    std::int64_t n = 0;
    std::from_chars(reply.data() + at, reply.data() + reply.size(), n);
    return n;
}

// The only number, or the first of two.
std::int64_t first_in(std::string_view reply)
{
    return number_at(reply, reply.starts_with("*2\r\n:") ? 5 : 1);
}

words send(std::int64_t ballot, const std::string& to)
{
    return {"ZADD", "f", "XX", "GT", "CH", std::to_string(ballot), to};
}

struct fencing_fixture {
    twins both;
    random_commands random{1};
    std::string reply; // to the last command

    fencing_fixture()
    {
        both.on_reply = [this](const words&, const std::string& said) {
            reply = said;
        };
        both.say(both.connected(1), {{"HELLO", "3"}}, random);
    }

    // Returns the number in the common reply of the two servers.
    std::int64_t say(const words& command)
    {
        both.say(both.connected(0), {command}, random);
        return first_in(reply);
    }

    std::int64_t open(const client& c = {}) { return say(c.open()); }

    // The smallest ballot that a register accepts at this time.
    std::int64_t ballot(std::int64_t ms = 0) const { return (both.now().count() + ms) * 8 + 1; }

    // The register accepts no ballot up to that time.
    void check_floor(const std::string& name, std::int64_t ms)
    {
        BOOST_TEST(say(send(ballot(ms) - 1, name)) == 0);
        BOOST_TEST(say(send(ballot(ms), name)) == 1);
        BOOST_TEST(say(send(ballot(ms), name)) == 0);
    }

    bool failed() const { return reply.starts_with('-'); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(fencing, fencing_fixture)

BOOST_AUTO_TEST_CASE(a_new_node_begins_at_its_clock)
{
    BOOST_TEST(open({.trust = "first"}) == 0);
    BOOST_TEST(reply == "*2\r\n:0\r\n:1700000000000\r\n");
    say({"ZCARD", "f"});
    BOOST_TEST(reply == ":16384\r\n");
    check_floor("0", 0);
    check_floor("16383", 0);
    BOOST_TEST(say(send(ballot(), "16384")) == 0);
    both.pass(5ms);
    BOOST_TEST(open() == 0);
    BOOST_TEST(say(send(ballot(-5), "0")) == 0); // nothing is set back
    BOOST_TEST(say(send(ballot(-5) + 1, "0")) == 1);
}

BOOST_AUTO_TEST_CASE(registers_are_read_as_numbers)
{
    open({.trust = "first"});
    for (const std::size_t connection : {0u, 1u})
        both.say(both.connected(connection),
            {{"ZSCORE", "f", "77"}, {"ZSCORE", "f", "x"}, {"ZSCORE", "g", "77"}, {"TIME"}}, random);
    say({"ZSCORE", "f", "77"});
    BOOST_TEST(reply == "$14\r\n13600000000000\r\n");
    say(send(9'007'199'254'740'991 / 128, "77"));
    say({"ZSCORE", "f", "77"});
    BOOST_TEST(reply == "$14\r\n70368744177663\r\n");
}

BOOST_AUTO_TEST_CASE(a_node_without_a_record_is_in_quarantine)
{
    BOOST_TEST(open() == quarantine);
    check_floor("7", quarantine);
    both.pass(1ms);
    BOOST_TEST(open() == quarantine - 1);
    BOOST_TEST(open({.trust = "first"}) == quarantine - 1); // there is a record now
    BOOST_TEST(open({.trust = "kept"}) == quarantine - 1);
    both.pass(twins::time(quarantine - 2));
    BOOST_TEST(open() == 1);
    both.pass(5ms);
    BOOST_TEST(open() == 0);
    check_floor("8", -4);
}

BOOST_AUTO_TEST_CASE(a_flushed_node_accepts_nothing_until_it_is_opened)
{
    open({.trust = "first"});
    say({"FLUSHALL"});
    BOOST_TEST(say(send(ballot(1'000'000), "7")) == 0);
    say({"ZSCORE", "f", "7"});
    BOOST_TEST(reply == "$-1\r\n");
    BOOST_TEST(open() == quarantine);
    check_floor("7", quarantine);
}

BOOST_AUTO_TEST_CASE(a_restarted_node_is_in_quarantine_unless_it_is_trusted)
{
    open({.trust = "first"});
    say(send(ballot(9), "7"));
    both.restart();
    BOOST_TEST(open({.run_id = "second", .trust = "kept"}) == 0);
    BOOST_TEST(say(send(ballot(9), "7")) == 0);
    BOOST_TEST(say(send(ballot(9) + 1, "7")) == 1);
    check_floor("8", 0);
    BOOST_TEST(open({.run_id = "second"}) == 0); // it is known now
    both.restart();
    BOOST_TEST(open({.run_id = "third"}) == quarantine);
    check_floor("7", quarantine);
    BOOST_TEST(open({.run_id = "fourth", .trust = "kept"}) == quarantine);
    say({"FLUSHALL"});
    BOOST_TEST(open({.run_id = "fourth", .trust = "kept"}) == quarantine);
}

BOOST_AUTO_TEST_CASE(a_node_without_one_of_its_registers_is_in_quarantine)
{
    for (const std::string trust : {"", "first", "kept"}) {
        say({"FLUSHALL"});
        open({.trust = "first"});
        const std::int64_t far = ballot(quarantine + 5);
        say(send(far, "8"));
        say({"ZREM", "f", "7"});
        BOOST_TEST(open({.trust = trust}) == quarantine);
        check_floor("7", quarantine);
        BOOST_TEST(say(send(far, "8")) == 0); // no register is set back
        BOOST_TEST(say(send(far + 1, "8")) == 1);
    }
    say({"DEL", "f"});
    BOOST_TEST(open({.trust = "first"}) == quarantine);
    say({"DEL", "n"});
    BOOST_TEST(open({.trust = "first"}) == quarantine);
}

BOOST_AUTO_TEST_CASE(other_settings_and_other_data_are_reported)
{
    open({.trust = "first"});
    BOOST_TEST(open({.agreed = "200000 999 16384"}) == status::disagreed);
    for (const std::string other : {"x", "", "200000 1000 16384 run", "200000 1000 16384 run x",
             "200000 1000 16384 two words 1", "200000 1000 run 1", "200000 1000 16384 run 1 "}) {
        say({"SET", "n", other});
        BOOST_TEST(open() == status::conflict);
    }
    say({"SET", "n", "200000 1000 16384 run 99999999999999"});
    BOOST_TEST(open() > quarantine);
    say({"DEL", "n"});
    say({"LPUSH", "n", "x"});
    open();
    BOOST_TEST(failed());
    say({"DEL", "n", "f"});
    say({"SET", "f", "x"});
    open();
    BOOST_TEST(failed());
    say(send(ballot(), "7"));
    BOOST_TEST(failed());
    BOOST_TEST(both.model().find("n", both.now()) == nullptr);
}

BOOST_AUTO_TEST_CASE(a_clock_that_is_set_back_prolongs_the_quarantine)
{
    open();
    both.pass(-1h);
    BOOST_TEST(open() == quarantine + 3'600'000);
    say({"FLUSHALL"});
    BOOST_TEST(open() == quarantine);
    check_floor("7", quarantine);
}

BOOST_AUTO_TEST_CASE(the_quarantine_begins_at_the_later_of_two_clocks)
{
    const auto clock_of = [&](std::int64_t ahead) {
        return std::to_string(both.now().count() + ahead);
    };
    BOOST_TEST(open({.clock = clock_of(-5'000)}) == quarantine);
    say({"FLUSHALL"});
    BOOST_TEST(open({.clock = clock_of(5'000)}) == quarantine + 5'000);
    check_floor("7", quarantine + 5'000);
    BOOST_TEST(open({.clock = clock_of(9'000)}) == quarantine + 5'000);
    say({"FLUSHALL"});
    BOOST_TEST(open({.clock = clock_of(5'000), .trust = "first"}) == 0);
    check_floor("7", 0);
}

BOOST_AUTO_TEST_CASE(options_of_zadd_exclude_each_other)
{
    for (const std::string one : {"NX", "XX", "GT", "LT", "CH", "gt"}) {
        for (const std::string other : {"NX", "XX", "GT", "LT", "CH", "foo"}) {
            say({"DEL", "q"});
            say({"ZADD", "q", "5", "a", "5", "b"});
            for (const std::string score : {"4", "5", "6"})
                say({"ZADD", "q", one, other, score, "a", "7", "b", "1", "c"});
            say({"ZADD", "q", one, other, "1"});
            say({"ZADD", "q", one, other});
            say({"ZADD", "q", one, other, "x", "a"});
            say({"ZADD", "none", one, other, "1", "a"});
            say({"ZADD", "n", one, other, "1", "a"});
            say({"ZRANGE", "q", "0", "-1", "WITHSCORES"});
        }
    }
}

// The script and ballots run on random data. In the end each possible answer has occurred often
// enough.
BOOST_AUTO_TEST_CASE(random_requests_are_answered_as_by_a_real_server)
{
    std::map<std::string, int> said;
    both.on_reply = [&](const words& command, const std::string& told) {
        const std::string script = command.size() > 1 ? command[1] : "";
        const bool opens = script == redis::open_script.digest || script == redis::open_script.text;
        const std::int64_t n = first_in(told);
        if (opens)
            ++said[told[0] == '-' ? "an error" : n > 0 ? "in quarantine" : std::to_string(n)];
        else if (command.size() == 7 && command[2] == "XX" && command[3] == "GT")
            ++said[told == ":1\r\n" ? "accepted" : told == ":0\r\n" ? "refused" : "no register"];
    };
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        BOOST_TEST_CONTEXT("seed " << seed)
        {
            random_commands some(seed, random_commands::about::fencing);
            both.say(1'000, some);
        }
    }
    for (const std::string each :
        {"0", "in quarantine", "-3", "-4", "an error", "accepted", "refused", "no register"})
        BOOST_TEST(said[each] >= 20, each << " occurred " << said[each] << " times");
}

BOOST_AUTO_TEST_SUITE_END()
