// The scripts of fenced mode: the model grants, refuses and fails like the real server, with the
// same tokens.
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
namespace status = redis::fenced_status;
using words = twins::words;

const std::string ann(32, 'a'), bob(32, 'b');

std::string waiting(const std::string& token)
{
    return token + std::string(redis::reference_length, 'r') + "one";
}

// The arguments of the acquire script.
struct wish {
    std::string mode = "ask", me = ann, ttl = "100000", floor = "0", block = "1024",
                agreed = "200000 1000 0", quarantine = "200000", ahead = "1000", keep = "0",
                run_id = "run", node = "first";

    words command() const
    {
        return {"EVAL", std::string(redis::fenced_acquire_script.text), "4", "l", "f", "n", "q",
            mode, me, ttl, floor, block, agreed, quarantine, ahead, keep, run_id, node, waiting(me),
            "100000", "50000"};
    }
};

words write_back(
    const std::string& lock, const std::string& me, const std::string& from, const std::string& to)
{
    return {"EVAL", std::string(redis::write_back_script.text), "2", lock, "f", me, from, to, "0",
        "100000"};
}

words renew(const std::string& me, std::int64_t last, const std::string& lock = "l",
    const std::string& ttl = "100000")
{
    return {"EVAL", std::string(redis::fenced_renew_script.text), "2", lock, "f", "0", "100000", me,
        ttl, std::to_string(last)};
}

std::int64_t number_at(std::string_view reply, std::size_t at)
{
    std::int64_t n = 0;
    std::from_chars(reply.data() + at, reply.data() + reply.size(), n);
    return n;
}

// The first of three numbers, or the only one.
std::int64_t first_in(std::string_view reply)
{
    return number_at(reply, reply.starts_with("*3\r\n:") ? 5 : 1);
}

struct fencing_fixture {
    twins both;
    random_commands random{1};
    std::vector<std::string> replies; // to the last command

    fencing_fixture()
    {
        both.on_reply = [this](const words&, const std::string& reply) {
            replies.push_back(reply);
        };
    }

    // Returns the number in the common reply of the two servers.
    std::int64_t say(const words& command, std::size_t connection = 0)
    {
        replies.clear();
        both.say(both.connected(connection), {command}, random);
        return first_in(replies.front());
    }

    std::int64_t ask(const wish& w, std::size_t connection = 0)
    {
        return say(w.command(), connection);
    }

