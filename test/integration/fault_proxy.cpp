// Tests of the proxy that other tests rely on: each fault does what its name says.
#include "support/fault_proxy.hpp"
#include "support/redis_client.hpp"
#include "support/redis_server.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <exception>
#include <string>
#include <system_error>
#include <vector>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

BOOST_AUTO_TEST_SUITE(proxy)

// A server, a proxy in front of it, and one client.
struct proxied_server {
    std::string ask(const std::vector<std::string>& words, std::chrono::milliseconds timeout = 5s)
    {
        return client.command(proxy.port(), words, timeout);
    }

    // Whether the command fails with this text: an error of the system, or one of the test's
    // client.
    bool fails_with(const std::string& expected, std::chrono::milliseconds timeout = 5s,
        const std::vector<std::string>& words = {"PING"})
    {
        std::string text;
        try {
            ask(words, timeout);
        } catch (const std::exception& e) {
            text = e.what();
        }
        const bool found = !text.empty() && text.find(expected) != std::string::npos;
        BOOST_TEST(found, "\"" << text << "\" is not \"" << expected << "\"");
        return found;
    }

    redis_server server;
    fault_proxy proxy{server.port()};
    redis_client client;
};

BOOST_FIXTURE_TEST_CASE(forwards_everything, proxied_server)
{
    const std::string large(1'000'000, 'x');
    BOOST_TEST(ask({"SET", "key", large}) == "OK");
    BOOST_TEST((ask({"GET", "key"}) == large));
    BOOST_TEST(proxy.url() == "redis://127.0.0.1:" + std::to_string(proxy.port()));
    BOOST_TEST(proxy.connections() == 1u);
}

BOOST_FIXTURE_TEST_CASE(delays_each_direction, proxied_server)
{
    ask({"PING"});
    proxy.set({.to_server = {.delay = 30ms}, .to_client = {.delay = 40ms}});
    const auto begin = steady::now();
    BOOST_TEST(ask({"PING"}) == "PONG");
    BOOST_TEST((steady::now() - begin >= 70ms));
}

BOOST_FIXTURE_TEST_CASE(holds_bytes_and_delivers_them_later, proxied_server)
{
    ask({"PING"});
    proxy.set({.to_server = {.held = true}});
    fails_with("no reply", 50ms);
    BOOST_TEST(server.command({"DBSIZE"}) == "0");

    client.disconnect();
    proxy.set({});
    BOOST_TEST(ask({"SET", "key", "1"}) == "OK");
    proxy.set({.to_server = {.held = true}});
    fails_with("no reply", 50ms, {"SET", "key", "2"});
    BOOST_TEST(server.command({"GET", "key"}) == "1");
    proxy.set({});
    const auto deadline = steady::now() + 5s;
    while (server.command({"GET", "key"}) != "2")
        BOOST_REQUIRE(steady::now() < deadline);
}

BOOST_FIXTURE_TEST_CASE(drops_replies_and_keeps_the_connection, proxied_server)
{
    ask({"PING"});
    proxy.set({.to_client = {.lost = true}});
    fails_with("no reply", 50ms, {"SET", "key", "1"});
    const auto deadline = steady::now() + 10s;
    while (server.command({"GET", "key"}) != "1")
        BOOST_REQUIRE(steady::now() < deadline);
    fails_with("no reply", 50ms); // new connections as well
    proxy.set({});
    BOOST_TEST(ask({"GET", "key"}) == "1");
}

