// One node, with scripted bytes: requests, replies, silence.
#include "redis/node/node_session.hpp"

#include "support/session_fixture.hpp"

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <string>

using namespace holdfast::redis;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::error_code;
namespace core = holdfast::core;

BOOST_FIXTURE_TEST_SUITE(redlock_node_session, session_fixture)

// What people are told before the node is ready, and when it is.
BOOST_AUTO_TEST_CASE(statistics_of_a_connection)
{
    BOOST_TEST(session.stats().address == "a:1");
    BOOST_TEST(session.stats().reason == "not connected yet");
    open();
    BOOST_TEST(session.stats().reason == "no answer to the greeting yet");
    BOOST_TEST(!session.stats().connected);
    greet();
    BOOST_TEST(told() == "ready ");
    BOOST_TEST(session.stats().connected);
    BOOST_TEST(session.stats().connects == 1u);
    BOOST_TEST(!session.stats().last_error);
    BOOST_TEST(session.stats().reason == "");
    BOOST_TEST(session.wake_at() == core::never);
    session.shut(now);
    BOOST_TEST(told() == "down ");
    BOOST_TEST(!session.stats().connected);
    BOOST_TEST(session.stats().reason == "the locker was closed");
}

// Replies belong to requests in the order in which the requests were sent.
BOOST_AUTO_TEST_CASE(replies_in_order)
{
    connect();
    for (const std::uint64_t r : {1u, 2u, 3u})
        session.send("x", {.reference = r, .sent = now});
    BOOST_TEST(connection.output() == "xxx");
    connection.written(2, now);
    BOOST_TEST(connection.output() == "x");
    receive(":10\r\n:2");
    BOOST_TEST(told() == "1=10 ");
    receive("0\r\n>1\r\n+a hint\r\n:30\r\n"); // a push is no reply
    BOOST_TEST(told() == "2=20 push:a hint 3=30 ");
    BOOST_TEST(session.outstanding() == 0u);
}

// A timeout is only counted: the request keeps its place, and gets its own late reply.
BOOST_AUTO_TEST_CASE(late_replies)
{
    connect();
    send(1);
    now += 1s;
    session.count_timeout();
    BOOST_TEST((session.health().last_failure().code == errc::no_reply));
    send(2);
    receive(":1\r\n:2\r\n");
    BOOST_TEST(told() == "1=1 2=2 ");
    BOOST_TEST(session.stats().timeouts == 1u);
    BOOST_TEST(!session.health().last_failure().code); // it works again
}

// The time to look at a node is noted with the first request, and not taken back by its answer.
BOOST_AUTO_TEST_CASE(the_time_of_the_next_look)
{
    connect();
    wakes.start_over();
    send(1);
    BOOST_TEST((wakes.at() == now + 10s));
    receive(":1\r\n");
    BOOST_TEST((session.wake_at() == core::never));
    now += 1s;
    send(2);
    BOOST_TEST((session.wake_at() == now + 10s));
    BOOST_TEST((wakes.at() == now + 9s));
}

// When the connection breaks, each request is orphaned once, in order, and nothing is sent again.
BOOST_AUTO_TEST_CASE(orphans)
{
    connect();
    now += 1s;
    for (const std::uint64_t r : {1u, 2u, 3u})
        send(r);
    receive(":1\r\n");
    connection.closed(holdfast::asio::error::connection_reset, now);
    BOOST_TEST(told() == "1=1 2? 3? down ");
    connection.opened(now);
    BOOST_TEST(connection.output().find('x') == std::string_view::npos);
    greet();
    BOOST_TEST(told() == "ready ");
}

// Bytes that violate the protocol close the connection, and so does a reply without a request.
BOOST_AUTO_TEST_CASE(protocol_errors)
{
    for (const std::string& bytes : {std::string("?what\r\n"), std::string(":1\r\n:2\r\n")}) {
        session_fixture f;
        f.connect();
        f.send(1);
        f.receive(bytes);
        BOOST_TEST(!f.connection.wants_open());
        BOOST_TEST((f.session.health().last_failure().code == errc::protocol_error));
        BOOST_TEST(f.heard.ends_with("down "));
        f.heard.clear();
        f.connection.closed(error_code(), f.now);
        BOOST_TEST(f.heard == ""); // told once
    }
}