    void check(bool right) { BOOST_TEST(right, "the last reply is " << visible(replies.front())); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(fencing, fencing_fixture)

BOOST_AUTO_TEST_CASE(each_grant_takes_a_block_and_the_next_grant_starts_after_it)
{
    const std::int64_t first = ask({});
    check(first > 0);
    check(ask({.me = bob}) == status::held);
    say({"DEL", "l"});
    check(ask({.me = bob}) >= first + 1024);
    const std::int64_t far = first + 50'000 * 1024;
    say({"SET", "f", std::to_string(far)});
    say({"DEL", "l"});
    check(ask({}) == far + 1);
    say({"GET", "f"});
    check(number_at(replies.front(), 5) == far + 1024);
    say({"DEL", "l"});
    check(ask({.block = "1"}) == far + 1025);
    say({"GET", "f"});
    check(number_at(replies.front(), 5) == far + 1025);
}

BOOST_AUTO_TEST_CASE(a_requested_floor_is_limited_by_the_nodes_clock)
{
    const wish wide{
        .floor = "3072000000000000", .quarantine = "8000000000000", .ahead = "3000000000000"};
    check(ask(wide) == 3'072'000'000'000'000);
    say({"FLUSHALL"});
    const std::int64_t clamped = ask({.floor = "3072000000000000"});
    check(clamped > 0 && clamped < 3'072'000'000'000'000);
}

// Both servers have the same clock; half of the quarantine is 100 s.
BOOST_AUTO_TEST_CASE(no_counter_is_stored_too_far_ahead_of_the_clock)
{
    const std::int64_t first = ask({.block = "1"});
    const std::string near = std::to_string(first + 99'000 * 1024),
                      far = std::to_string(first + 120'000 * 1024);
    check(say(write_back("l", ann, std::to_string(first), far)) == -1);
    say(renew(ann, std::stoll(far)));
    say({"GET", "f"});
    check(number_at(replies.front(), 5) == first);
    check(say(write_back("l", ann, std::to_string(first), near)) == 1);
    say({"SET", "f", far});
    check(ask({.me = bob}) == status::held);
    check(ask({.mode = "confirm"}) == status::ahead);
    check(ask({.mode = "again"}) == status::ahead);
    say({"DEL", "l"});
    check(ask({}) == status::ahead);
    check(ask({.mode = "enqueue"}) == status::ahead); // and leaves no keys
    check(ask({.mode = "confirm"}) == status::held);
    check(both.model().find("q", {}) == nullptr);
    check(both.model().find("l", {}) == nullptr);
    say({"SET", "f", near});
    check(ask({.block = "3000000"}) == status::ahead);
    check(ask({.floor = "1000"}) == status::fast);
    check(ask({}) == std::stoll(near) + 1);
}

BOOST_AUTO_TEST_CASE(a_node_that_may_have_lost_data_is_in_quarantine)
{
    check(ask({.node = ""}) == status::quarantined);
    check(ask({}) == status::quarantined); // there is a record now
    say({"DEL", "n"});
    check(ask({}) > 0);
    say({"DEL", "l"});
    check(ask({.run_id = "other"}) == status::quarantined);
    say({"DEL", "n"});
    ask({});
    say({"DEL", "l"});
    check(ask({.run_id = "other", .node = "kept"}) > 0);
    say({"FLUSHALL"});
    const wish short_wait{.quarantine = "3", .node = ""};
    check(ask(short_wait) == status::quarantined);
    both.pass(2ms);
    check(ask(short_wait) == status::quarantined);
    both.pass(2ms);
    check(ask(short_wait) > 0);
}

BOOST_AUTO_TEST_CASE(keys_of_another_type_and_other_settings_are_reported)
{
    ask({});
    check(ask({.agreed = "1 1 1"}) == status::disagreed);
    say({"DEL", "l"});
    say({"SET", "f", "no number"});
    check(ask({}) == status::bad_counter);
    say({"SET", "f", "9007199253692415"});
    check(ask({}) == status::bad_counter);
    say({"SET", "f", "9007199253692414"});
    check(ask({}) == status::ahead);
    say({"DEL", "f", "l"});
    say({"LPUSH", "f", "x"});
    check(ask({}) == status::bad_counter);
    say({"DEL", "f"});
    say({"LPUSH", "l", "x"});
    check(ask({}) == status::conflict);
    say({"DEL", "l"});
    say({"SET", "n", "x"});
    check(ask({}) == status::conflict);
    say({"DEL", "n"});
    say({"LPUSH", "n", "x"});
    check(ask({}) == status::conflict);
    say({"DEL", "n"});
    say({"SET", "n", "200000 1000 0 run never"});
    check(ask({}) == status::conflict);
}

BOOST_AUTO_TEST_CASE(a_write_back_requires_the_counter_that_the_grant_left)
{
    const std::int64_t end = ask({}) + 1023;
    check(say(write_back("l", bob, std::to_string(end), std::to_string(end + 5))) == 0);
    check(say(write_back("l", ann, std::to_string(end - 1), std::to_string(end + 5))) == 0);
    check(say(write_back("l", ann, std::to_string(end), std::to_string(end + 5))) == 1);
    check(say(write_back("l", ann, std::to_string(end), std::to_string(end + 6))) == 0);
    say({"GET", "f"});
    check(number_at(replies.front(), 5) == end + 5);
}

BOOST_AUTO_TEST_CASE(a_renewal_repairs_the_counter)
{
    const std::int64_t end = ask({}) + 1023;
    say({"DEL", "f"});
    say(renew(ann, end));
    say({"GET", "f"});
    check(number_at(replies.front(), 5) == end);
    say({"SET", "f", "7"});
    say(renew(bob, end));
    say({"GET", "f"});
    check(replies.front() == "$1\r\n7\r\n");
    say(renew(ann, end));
    say(renew(ann, end - 1));
    say({"GET", "f"});
    check(number_at(replies.front(), 5) == end);
}

BOOST_AUTO_TEST_CASE(a_waiter_is_granted_the_lock_with_its_own_block)
{
    const std::int64_t first = ask({});
    say({"HELLO", "3"}, 1);
    say({"SUBSCRIBE", "one"}, 1);
    check(ask({.mode = "enqueue", .me = bob}) == status::held);
    say({"EVAL", std::string(redis::pass_on_script.text), "2", "l", "q", ann, "50000", ""});
    check(first_in(replies.front()) == 2);
    check(ask({.mode = "confirm"}) == status::held);
    const std::int64_t second = ask({.mode = "confirm", .me = bob});
    check(second >= first + 1024);
    check(ask({.mode = "again", .me = bob}) >= second + 1024); // as if it had missed the message
    say({"DEL", "l"});
    check(ask({.mode = "enqueue", .me = ann}) > second);
}

// No client listens to the channels of the two waiters.
BOOST_AUTO_TEST_CASE(a_waiter_that_does_not_listen_is_skipped)
{
    ask({});
    ask({.mode = "enqueue", .me = bob});
    ask({.mode = "enqueue", .me = std::string(32, 'c')});
    say({"DEL", "l"});
    check(ask({.mode = "enqueue"}) > 0);
    check(both.model().find("q", {}) == nullptr);
}

// The scripts run on random data. In the end each possible answer has occurred often enough.
BOOST_AUTO_TEST_CASE(random_scripts_are_answered_as_by_a_real_server)
{
    std::map<std::string, int> said;
    const std::string digest(redis::fenced_acquire_script.digest);
    both.on_reply = [&](const words& command, const std::string& reply) {
        const std::string script = command.size() > 1 ? command[1] : "";
        if (script == digest && reply[0] == '-')
            ++said["an error"];
        else if (script == digest)
            ++said[first_in(reply) > 0 ? "granted" : std::to_string(first_in(reply))];
        else if (script == redis::write_back_script.text && reply == ":1\r\n")
            ++said["written back"];
        else if (script == redis::write_back_script.text && reply == ":-1\r\n")
            ++said["denied"];
        else if ((script == redis::fenced_renew_script.digest ||
                     script == redis::fenced_renew_script.text) &&
                 reply.ends_with("\r\n:1\r\n"))
            ++said["renewed"];
    };
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        BOOST_TEST_CONTEXT("seed " << seed)
        {
            random_commands some(seed, random_commands::about::fencing);
            for (int i = 0; i < 50; ++i) {
                both.say(100, some);
                const auto* const lock = both.model().find("a", both.now());
                const auto* const counter = both.model().find("f", both.now());
                if (lock == nullptr || counter == nullptr)
                    continue;
                const std::string me = lock->value, stored = counter->value;
                for (const std::string to : {"9000000000000000", "7"})
                    both.say(both.connected(0), {write_back("a", me, stored, to)}, some);
                both.say(both.connected(0), {renew(me, 7, "a", "20")}, some);
            }
        }
    }
    for (const std::string each : {"granted", "0", "-1", "-2", "-3", "-4", "-5", "-6", "an error",
             "written back", "denied", "renewed"})
        BOOST_TEST(said[each] >= 50, each << " occurred " << said[each] << " times");
}

BOOST_AUTO_TEST_SUITE_END()
