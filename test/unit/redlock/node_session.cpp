// One node, by scripted bytes: requests and replies, timeouts, broken connections.
#include "redlock/node_session.hpp"

#include "redlock/scripts.hpp"
#include "support/printing.hpp"
#include "support/times.hpp"

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <cstring>
#include <string>
#include <utility>

using namespace holdfast::redis;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::error_code;
namespace core = holdfast::core;
namespace resp = holdfast::resp;
using reach = node_session::reachability;

namespace {

node_settings settings()
{
    return {.where = {.host = "a", .port = 1, .path = {}},
        .name = "a:1",
        .user = {},
        .password = "s3cret",
        .client_name = {},
        .connect_timeout = 2s,
        .silence_timeout = 10s,
        .reconnect_min = 50ms,
        .reconnect_max = 2s,
        .max_requests = 16,
        .max_bytes = 1000};
}

struct session_fixture : session_owner {
    std::string heard; // what the owner was told, in order
    std::string objection;
    node_session session{0, settings(), *this, 1};
    core::time_point now = start;

    std::string admit(std::size_t) override { return objection; }
    void on_ready(std::size_t, core::time_point) override { heard += "ready "; }
    void on_reply(std::size_t, const request& r, reply answer, core::time_point) override
    {
        heard += std::to_string(r.reference) + "=" +
            (answer.front().what == resp::kind::integer ? std::to_string(answer.front().integer)
                                                        : std::string(answer.front().text)) +
            " ";
    }
    void on_orphaned(std::size_t, const request& r, core::time_point) override
    {
        BOOST_TEST((session.now() == reach::down)); // nobody sends from here
        heard += std::to_string(r.reference) + "? ";
    }
    void on_down(std::size_t, core::time_point) override { heard += "down "; }

    void receive(const std::string& bytes)
    {
        const std::span<char> space = session.read_space();
        BOOST_REQUIRE(space.size() >= bytes.size());
        std::memcpy(space.data(), bytes.data(), bytes.size());
        session.received(bytes.size(), now);
    }

    void wake_until(core::time_point end)
    {
        while (session.wake_at() <= end) {
            now = std::max(now, session.wake_at());
            session.wake(now);
        }
        now = end;
    }

    void open()
    {
        wake_until(now);
        BOOST_REQUIRE(session.wants_open());
        session.opened(now);
    }

    void greet()
    {
        const auto blob = [](std::string_view text) {
            return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
        };
        receive("%1\r\n+role\r\n+master\r\n");
        receive("+OK\r\n+OK\r\n" + blob("run_id:abc\r\n") + blob(release_script.digest) +
            blob(renew_script.digest));
        session.written(session.output().size());
    }

    void connect()
    {
        open();
        greet();
        BOOST_REQUIRE((session.now() == reach::ready));
        heard.clear();
    }

    void send(std::uint64_t reference)
    {
        session.send("x", {.reference = reference, .kind = 0, .sent = now});
    }

