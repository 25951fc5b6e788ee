// Row 39: a node that sends what no node should. It is left alone, and the others go on.
#include "acceptance/acceptance.hpp"
#include "acceptance/scripted_node.hpp"
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
    {"a length of nothing", "$\r\n"},
    {"an error of a length of nothing", "!\r\n"},
    {"streamed strings in arrays", repeat("*1\r\n", 5) + "$?\r\n"},
    {"streamed array", "*?\r\n:1\r\n.\r\n"},
    {"9,999,999,999 elements", "*9999999999\r\n"},
    {"more elements than a number holds", "*99999999999999999999999999\r\n"},
    {"a map whose doubled size overflows", "%9223372036854775808\r\n"},
    {"a length below nothing", "$-2\r\n"},
    {"an array below nothing", "*-2\r\n"},
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

// Not what the greeting tries on a key that nobody has.
bool is_request(const scripted_node::words& w)
{
    return w[0] == "SET" || (w[0].starts_with("EVAL") && !w[3].starts_with("holdfast:"));
}

task work_beside_it(scene& s, const scripted_node& bad)
{
    co_await connect_all(s.locker(0));
    co_await acquire_beside_a_fault(s);
    auto closed = [&] {
        return bad.closed() > 0;
    };
    const bool given_up = co_await becomes_true(closed);
    BOOST_TEST(given_up); // a connection that cannot be trusted any more
    // Once it is connected again, it is blamed for what it answers then.
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

// What the attack may cost us beyond what a sanitizer or a busy heap costs anyway.
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
    BOOST_TEST(bad.accepted() < 50); // it is not asked again without a pause
}

task fail_with_it_alone(scene& s, const scripted_node& bad)
{
    const error_code why = co_await fail_at_once(s.lock(0));
    BOOST_TEST(why == errc::protocol_error, why.message());
    BOOST_TEST(why == condition::misconfigured);
    expect_blamed(s.locker().stats(), bad.address(), "");
}

BOOST_AUTO_TEST_CASE(row_39_hostile_replies_to_the_greeting)
{
    for (const attack& each : attacks) {
        const std::string_view name = each.name;
        if (name.starts_with("two ") || name.starts_with("a thousand"))
            continue; // no greeting is answered with these
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
            co_await expect_blamed_soon(s.locker(), address, "nobody asked for");
            co_await acquire_beside_a_fault(s);
        });
    BOOST_TEST(c.empty_within(0s));
}

// Pushes are hints, and we have asked for none: they are read and forgotten.
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

// A byte now and then keeps a connection from being silent, but nobody waits for it.
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

    // In the greeting it is given up when its time is over, bytes or no bytes.
    const auto address = endpoint(slow.url()).address();
    play(redlock({slow.url()}, quick_options()), 1, [&](scene& alone) -> task {
        const error_code why = co_await acquire_in_vain(alone.lock(0), 2s);
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
