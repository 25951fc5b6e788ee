// The connection of libmariadb, and servers that send what they should not.
#include "mysql/link.hpp"

#include <boost/test/unit_test.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <stdlib.h>
#include <string>
#include <utility>

using namespace std::chrono_literals;
using namespace holdfast;
using namespace holdfast::mysql_store;
using core::readiness;

namespace {

constexpr core::time_point now{100s};

std::string packet(int number, const std::string& body)
{
    std::string made;
    made += static_cast<char>(body.size() & 0xff);
    made += static_cast<char>(body.size() >> 8 & 0xff);
    made += static_cast<char>(body.size() >> 16 & 0xff);
    made += static_cast<char>(number);
    return made + body;
}

// The greeting of a server that knows no TLS.
std::string greeting()
{
    std::string body = "\x0a";
    body += std::string("5.5.5-10.11.0-MariaDB\0", 22);
    body += std::string("\1\0\0\0", 4) + std::string(8, 'a') + '\0';
    body += std::string("\xff\xf7", 2) + '\x08' + std::string("\2\0", 2);
    body += std::string("\x7f\0", 2) + '\x15' + std::string(10, '\0');
    body += std::string(12, 'b') + '\0' + std::string("mysql_native_password\0", 22);
    return packet(0, body);
}

const std::string fine = std::string("\0\0\0\2\0\0\0", 7);
std::string error(int number, unsigned code, const std::string& text)
{
    std::string body = "\xff";
    body += static_cast<char>(code & 0xff);
    body += static_cast<char>(code >> 8);
    return packet(number, body + "#HY000" + text);
}

// A server that the test plays, on a unix socket, and a link to it.
struct played_server : link_owner {
    played_server()
    {
        BOOST_REQUIRE(::mkdtemp(folder.data()) != nullptr);
        path = folder + "/s";
        sockaddr_un where{};
        where.sun_family = AF_UNIX;
        path.copy(where.sun_path, sizeof where.sun_path - 1);
        listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
        BOOST_REQUIRE(
            ::bind(listener, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0);
        BOOST_REQUIRE(::listen(listener, 5) == 0);
        settings.servers = {{{.host = {}, .port = 0, .path = path}, path}};
        settings.user = "app";
        settings.password = "secret";
        settings.client_name = "test";
    }
    ~played_server()
    {
        l.close();
        hang_up();
        ::close(listener);
        ::unlink(path.c_str());
        ::rmdir(folder.c_str());
    }

    void on_connected(core::time_point) override { ++connected; }
    void on_result(const sql::result& table) override
    {
        ++results;
        first = table.rows() > 0 ? std::string(table.text(0, 0)) : "";
    }
    void on_error(unsigned code, const std::string&) override { number = code; }
    void on_query_end(core::time_point) override { ++ended; }
    void on_lost(unsigned code, const std::string& text, core::time_point) override
    {
        ++lost;
        number = code;
        message = text;
    }
    bool has_query() const noexcept override { return query.has_value(); }
    std::optional<std::string> next_query(core::time_point) override
    {
        return std::exchange(query, std::nullopt);
    }

    void begin()
    {
        l.begin(0);
        l.open({}, now);
        peer = ::accept(listener, nullptr, nullptr);
        BOOST_REQUIRE(peer >= 0);
    }
    void hang_up()
    {
        if (peer >= 0)
            ::close(peer);
        peer = -1;
    }
    void send(const std::string& bytes)
    {
        BOOST_REQUIRE(::send(peer, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                      static_cast<ssize_t>(bytes.size()));
    }
    // What the client has sent; waits for it.
    std::string heard()
    {
        std::array<char, 4096> bytes{};
        const ssize_t n = ::recv(peer, bytes.data(), bytes.size(), 0);
        return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0))};
    }
    // The client does what it can do at once.
    void turn()
    {
        while (l.wants() != readiness::none) {
            pollfd one{.fd = l.handle(), .events = 0, .revents = 0};
            if (includes(l.wants(), readiness::readable))
                one.events |= POLLIN;
            if (includes(l.wants(), readiness::writable))
                one.events |= POLLOUT;
            if (::poll(&one, 1, 0) <= 0)
                return;
            l.ready((one.revents & POLLOUT) != 0 ? readiness::writable : readiness::readable, now);
            if (lost > 0)
                return;
        }
    }
    void connect()
    {
        begin();
        turn();
        send(greeting());
        turn();
        BOOST_TEST(heard().find("app") != std::string::npos);
        send(packet(2, fine));
        turn();
        BOOST_REQUIRE(connected == 1);
    }
    void ask(const std::string& text)
    {
        query = text;
        BOOST_TEST(l.has_output());
        l.flush(now);
        BOOST_TEST(!l.has_output());
        BOOST_TEST(heard().find(text) != std::string::npos);
    }

