// One connection to a node at a time, with scripted bytes: it opens, breaks, and is opened again.
#include "redis/node/node_connection.hpp"

#include "support/session_fixture.hpp"

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

namespace {

// A connection with the test as its network and owner.
struct connection_fixture : connection_owner {
    std::string heard; // calls of the owner, in order
    std::string objection;
    failure lost; // why the last connection was lost
    core::wake_time wakes;
    node_connection connection;
    core::time_point now = start;

    explicit connection_fixture(node_settings settings = session_settings())
        : connection(std::move(settings), *this, wakes, 1)
    {}

    std::string admit() override
    {
        BOOST_TEST(connection.greeted().server().run_id == "abc");
        return objection;
    }
    void on_ready(core::time_point) override { heard += "ready "; }
    void on_reply(reply answer, core::time_point) override
    {
        heard += std::string(answer.front().text) + " ";
    }
    void on_push(reply push, core::time_point) override
    {
        heard += "push:" + std::string(push[1].text) + " ";
    }
    void on_written(std::size_t n, core::time_point) override
    {
        if (n != 0)
            heard += std::to_string(n) + " written ";
    }
    void on_lost(failure why, core::time_point) override
    {
        BOOST_TEST((reach() == reachability::down));
        BOOST_TEST(connection.output() == "");
        lost = why;
        heard += "lost ";
    }

    reachability reach() const { return connection.schedule().reach(); }

    void write() { connection.written(connection.output().size(), now); }
    void receive(const std::string& bytes)
    {
        write();
        const std::span<char> space = connection.read_space();
        BOOST_REQUIRE(space.size() >= bytes.size());
        std::memcpy(space.data(), bytes.data(), bytes.size());
        connection.received(bytes.size(), now);
    }
    void wake_until(core::time_point end)
    {
        while (connection.opening_ends() <= end) {
            now = std::max(now, connection.opening_ends());
            connection.wake(now);
        }
        now = end;
    }
    void open()
    {
        wake_until(now);
        BOOST_REQUIRE(connection.wants_open());
        connection.opened(now);
    }
    void greet()
    {
        receive(hello_answer);
        receive(greeting_answers());
    }
    void connect()
    {
        open();
        greet();
        BOOST_REQUIRE((reach() == reachability::ready));
        write();
        heard.clear();
    }

    std::string told() { return std::exchange(heard, {}); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(redlock_node_connection, connection_fixture)

// It wants to be open, greets, and is ready only when the whole greeting is answered.
BOOST_AUTO_TEST_CASE(connects)
{
    BOOST_TEST((reach() == reachability::soon));
    open();
    BOOST_TEST(connection.output().starts_with("*5\r\n$5\r\nHELLO\r\n"));
    BOOST_TEST((reach() == reachability::soon));
    greet();
    BOOST_TEST(told() == "ready ");
    BOOST_TEST((reach() == reachability::ready));
    BOOST_TEST(connection.greeted().server().run_id == "abc");
    BOOST_TEST(connection.greeted().server().identity != 0u);
    BOOST_TEST(connection.opening_ends() == core::never);
}

// Only what the owner sends is its business: the greeting, and its answers, are not.
BOOST_AUTO_TEST_CASE(what_the_owner_sees)
{
    open();
    receive(hello_answer);
    const std::size_t greeting = connection.output().size();
    BOOST_REQUIRE(greeting > 10);
    connection.written(greeting - 10, now);
    const std::string answers = greeting_answers();
    const std::span<char> space = connection.read_space();
    std::memcpy(space.data(), answers.data(), answers.size());
    connection.received(answers.size(), now); // before all of its questions were sent
    BOOST_TEST(told() == "ready ");
    connection.send("first");
    connection.written(4, now);
    BOOST_TEST(told() == "");
    connection.written(8, now); // six of the greeting, and two
    BOOST_TEST(told() == "2 written ");
    connection.written(3, now);
    BOOST_TEST(told() == "3 written ");
    receive("+a\r\n>2\r\n+b\r\n+c\r\n+d\r\n");
    BOOST_TEST(told() == "a push:b d ");
}

// A node keeps a queue for us only while it is ready, and until it has refused to.
BOOST_AUTO_TEST_CASE(a_node_that_keeps_a_queue)
{
    node_settings settings = session_settings();
    settings.channel = "holdfast:0123";
    connection_fixture f(settings);
    const server_info& server = f.connection.greeted().server();
    const auto connect_keeper = [&f] {
        f.open();
        f.greet();
        f.receive("$40\r\n" + std::string(enqueue_script.digest) + "\r\n+OK\r\n");
        BOOST_TEST(!f.connection.greeted().server().keeps_queue);
        f.receive(">3\r\n+subscribe\r\n+holdfast:0123\r\n:1\r\n");
    };
    connect_keeper();
    BOOST_TEST(f.told() == "ready ");
    BOOST_TEST(server.keeps_queue);
    BOOST_TEST(server.tracks);
    f.connection.greeted().has_no_queue();
    BOOST_TEST(!server.keeps_queue);
    f.now += 1s;
    f.connection.closed(error_code(), f.now);
    BOOST_TEST(!server.tracks);
    connect_keeper();
    BOOST_TEST(server.keeps_queue);
}

// The connect timeout covers connection and greeting together.
BOOST_AUTO_TEST_CASE(connect_timeout)
{
    open();
    wake_until(at(2s - 1ns));
    BOOST_TEST(connection.wants_open());
    wake_until(at(2s));
    BOOST_TEST(!connection.wants_open());
    BOOST_TEST(told() == "lost ");
    BOOST_TEST((reach() == reachability::down));
    BOOST_TEST((lost.code == errc::no_reply));
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
            BOOST_TEST((reach() == reachability::down));
            now = connection.opening_ends();
            connection.wake(now);
        }
        BOOST_REQUIRE(connection.wants_open());
        BOOST_REQUIRE(now - refused <= limit);
        longest = std::max(longest, now - refused);
        limit = std::min<core::duration>(limit * 2, 2s);
    }
    BOOST_TEST(longest > core::duration(1s));
    BOOST_TEST((lost.code == holdfast::asio::error::connection_refused));
    connect();
    now += 1s;
    connection.closed(holdfast::asio::error::eof, now);
    BOOST_TEST(connection.wants_open());
    BOOST_TEST((reach() == reachability::soon));
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
            wake_until(connection.opening_ends());
    }
    BOOST_TEST(at_once <= 1);
}