    std::string told() { return std::exchange(heard, {}); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(redlock_node_session, session_fixture)

// A session wants a connection, greets, and is ready only when all of the greeting is answered.
BOOST_AUTO_TEST_CASE(connects)
{
    BOOST_TEST((session.now() == reach::soon));
    open();
    BOOST_TEST(session.output().starts_with("*5\r\n$5\r\nHELLO\r\n"));
    BOOST_TEST((session.now() == reach::soon));
    greet();
    BOOST_TEST(told() == "ready ");
    BOOST_TEST(session.stats().connected);
    BOOST_TEST(session.stats().connects == 1u);
    BOOST_TEST(!session.stats().last_error);
    BOOST_TEST(session.run_id() == "abc");
    BOOST_TEST(session.wake_at() == core::never);
}

// Replies belong to requests in the order in which these were sent.
BOOST_AUTO_TEST_CASE(replies_in_order)
{
    connect();
    for (const std::uint64_t r : {1u, 2u, 3u})
        send(r);
    BOOST_TEST(session.output() == "xxx");
    session.written(2);
    BOOST_TEST(session.output() == "x");
    receive(":10\r\n:2");
    BOOST_TEST(told() == "1=10 ");
    receive("0\r\n>1\r\n+a hint\r\n:30\r\n"); // a push is nobody's reply
    BOOST_TEST(told() == "2=20 3=30 ");
    BOOST_TEST(session.outstanding() == 0u);
}

// A timeout is only counted: the request keeps its place, and its late reply is its own.
BOOST_AUTO_TEST_CASE(late_replies)
{
    connect();
    send(1);
    now += 1s;
    session.count_timeout(now);
    BOOST_TEST((session.last_failure().code == errc::no_reply));
    send(2);
    receive(":1\r\n:2\r\n");
    BOOST_TEST(told() == "1=1 2=2 ");
    BOOST_TEST(session.stats().timeouts == 1u);
    BOOST_TEST(!session.last_failure().code); // it works again
}

// When the connection breaks, each request is an orphan once, in order, and nothing is sent again.
BOOST_AUTO_TEST_CASE(orphans)
{
    connect();
    now += 1s;
    for (const std::uint64_t r : {1u, 2u, 3u})
        send(r);
    receive(":1\r\n");
    session.closed(holdfast::asio::error::connection_reset, now);
    BOOST_TEST(told() == "1=1 2? 3? down ");
    session.opened(now);
    BOOST_TEST(session.output().find('x') == std::string_view::npos);
    greet();
    BOOST_TEST(told() == "ready ");
}

// What is not the protocol closes the connection, and so does a reply that nobody asked for.
BOOST_AUTO_TEST_CASE(protocol_errors)
{
    for (const std::string& bytes : {std::string("?what\r\n"), std::string(":1\r\n:2\r\n")}) {
        session_fixture f;
        f.connect();
        f.send(1);
        f.receive(bytes);
        BOOST_TEST(!f.session.wants_open());
        BOOST_TEST((f.session.last_failure().code == errc::protocol_error));
        BOOST_TEST(f.heard.ends_with("down "));
        f.heard.clear();
        f.session.closed(error_code(), f.now);
        BOOST_TEST(f.heard == ""); // told once
    }
}

// A node that says that it is no primary (any more) is let go, after its answer was delivered.
BOOST_AUTO_TEST_CASE(a_disqualified_node)
{
    connect();
    send(1);
    send(2);
    receive("-READONLY You can't write against a read only replica.\r\n:1\r\n");
    BOOST_TEST(told() == "1=READONLY You can't write against a read only replica. 2? down ");
    BOOST_TEST(!session.wants_open());
    session.closed(error_code(), now);
    BOOST_TEST(session.wake_at() >= now + 1s); // somebody has to mend it first
    BOOST_TEST((session.now() == reach::down));
}

// An ordinary error is remembered until something works again, and closes nothing.
BOOST_AUTO_TEST_CASE(an_ordinary_error)
{
    connect();
    send(1);
    receive("-OOM full\r\n");
    BOOST_TEST(session.stats().reason == "OOM full");
    BOOST_TEST(session.stats().connected);
    send(2);
    receive("-NOSCRIPT no\r\n"); // mended by sending the text: no failure
    BOOST_TEST(session.stats().reason == "OOM full");
    send(3);
    receive("+OK\r\n");
    BOOST_TEST(session.stats().reason == "");
}

// Silence while a request is unanswered closes the connection in the end; any byte prolongs it, and
// an idle connection may be silent for ever.
BOOST_AUTO_TEST_CASE(silence)
{
    connect();
    wake_until(at(1h));
    send(1);
    BOOST_TEST(session.wake_at() == now + 10s);
    wake_until(at(1h + 5s));
    receive(">1\r\n+hint\r\n");
    BOOST_TEST(session.wake_at() == now + 10s);
    wake_until(at(1h + 15s - 1ns));
    BOOST_TEST(told() == "");
    wake_until(at(1h + 15s));
    BOOST_TEST(told() == "1? down ");
    BOOST_TEST((session.last_failure().code == errc::no_reply));
    BOOST_TEST(!session.wants_open());
}

// Connection and greeting together have the connect timeout.
BOOST_AUTO_TEST_CASE(connect_timeout)
{
    open();
    wake_until(at(2s - 1ns));
    BOOST_TEST(session.wants_open());
    wake_until(at(2s));
    BOOST_TEST(!session.wants_open());
    BOOST_TEST(told() == "down ");
    BOOST_TEST((session.now() == reach::down));
    BOOST_TEST((session.last_failure().code == errc::no_reply));
}

// The pauses between vain attempts grow up to the limit; after a connection that had lasted, the
// first attempt comes at once, and is worth waiting for.
BOOST_AUTO_TEST_CASE(reconnects)
{
    wake_until(now);
    core::duration limit = 50ms, longest{};
    for (int failure = 0; failure < 40; ++failure) {
        session.closed(holdfast::asio::error::connection_refused, now);
        const core::time_point refused = now;
        if (!session.wants_open()) {
            BOOST_TEST((session.now() == reach::down));
            now = session.wake_at();
            session.wake(now);
        }
        BOOST_REQUIRE(session.wants_open());
        BOOST_REQUIRE(now - refused <= limit);
        longest = std::max(longest, now - refused);
        limit = std::min<core::duration>(limit * 2, 2s);
    }
    BOOST_TEST(longest > core::duration(1s));
    BOOST_TEST((session.last_failure().code == holdfast::asio::error::connection_refused));
    connect();
    now += 1s;
    session.closed(holdfast::asio::error::eof, now);
    BOOST_TEST(session.wants_open());
    BOOST_TEST((session.now() == reach::soon));
}

// A connection that breaks at once, again and again, is not tried in a tight loop.
BOOST_AUTO_TEST_CASE(connections_that_do_not_last)
{
    int at_once = 0;
    for (int i = 0; i < 20; ++i) {
        connect();
        session.closed(holdfast::asio::error::eof, now);
        at_once += session.wants_open() ? 1 : 0;
        if (!session.wants_open())
            wake_until(session.wake_at());
    }
    BOOST_TEST(at_once <= 1);
}

// Too many requests, too many bytes, or a long silence: requests that may be left out should be.
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
    session.send(std::string(1000, 'x'), {.reference = 17, .kind = 0, .sent = now});
    BOOST_TEST(session.congested(now));
}

// A node that its owner does not want is refused with the owner's reason.
BOOST_AUTO_TEST_CASE(not_admitted)
{
    objection = "the same server as b:2";
    open();
    greet();
    BOOST_TEST(told() == "down ");
    BOOST_TEST(session.stats().reason == objection);
    BOOST_TEST((session.stats().last_error == errc::misconfigured_node));
    BOOST_TEST(!session.wants_open());
}

// A wrong password is named as such, without being repeated.
BOOST_AUTO_TEST_CASE(wrong_password)
{
    open();
    receive("-WRONGPASS invalid username-password pair or user is disabled.\r\n");
    BOOST_TEST((session.stats().last_error == errc::authentication_failed));
    BOOST_TEST(session.stats().reason.find("s3cret") == std::string::npos);
    BOOST_TEST(told() == "down ");
}

// After shut() there is no way back.
BOOST_AUTO_TEST_CASE(shut)
{
    connect();
    send(1);
    session.shut(now);
    BOOST_TEST(told() == "1? down ");
    BOOST_TEST(!session.wants_open());
    session.closed(error_code(), now);
    wake_until(at(1h));
    BOOST_TEST(!session.wants_open());
    BOOST_TEST(session.wake_at() == core::never);
    BOOST_TEST((session.now() == reach::down));
}

// One that was never woken before it was shut is over as well.
BOOST_AUTO_TEST_CASE(shut_before_the_start)
{
    session.shut(now);
    BOOST_TEST(!session.wants_open());
    wake_until(at(1h));
    BOOST_TEST(!session.wants_open());
    BOOST_TEST(session.wake_at() == core::never);
}

BOOST_AUTO_TEST_SUITE_END()
