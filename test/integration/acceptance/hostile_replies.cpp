// Row 39: a node that sends invalid replies. It is excluded, and the other nodes are used.
#include "integration/acceptance/acceptance.hpp"
#include "integration/acceptance/scripted_node.hpp"
#include "support/fault_proxy.hpp"

#include <boost/test/data/test_case.hpp>

#include <ostream>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(acceptance_hostile_replies)

std::string repeat(std::string_view text, std::size_t times)
{
    std::string all;
    while (times-- != 0)
        all += text;
    return all;
}

struct attack {
    const char* name;
    std::string bytes; // in place of a reply
    friend std::ostream& operator<<(std::ostream& out, const attack& a) { return out << a.name; }
};

const std::vector<attack> attacks{
    {"a missing length", "$\r\n"},
    {"an error with a missing length", "!\r\n"},
    {"streamed strings in arrays", repeat("*1\r\n", 5) + "$?\r\n"},
    {"streamed array", "*?\r\n:1\r\n.\r\n"},
    {"9,999,999,999 elements", "*9999999999\r\n"},
    {"a number of elements that overflows", "*99999999999999999999999999\r\n"},
    {"a map whose doubled size overflows", "%9223372036854775808\r\n"},
    {"a negative length", "$-2\r\n"},
    {"an array with a negative length", "*-2\r\n"},
    {"a length with a sign", "$+1\r\nx\r\n"},
    {"a string of 1 GiB", "$1073741824\r\n" + std::string(1024 * 1024, 'x')},
    {"a string of nearly all memory", "$18446744073709551613\r\nxx"},
    {"a line without an end", "+" + std::string(2 * 1024 * 1024, 'x')},
    {"deep nesting", repeat("*1\r\n", 100'000)},
    {"attributes without an end", repeat("|1\r\n+a\r\n+b\r\n", 100'000)},
    {"no line end after a string", "$2\r\nOKxx"},
    {"no type", "OK\r\n"},
    {"another protocol", "HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n"},
    {"zeros", std::string(1000, '\0')},
    {"an integer", ":1\r\n"},
    {"another word", "+QUEUED\r\n"},
    {"an array", "*2\r\n+OK\r\n+OK\r\n"},
    {"two replies for one request", "_\r\n+OK\r\n"},
    {"a thousand replies for one request", repeat("+OK\r\n", 1000)},
};

// Excludes the commands that the handshake tries on an unused key, and the client record.
bool is_request(const scripted_node::words& w)
{
    return (w[0] == "SET" && !w[1].starts_with("holdfast:")) ||
           (w[0].starts_with("EVAL") && !w[3].starts_with("holdfast:"));
}

task work_beside_it(scene& s, const scripted_node& bad)
{
    co_await connect_all(s.locker(0));
    co_await acquire_beside_a_fault(s);
    auto closed = [&] {
        return bad.closed() > 0;
    };
    const bool given_up = co_await becomes_true(closed);
    BOOST_TEST(given_up); // the connection cannot be trusted any more
    // After a reconnect, the error is that of its next answers.
    locker_stats seen = s.locker().stats();
    for (const auto end = steady::now() + slack;
         seen.nodes[0].last_error != errc::protocol_error && steady::now() < end;
         seen = s.locker().stats())
        co_await acquire_and_release(s.lock(0));
    expect_blamed(seen, bad.address(), "");
    const auto& nodes = seen.nodes;
    BOOST_TEST(nodes[0].last_error == errc::protocol_error, nodes[0].last_error.message());
    for (std::size_t i = 1; i < 3; ++i) {
        BOOST_TEST(!nodes[i].last_error, nodes[i].reason);
        BOOST_TEST(nodes[i].connects == 1u);
    }
    for (int i = 0; i < 20; ++i)
        co_await acquire_and_release(s.lock(0));
}

// The memory that an attack may use, in addition to that of a sanitizer or a busy heap.
constexpr std::size_t most_memory = 64 * 1024 * 1024;

BOOST_DATA_TEST_CASE(row_39_hostile_replies_to_requests, attacks, each)
{
    cluster c(2);
    scripted_node bad([&](const scripted_node::words& w) {
        return is_request(w) ? each.bytes : bad.polite_answer(w);
    });
    const auto before = resident_bytes();
    play(redlock({bad.url(), c.nodes[0].url(), c.nodes[1].url()}, quick_options()), 2,
        [&](scene& s) { return work_beside_it(s, bad); });
    BOOST_TEST(resident_bytes() < before + most_memory);
    BOOST_TEST(c.empty_within(0s));
    BOOST_TEST(bad.accepted() < 50); // there is a pause before each reconnect
}

task fail_with_it_alone(scene& s, const scripted_node& bad)
{
    const error_code why = co_await fail_at_once(s.lock(0));
    BOOST_TEST(why == errc::protocol_error, why.message());
    BOOST_TEST(why == condition::misconfigured);
    expect_blamed(s.locker().stats(), bad.address(), "");
}

BOOST_AUTO_TEST_CASE(row_39_hostile_replies_to_the_handshake)
{
    for (const attack& each : attacks) {
        const std::string_view name = each.name;
        if (name.starts_with("two ") || name.starts_with("a thousand"))
            continue; // these do not apply to the handshake
        BOOST_TEST_CONTEXT(each.name)
        {
            scripted_node bad([&](const scripted_node::words&) { return each.bytes; });
            play(redlock({bad.url()}, quick_options()), 1,
                [&](scene& s) { return fail_with_it_alone(s, bad); });
        }
    }
}

BOOST_AUTO_TEST_CASE(row_39_a_reply_without_a_request)
{
    cluster c(2);
    scripted_node bad([&](const scripted_node::words& w) {
        const bool last = w[0] == "SUBSCRIBE";
        return bad.polite_answer(w) + (last ? "+PONG\r\n" : "");
    });
    play(redlock({bad.url(), c.nodes[0].url(), c.nodes[1].url()}, quick_options()), 2,
        [&](scene& s) -> task {
            const auto address = bad.address();
            co_await expect_blamed_soon(s.locker(), address, "a reply without a request");
            co_await acquire_beside_a_fault(s);
        });
    BOOST_TEST(c.empty_within(0s));
}

// Pushes are hints, and none was requested: they are read and ignored.
BOOST_AUTO_TEST_CASE(row_39_unexpected_pushes_are_ignored)
{
    scripted_node odd([&](const scripted_node::words& w) {
        const std::string push = ">2\r\n+message\r\n$5\r\nhello\r\n";
        const std::string answer = w[0] == "SET"              ? "+OK\r\n"
                                   : w[0].starts_with("EVAL") ? ":1\r\n"
                                                              : odd.polite_answer(w);
        return repeat(push, 100) + answer + push;
    });
    play(redlock({odd.url()}, quick_options()), 1, [](scene& s) -> task {
        lease held = co_await s.lock(0).acquire();
        const release_outcome outcome = co_await held.release();
        BOOST_TEST(outcome == release_outcome::released);
        BOOST_TEST(describe_nodes(s.locker().stats()) == "");
        BOOST_TEST(s.locker().stats().nodes[0].connects == 1u);
    });
}

task work_beside_a_trickle(scene& s, std::size_t rounds)
{
    for (std::size_t i = 0; i < rounds; ++i)
        co_await acquire_beside_a_fault(s);
}

// With a byte now and then the connection is not silent, but no operation waits for it.
BOOST_AUTO_TEST_CASE(row_39_one_byte_at_a_time)
{
    cluster c(3);
    fault_proxy slow(c.nodes[0].port());
    scene s(redlock({slow.url(), c.nodes[1].url(), c.nodes[2].url()}, quick_options()), 2);
    run(s.io, connect_all(s.locker(0)));
    run(s.io, connect_all(s.locker(1)));
    slow.set({.to_client = {.bytes_per_second = 1}});
    run(s.io, work_beside_a_trickle(s, 5));
    s.finish();

    // During the handshake the connection is closed at the end of the timeout, even if bytes
    // arrive.
    const auto address = endpoint(slow.url()).address();
    play(redlock({slow.url()}, quick_options()), 1, [&](scene& alone) -> task {
        const error_code why = co_await fail_to_acquire(alone.lock(0), 2s);
        BOOST_TEST(why == errc::unreachable, why.message());
        expect_blamed(alone.locker().stats(), address, "within the connect timeout");
    });
    slow.set({});
    slow.reset();
    BOOST_TEST(c.empty_within(10s));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