    std::string folder = "/tmp/holdfast-link-XXXXXX", path;
    link_settings settings;
    mysql_store::link l{settings, *this};
    int listener = -1, peer = -1;
    int connected = 0, results = 0, ended = 0, lost = 0;
    unsigned number = 0;
    std::string message, first;
    std::optional<std::string> query;
};

// A result with one column and one row.
std::string one_value(const std::string& value, bool more)
{
    const auto text = [](const std::string& t) {
        return static_cast<char>(t.size()) + t;
    };
    const std::string status = more ? std::string("\x0a\0", 2) : std::string("\2\0", 2);
    const std::string column = text("def") + text("") + text("") + text("") + text("c") + text("") +
                               '\x0c' + std::string("\x08\0\xff\0\0\0\xfd\0\0\0\0\0", 12);
    return packet(1, "\1") + packet(2, column) + packet(3, std::string("\xfe\0\0", 3) + status) +
           packet(4, text(value)) + packet(5, std::string("\xfe\0\0", 3) + status);
}

BOOST_FIXTURE_TEST_SUITE(mysql_link, played_server)

BOOST_AUTO_TEST_CASE(a_connection_is_made_and_used)
{
    BOOST_TEST(l.is_idle());
    connect();
    BOOST_TEST((l.wants() == readiness::readable));
    ask("SELECT 1");
    send(one_value("1", false));
    turn();
    BOOST_TEST(results == 1);
    BOOST_TEST(first == "1");
    BOOST_TEST(ended == 1);
    BOOST_TEST(lost == 0);
}

BOOST_AUTO_TEST_CASE(several_results_of_one_query_are_told)
{
    connect();
    ask("SELECT 1; SELECT 2");
    const std::string all = one_value("1", true) + one_value("2", false);
    for (const char byte : all) { // however they arrive
        send(std::string(1, byte));
        turn();
    }
    BOOST_TEST(results == 2);
    BOOST_TEST(first == "2");
    BOOST_TEST(ended == 1);
}

BOOST_AUTO_TEST_CASE(commands_without_a_table_have_no_result)
{
    connect();
    ask("SET a = 1");
    send(packet(1, fine));
    turn();
    BOOST_TEST(results == 0);
    BOOST_TEST(ended == 1);
}

BOOST_AUTO_TEST_CASE(an_error_ends_the_query_and_not_the_connection)
{
    connect();
    ask("SELECT 1");
    send(error(1, 1213, "Deadlock"));
    turn();
    BOOST_TEST(number == 1213u);
    BOOST_TEST(ended == 1);
    BOOST_TEST(lost == 0);
    ask("SELECT 1");
    send(one_value("1", false));
    turn();
    BOOST_TEST(ended == 2);
}

BOOST_AUTO_TEST_CASE(an_error_of_a_later_command_ends_the_query)
{
    connect();
    ask("SELECT 1; SELECT 2");
    send(one_value("1", true) + error(1, 1205, "Lock wait timeout"));
    turn();
    BOOST_TEST(results == 1);
    BOOST_TEST(number == 1205u);
    BOOST_TEST(ended == 1);
    BOOST_TEST(lost == 0);
}