// A node that reports that it is not, or no longer, a primary is given up after its answer was
// delivered.
BOOST_AUTO_TEST_CASE(a_disqualified_node)
{
    connect();
    send(1);
    send(2);
    receive("-READONLY You can't write against a read only replica.\r\n:1\r\n");
    BOOST_TEST(told() == "1=READONLY You can't write against a read only replica. 2? down ");
    BOOST_TEST(!connection.wants_open());
    connection.closed(error_code(), now);
    BOOST_TEST(session.wake_at() >= now + 1s); // a person must fix it first
    BOOST_TEST((session.now() == reach::down));
}

// An ordinary error is remembered until a request succeeds, and closes nothing.
BOOST_AUTO_TEST_CASE(an_ordinary_error)
{
    connect();
    send(1);
    receive("-OOM full\r\n");
    BOOST_TEST(session.stats().reason == "OOM full");
    BOOST_TEST(session.stats().connected);
    send(2);
    receive("-NOSCRIPT no\r\n"); // solved by sending the text: no failure
    BOOST_TEST(session.stats().reason == "OOM full");
    send(3);
    receive("+OK\r\n");
    BOOST_TEST(session.stats().reason == "");
}

// Silence while a request is unanswered closes the connection in the end. Only an answer extends
// the time; a part of one does not, nor does a push. An idle connection may be silent for ever.
BOOST_AUTO_TEST_CASE(silence)
{
    connect();
    wake_until(at(1h));
    send(1);
    send(2);
    BOOST_TEST(session.wake_at() == now + 10s);
    wake_until(at(1h + 5s));
    receive(":1\r\n");
    BOOST_TEST(told() == "1=1 ");
    BOOST_TEST(session.wake_at() <= now + 10s);
    wake_until(at(1h + 14s));
    receive(">1\r\n+hint\r\n:");
    BOOST_TEST(told() == "push:hint ");
    wake_until(at(1h + 15s - 1ns));
    BOOST_TEST(told() == "");
    wake_until(at(1h + 15s));
    BOOST_TEST(told() == "2? down ");
    BOOST_TEST((session.health().last_failure().code == errc::no_reply));
    BOOST_TEST(!connection.wants_open());
}

// Something between us and the node has swallowed the first request, so each reply is taken for
// that to the request before. That is found, however long the replies go on, by a request with only
// one right answer.
BOOST_AUTO_TEST_CASE(a_request_that_was_swallowed)
{
    connect();
    send(1); // and lost
    int seconds = 0;
    for (bool asked = false; connection.wants_open() && seconds < 100; ++seconds) {
        connection.written(connection.output().size(), now);
        send(static_cast<std::uint64_t>(seconds) + 2);
        connection.written(connection.output().size(), now);
        receive(asked ? "$40\r\n" + std::string(release_script.digest) + "\r\n" : "+OK\r\n");
        wake_until(now + 1s);
        asked = connection.output().find("SCRIPT") != std::string_view::npos;
    }
    BOOST_TEST(seconds == 11);
    BOOST_TEST(session.health().last_failure().text == "it answers requests out of order");
    BOOST_TEST((session.health().last_failure().code == errc::protocol_error));
    BOOST_TEST(told().ends_with("12? down "));
}

// A node that always has something left to do, and answers all of it in order, is not given up
// however long that takes: it only gets that check from time to time.
BOOST_AUTO_TEST_CASE(a_slow_node_that_keeps_answering)
{
    connect();
    const std::string digest = "$40\r\n" + std::string(release_script.digest) + "\r\n";
    std::string unanswered(8, 'x'); // requests; a `c` is the check
    for (std::uint64_t r = 1; r <= unanswered.size(); ++r)
        send(r);
    connection.written(connection.output().size(), now);
    int asked = 0;
    for (std::uint64_t r = 9; r < 100; ++r) {
        wake_until(now + 9s);
        if (!connection.output().empty()) {
            BOOST_TEST(connection.output().find("SCRIPT") != std::string_view::npos);
            connection.written(connection.output().size(), now);
            unanswered += 'c';
            ++asked;
        }
        receive(unanswered.front() == 'c' ? digest : ":1\r\n");
        unanswered.erase(0, 1);
        send(r);
        connection.written(connection.output().size(), now);
        unanswered += 'x';
    }
    BOOST_TEST(connection.wants_open());
    BOOST_TEST(asked > 5);
    BOOST_TEST(told().find('?') == std::string::npos);
}