// A plain connection: redis_client closes a connection that fails.
class raw_connection {
public:
    explicit raw_connection(std::uint16_t port) : socket_(open_socket())
    {
        const auto address = loopback(port);
        const timeval limit{1, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        BOOST_REQUIRE(
            ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    }
    raw_connection(const raw_connection&) = delete;
    raw_connection& operator=(const raw_connection&) = delete;
    ~raw_connection() { ::close(socket_); }

    // Returns what arrives within a second.
    std::string say(const std::string& line)
    {
        BOOST_REQUIRE(::send(socket_, line.data(), line.size(), MSG_NOSIGNAL) != -1);
        char chunk[100];
        const auto count = ::recv(socket_, chunk, sizeof chunk, 0);
        return count > 0 ? std::string(chunk, static_cast<std::size_t>(count)) : std::string();
    }

private:
    int socket_;
};

BOOST_FIXTURE_TEST_CASE(drops_everything_on_a_connection_with_a_gap, proxied_server)
{
    raw_connection c(proxy.port());
    BOOST_TEST(c.say("PING\r\n") == "+PONG\r\n");
    proxy.set({.to_client = {.lost = true}});
    BOOST_TEST(c.say("PING\r\n") == "");
    proxy.set({});
    BOOST_TEST(c.say("PING\r\n") == "");
    BOOST_TEST(ask({"PING"}) == "PONG");
}

BOOST_FIXTURE_TEST_CASE(refuses_and_then_serves_on_the_same_port, proxied_server)
{
    for (int i = 0; i < 3; ++i) {
        BOOST_TEST(ask({"PING"}) == "PONG");
        proxy.set({.new_connections = newcomers::refused});
        BOOST_TEST(ask({"PING"}) == "PONG"); // open connections stay open
        client.disconnect();
        fails_with("refused");
        fails_with("refused");
        proxy.set({});
    }
    BOOST_TEST(ask({"PING"}) == "PONG");
}

BOOST_FIXTURE_TEST_CASE(accepts_and_never_answers, proxied_server)
{
    proxy.set({.new_connections = newcomers::ignored});
    fails_with("no reply", 50ms);
    proxy.set({});
    BOOST_TEST(ask({"PING"}) == "PONG");
}

BOOST_FIXTURE_TEST_CASE(resets_connections, proxied_server)
{
    ask({"PING"});
    proxy.reset();
    fails_with("reset");
    BOOST_TEST(ask({"PING"}) == "PONG");
}

BOOST_FIXTURE_TEST_CASE(closes_connections_orderly, proxied_server)
{
    ask({"PING"});
    proxy.close();
    fails_with("closed the connection");
    BOOST_TEST(ask({"PING"}) == "PONG");
}

BOOST_FIXTURE_TEST_CASE(resets_in_the_middle_of_a_reply, proxied_server)
{
    ask({"PING"});
    proxy.set({.to_client = {.reset_after = 6}}); // in the middle of "+PONG\r\n"
    fails_with("reset");
    fails_with("reset"); // new connections as well
    proxy.set({.to_client = {.reset_after = 7}});
    BOOST_TEST(ask({"PING"}) == "PONG");
    fails_with("reset");
}

BOOST_FIXTURE_TEST_CASE(sends_one_byte_at_a_time, proxied_server)
{
    ask({"SET", "key", "0123456789"});
    proxy.set({.to_client = {.bytes_per_second = 100}});
    const auto begin = steady::now();
    BOOST_TEST(ask({"GET", "key"}) == "0123456789"); // with 7 more bytes of protocol
    BOOST_TEST((steady::now() - begin >= 160ms));
}

BOOST_FIXTURE_TEST_CASE(replaces_replies, proxied_server)
{
    ask({"PING"});
    proxy.set({.to_client = {.instead = "$5\r\nwrong\r\n"}});
    BOOST_TEST(ask({"PING"}) == "wrong");
    BOOST_TEST(ask({"PING"}) == "wrong");
    proxy.set({});
    fails_with("no reply", 50ms); // after a wrong reply the connection is not used any more
    BOOST_TEST(ask({"PING"}) == "PONG");
}

BOOST_FIXTURE_TEST_CASE(resets_connections_while_there_is_no_server, proxied_server)
{
    server.kill();
    fails_with("");
    server.restart();
    BOOST_TEST(ask({"PING"}) == "PONG");
}

BOOST_AUTO_TEST_CASE(can_be_destroyed_with_bytes_in_transit)
{
    redis_server server;
    redis_client client;
    {
        fault_proxy proxy(server.port());
        client.command(proxy.port(), {"PING"}, 5s);
        proxy.set({.to_server = {.held = true}});
        BOOST_CHECK_THROW(client.command(proxy.port(), {"PING"}, 20ms), std::system_error);
        BOOST_TEST(proxy.connections() == 1u);
    }
    BOOST_TEST(server.command({"PING"}) == "PONG");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
