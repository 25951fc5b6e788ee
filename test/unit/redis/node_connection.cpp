// One node, with scripted bytes: its connection opens, breaks, and is opened again.
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

BOOST_FIXTURE_TEST_SUITE(redlock_node_connection, session_fixture)

// A session wants a connection, greets, and is ready only when the whole greeting is answered.
BOOST_AUTO_TEST_CASE(connects)
{
    BOOST_TEST((session.now() == reach::soon));
    open();
    BOOST_TEST(connection.output().starts_with("*5\r\n$5\r\nHELLO\r\n"));
    BOOST_TEST((session.now() == reach::soon));
    greet();
    BOOST_TEST(told() == "ready ");
    BOOST_TEST(session.stats().connected);
    BOOST_TEST(session.stats().connects == 1u);
    BOOST_TEST(!session.stats().last_error);
    BOOST_TEST(session.server().run_id == "abc");
    BOOST_TEST(session.wake_at() == core::never);
}

// The connect timeout covers connection and greeting together.
BOOST_AUTO_TEST_CASE(connect_timeout)
{
    open();
    wake_until(at(2s - 1ns));
    BOOST_TEST(connection.wants_open());
    wake_until(at(2s));
    BOOST_TEST(!connection.wants_open());
    BOOST_TEST(told() == "down ");
    BOOST_TEST((session.now() == reach::down));
    BOOST_TEST((session.health().last_failure().code == errc::no_reply));
}

// The pauses between failed attempts grow up to the limit. After a connection that had lasted, the
// first attempt is made at once, and is worth a wait.
BOOST_AUTO_TEST_CASE(reconnects)
{
    wake_until(now);
    core::duration limit = 50ms, longest{};
    for (int failure = 0; failure < 40; ++failure) {
        connection.closed(holdfast::asio::error::connection_refused, now);
        const core::time_point refused = now;
        if (!connection.wants_open()) {
            BOOST_TEST((session.now() == reach::down));
            now = session.wake_at();
            session.wake(now);
        }
        BOOST_REQUIRE(connection.wants_open());
        BOOST_REQUIRE(now - refused <= limit);
        longest = std::max(longest, now - refused);
        limit = std::min<core::duration>(limit * 2, 2s);
    }
    BOOST_TEST(longest > core::duration(1s));
    BOOST_TEST((session.health().last_failure().code == holdfast::asio::error::connection_refused));
    connect();
    now += 1s;
    connection.closed(holdfast::asio::error::eof, now);
    BOOST_TEST(connection.wants_open());
    BOOST_TEST((session.now() == reach::soon));
}

// A connection that repeatedly breaks at once is not retried in a tight loop.
BOOST_AUTO_TEST_CASE(connections_that_do_not_last)
{
    int at_once = 0;
    for (int i = 0; i < 20; ++i) {
        connect();
        connection.closed(holdfast::asio::error::eof, now);
        at_once += connection.wants_open() ? 1 : 0;
        if (!connection.wants_open())
            wake_until(session.wake_at());
    }
    BOOST_TEST(at_once <= 1);
}

// A node that the owner of the session does not admit is refused with the owner's reason.
BOOST_AUTO_TEST_CASE(not_admitted)
{
    objection = "the same server as b:2";
    open();
    greet();
    BOOST_TEST(told() == "down ");
    BOOST_TEST(session.stats().reason == objection);
    BOOST_TEST((session.stats().last_error == errc::misconfigured_node));
    BOOST_TEST(!connection.wants_open());
}

// A wrong password is reported as such, without being repeated.
BOOST_AUTO_TEST_CASE(wrong_password)
{
    open();
    receive("-WRONGPASS invalid username-password pair or user is disabled.\r\n");
    BOOST_TEST((session.stats().last_error == errc::authentication_failed));
    BOOST_TEST(session.stats().reason.find("s3cret") == std::string::npos);
    BOOST_TEST(told() == "down ");
}

// A session does not reconnect after shut().
BOOST_AUTO_TEST_CASE(shut)
{
    connect();
    send(1);
    session.shut(now);
    BOOST_TEST(told() == "1? down ");
    BOOST_TEST(!connection.wants_open());
    connection.closed(error_code(), now);
    wake_until(at(1h));
    BOOST_TEST(!connection.wants_open());
    BOOST_TEST(session.wake_at() == core::never);
    BOOST_TEST((session.now() == reach::down));
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

// A port with another protocol is reported by its name, as soon as the first bytes show it.
BOOST_AUTO_TEST_CASE(ports_of_another_kind)
{
    const std::pair<std::string, std::string> others[]{
        {"HTTP/1.1 400 Bad Request\r\n", "the port speaks HTTP, not the protocol of Redis"},
        {"\x15\x03\x03", "the port speaks TLS, which was not asked for"},
        {"\x16\x03", "the port speaks TLS, which was not asked for"}};
    for (const auto& [bytes, text] : others) {
        session_fixture at_once, one_by_one;
        at_once.open();
        at_once.receive(bytes);
        BOOST_TEST(at_once.session.stats().reason == text);
        BOOST_TEST((at_once.session.health().last_failure().code == errc::protocol_error));
        BOOST_TEST(!at_once.connection.wants_open());
        one_by_one.open();
        for (std::size_t i = 0; one_by_one.connection.wants_open() && i < bytes.size(); ++i)
            one_by_one.receive(bytes.substr(i, 1));
        BOOST_TEST((one_by_one.session.health().last_failure().code == errc::protocol_error));
    }
    open();
    receive("-HTTP/ is not spoken here\r\n");
    BOOST_TEST(session.stats().reason.find("the port speaks") == std::string::npos);
}

// A session that is shut before its first wake() does not connect either.
BOOST_AUTO_TEST_CASE(shut_before_the_start)
{
    session.shut(now);
    BOOST_TEST(!connection.wants_open());
    wake_until(at(1h));
    BOOST_TEST(!connection.wants_open());
    BOOST_TEST(session.wake_at() == core::never);
}

BOOST_AUTO_TEST_SUITE_END()