// A node that the owner does not admit is refused with the owner's reason.
BOOST_AUTO_TEST_CASE(not_admitted)
{
    objection = "the same server as b:2";
    open();
    greet();
    BOOST_TEST(told() == "lost ");
    BOOST_TEST(lost.text == objection);
    BOOST_TEST((lost.code == errc::misconfigured_node));
    BOOST_TEST(!connection.wants_open());
}

// A wrong password is reported as such, without being repeated.
BOOST_AUTO_TEST_CASE(wrong_password)
{
    open();
    receive("-WRONGPASS invalid username-password pair or user is disabled.\r\n");
    BOOST_TEST((lost.code == errc::authentication_failed));
    BOOST_TEST(lost.text.find("s3cret") == std::string::npos);
    BOOST_TEST(told() == "lost ");
}

// It does not reconnect after shut().
BOOST_AUTO_TEST_CASE(shut)
{
    connect();
    connection.send("x");
    BOOST_TEST(connection.shut(now));
    BOOST_TEST(told() == "lost ");
    BOOST_TEST(!connection.wants_open());
    connection.closed(error_code(), now);
    wake_until(at(1h));
    BOOST_TEST(!connection.wants_open());
    BOOST_TEST(connection.opening_ends() == core::never);
    BOOST_TEST((reach() == reachability::down));
    BOOST_TEST(!connection.shut(now));
}

// A port with another protocol is reported by its name, as soon as the first bytes show it.
BOOST_AUTO_TEST_CASE(ports_of_another_kind)
{
    const std::pair<std::string, std::string> others[]{
        {"HTTP/1.1 400 Bad Request\r\n", "the port speaks HTTP, not the protocol of Redis"},
        {"\x15\x03\x03", "the port speaks TLS, which was not asked for"},
        {"\x16\x03", "the port speaks TLS, which was not asked for"}};
    for (const auto& [bytes, text] : others) {
        connection_fixture at_once, one_by_one;
        at_once.open();
        at_once.receive(bytes);
        BOOST_TEST(at_once.lost.text == text);
        BOOST_TEST((at_once.lost.code == errc::protocol_error));
        BOOST_TEST(!at_once.connection.wants_open());
        one_by_one.open();
        for (std::size_t i = 0; one_by_one.connection.wants_open() && i < bytes.size(); ++i)
            one_by_one.receive(bytes.substr(i, 1));
        BOOST_TEST((one_by_one.lost.code == errc::protocol_error));
    }
    open();
    receive("-HTTP/ is not spoken here\r\n");
    BOOST_TEST(lost.text.find("the port speaks") == std::string::npos);
}

// A connection that is shut before its first wake() is not opened either.
BOOST_AUTO_TEST_CASE(shut_before_the_start)
{
    connection.shut(now);
    BOOST_TEST(!connection.wants_open());
    wake_until(at(1h));
    BOOST_TEST(!connection.wants_open());
    BOOST_TEST(connection.opening_ends() == core::never);
}

BOOST_AUTO_TEST_SUITE_END()