// Pushes cost us time: a flood of them ends the connection, and the next connection comes after a
// pause.
BOOST_AUTO_TEST_CASE(a_flood_of_pushes)
{
    connect();
    std::int64_t taken = 0;
    for (; connection.wants_open() && taken < 20'000; ++taken)
        receive(">1\r\n+x\r\n");
    BOOST_TEST(taken == push_allowance::at_first + 1);
    BOOST_TEST((session.health().last_failure().code == errc::protocol_error));
    BOOST_TEST(session.health().last_failure().text == "it sends too many pushes");
    connection.closed(error_code(), now);
    BOOST_TEST(session.wake_at() >= now + 1s);

    // A thousand a second are allowed for ever.
    session_fixture slow, fast;
    slow.connect();
    fast.connect();
    for (int i = 0; i < 100'000; ++i) {
        slow.now += 1ms;
        slow.receive(">1\r\n+x\r\n");
        fast.now += 500us;
        if (fast.connection.wants_open())
            fast.receive(">1\r\n+x\r\n");
    }
    BOOST_TEST(slow.connection.wants_open());
    BOOST_TEST(!fast.connection.wants_open());
}

// With too many requests, too many bytes, or a long silence, optional requests should be left out.
BOOST_AUTO_TEST_CASE(congestion)
{
    connect();
    for (std::uint64_t r = 1; r <= 15; ++r)
        send(r);
    BOOST_TEST(!session.congested(now));
    send(16);
    BOOST_TEST(session.congested(now));
    receive(":1\r\n");
    BOOST_TEST(!session.congested(now + 1s));
    BOOST_TEST(session.congested(now + 1s + 1ns));
    session.send(std::string(1000, 'x'), {.reference = 17, .sent = now});
    BOOST_TEST(session.congested(now));
}

// The time of a request counts from when its last byte is sent, not from when it was queued. The
// owner is told if that makes a difference.
BOOST_AUTO_TEST_CASE(a_request_is_asked_when_its_last_byte_leaves)
{
    connect();
    session.send("first", {.reference = 1, .sent = now});
    session.send("second", {.reference = 2, .sent = now});
    now += 1ms;
    connection.written(7, now); // and two bytes of the second
    BOOST_TEST(heard == "");
    now += 300ms;
    connection.written(4, now);
    BOOST_TEST(heard == "2 late ");
    now += 700ms;
    BOOST_TEST(session.answers_within(1s, now));
    receive(":1\r\n");
    now += 1s;
    BOOST_TEST(session.answers_within(1s, now));
    BOOST_TEST(!session.answers_within(1s, now + 1ns));
}

// A reply to a request that has not been sent is a reply to something else.
BOOST_AUTO_TEST_CASE(a_reply_to_an_unsent_request)
{
    connect();
    session.send("x", {.reference = 1, .sent = now});
    receive_early(":1\r\n");
    BOOST_TEST(session.health().last_failure().text == "a reply without a request");
}

// A node that was restarted has forgotten our scripts. The request is sent again with the script in
// full if it is still needed, and only once.
BOOST_AUTO_TEST_CASE(a_script_that_the_node_has_forgotten_is_sent_again_in_full)
{
    constexpr auto forgotten = "-NOSCRIPT No matching script.\r\n";
    connect();
    says_again = true;
    send(1);
    receive(forgotten);
    BOOST_TEST(told() == "1 again ");
    session.send("x", {.reference = 1, .by_text = true, .sent = now});
    receive(forgotten);
    BOOST_TEST(told() == "1=NOSCRIPT No matching script. ");
    says_again = false;
    send(2);
    receive(forgotten);
    BOOST_TEST(told() == "2=NOSCRIPT No matching script. ");
}

// The last trouble with a node can still be read after the locker was closed, because that is when
// people look.
BOOST_AUTO_TEST_CASE(trouble_before_it_was_shut)
{
    connect();
    send(1);
    receive("-OOM full\r\n");
    session.shut(now);
    BOOST_TEST((session.stats().last_error == errc::node_error));
    BOOST_TEST(session.stats().reason == "OOM full (before the locker was closed)");
    session.shut(now);
    BOOST_TEST(session.stats().reason == "OOM full (before the locker was closed)");

    session_fixture refused, well;
    refused.wake_until(now);
    refused.connection.closed(holdfast::asio::error::connection_refused, now);
    refused.session.shut(now);
    BOOST_TEST(refused.session.stats().reason.starts_with("Connection refused"));
    well.connect();
    well.session.shut(now);
    BOOST_TEST((well.session.stats().last_error == errc::closed));
    BOOST_TEST(well.session.stats().reason == "the locker was closed");
}

BOOST_AUTO_TEST_SUITE_END()