BOOST_AUTO_TEST_CASE(a_refused_login_is_told_without_the_password)
{
    begin();
    turn();
    send(greeting());
    turn();
    send(error(2, 1045, "Access denied for user 'app'"));
    turn();
    BOOST_TEST(lost == 1);
    BOOST_TEST(number == 1045u);
    BOOST_TEST(message.find("secret") == std::string::npos);
    BOOST_TEST(!l.is_idle());
    BOOST_TEST(!l.wants_open());
    l.closed({}, now);
    BOOST_TEST(l.is_idle());
}

// The password is not sent to a server that asks for it as it is.
BOOST_AUTO_TEST_CASE(no_password_is_sent_as_it_is)
{
    begin();
    turn();
    send(greeting());
    turn();
    heard();
    send(packet(2, std::string("\xfemysql_clear_password\0", 22)));
    turn();
    BOOST_TEST(lost == 1);
    BOOST_TEST(heard().find("secret") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_server_that_asks_for_a_file_gets_none)
{
    connect();
    ask("SELECT 1");
    send(packet(1, "\xfb/etc/passwd"));
    turn();
    const std::string told = heard();
    BOOST_TEST(told.find("root") == std::string::npos);
    BOOST_TEST(results == 0);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_connection_is_noticed)
{
    for (const bool while_asking : {false, true}) {
        connect();
        if (while_asking)
            ask("SELECT 1");
        hang_up();
        turn();
        BOOST_TEST(lost == 1);
        l.closed({}, now);
        lost = connected = 0;
    }
    begin();
    hang_up(); // before it has said anything
    turn();
    BOOST_TEST(lost == 1);
}

BOOST_AUTO_TEST_CASE(a_last_word_without_a_question_ends_the_connection)
{
    connect();
    send(error(0, 1927, "Connection was killed"));
    turn();
    BOOST_TEST(lost == 1);
}

BOOST_AUTO_TEST_CASE(what_is_no_mysql_is_not_spoken_to)
{
    const std::array<std::string, 6> all{std::string("HTTP/1.1 400 Bad Request\r\n\r\n"),
        std::string("-ERR unknown command\r\n"), packet(0, ""), packet(0, "\x09old"),
        std::string("\xff\xff\xff\0", 4) + std::string(2000, 'x'), packet(7, "\x0a")};
    for (const std::string& each : all) {
        lost = 0;
        begin();
        turn();
        send(each);
        turn();
        if (lost == 0) {
            hang_up();
            turn();
        }
        BOOST_TEST(lost == 1);
        BOOST_TEST(connected == 0);
        l.closed({}, now);
        hang_up();
    }
}

BOOST_AUTO_TEST_CASE(broken_answers_end_the_connection_or_the_query)
{
    const std::string good = one_value("1", false);
    for (std::size_t cut = 1; cut < good.size(); cut += 7) {
        connected = lost = ended = 0;
        connect();
        ask("SELECT 1");
        send(good.substr(0, cut));
        hang_up();
        turn();
        BOOST_TEST(lost == 1);
        BOOST_TEST(ended == 0);
        l.closed({}, now);
    }
    for (std::size_t at = 0; at < good.size(); ++at) {
        connected = lost = ended = 0;
        connect();
        ask("SELECT 1");
        std::string changed = good;
        changed[at] = static_cast<char>(changed[at] ^ 0x55);
        send(changed);
        turn();
        hang_up();
        turn();
        BOOST_TEST(lost == 1); // at the latest, when it is hung up
        l.closed({}, now);
    }
}

// A server that stands still: closing does not wait for it.
BOOST_AUTO_TEST_CASE(a_query_that_nobody_reads_can_be_closed)
{
    connect();
    query = std::string(8u << 20u, 'x');
    l.flush(now);
    BOOST_TEST(includes(l.wants(), readiness::writable));
    l.close();
    BOOST_TEST(l.handle() == -1);
    l.closed({}, now);
    BOOST_TEST(l.is_idle());
    BOOST_TEST(lost == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
