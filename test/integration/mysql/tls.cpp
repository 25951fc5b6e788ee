// TLS with a real server: libmariadb verifies its certificate and its name.
#include "integration/mysql/store.hpp"
#include "support/certificates.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(mysql_tls_connections)

mariadb_options with_certificate(const certificates::pair& own)
{
    return {.listens = true, .certificate = own.certificate, .key = own.key};
}

mysql_options verified(const mariadb_server& server, const std::string& authority,
    const std::string& host = "localhost")
{
    mysql_options made = making_table(server.login("root"));
    made.hosts = {host + ":" + std::to_string(server.port())};
    made.password = "";
    made.tls = mysql_tls{.ca_file = authority};
    return made;
}

BOOST_AUTO_TEST_CASE(locks_are_taken_over_a_verified_connection)
{
    certificates signers;
    const mariadb_server server(with_certificate(signers.issue("server", "DNS:localhost")));
    server.run("CREATE USER app@'127.0.0.1' REQUIRE SSL; GRANT ALL ON shop.* TO app@'127.0.0.1'");
    mysql_options options = verified(server, signers.authority());
    options.user = "app";
    const auto made = try_with(options);
    BOOST_TEST(!made.error, made.error.message() << "; " << made.nodes);
    BOOST_TEST(used_rows(server) == "0");
    options.tls.reset();
    const auto plain = try_with(options);
    BOOST_TEST(bool(plain.error));
}

// Statements and answers that are longer than a record of TLS.
BOOST_AUTO_TEST_CASE(long_statements_and_answers_pass)
{
    certificates signers;
    const mariadb_server server(with_certificate(signers.issue("server", "DNS:localhost")));
    scene s(mysql(verified(server, signers.authority())), 1);
    int held = 0;
    std::vector<task> all;
    for (int i = 0; i < 3000; ++i)
        all.push_back([](holdfast::lock lock, int& count) -> task {
            lease one = co_await lock.acquire(30s);
            ++count;
            co_await one.release();
        }(holdfast::lock(s.locker(), std::string(100, 'r') + std::to_string(i), brief(20s)), held));
    run(s.io, std::move(all));
    BOOST_TEST(held == 3000);
    s.finish();
    BOOST_TEST(used_rows(server) == "0");
}

void check_refused(mysql_options options)
{
    options.password = "secret";
    const auto made = try_with(options);
    BOOST_TEST(made.error == errc::tls_failed, made.error.message() << "; " << made.nodes);
}

BOOST_AUTO_TEST_CASE(wrong_certificates_are_refused)
{
    certificates signers, others;
    {
        const mariadb_server other_name(with_certificate(signers.issue("a", "DNS:db.example")));
        check_refused(verified(other_name, signers.authority()));
    }
    {
        const mariadb_server expired(with_certificate(signers.issue("b", "DNS:localhost", -1)));
        check_refused(verified(expired, signers.authority()));
    }
    const mariadb_server server(with_certificate(signers.issue("c", "DNS:localhost")));
    check_refused(verified(server, others.authority()));
    check_refused(verified(server, "/no/such/file"));
    mysql_options any = verified(server, "");
    any.tls->accept_any_certificate = true;
    BOOST_TEST(!try_with(any).error);
}

BOOST_AUTO_TEST_CASE(an_address_in_the_certificate_is_verified)
{
    certificates signers;
    const mariadb_server server(with_certificate(signers.issue("server", "IP:127.0.0.1")));
    const auto made = try_with(verified(server, signers.authority(), "127.0.0.1"));
    BOOST_TEST(!made.error, made.error.message() << "; " << made.nodes);
}

// A server that greets and says that it knows TLS. If `demand` is not empty, it says that when a
// client has answered. Then it says no more.
class silent_server {
public:
    explicit silent_server(
        std::string demand = {}, const std::string& usual_way = "mysql_native_password")
        : demand_(std::move(demand)),
          greeting_(greeting(usual_way))
    {
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof where;
        auto* const any = reinterpret_cast<sockaddr*>(&where);
        BOOST_REQUIRE(listener_ >= 0);
        BOOST_REQUIRE(::bind(listener_, any, sizeof where) == 0);
        BOOST_REQUIRE(::listen(listener_, 100) == 0);
        BOOST_REQUIRE(::getsockname(listener_, any, &length) == 0);
        port_ = ::ntohs(where.sin_port);
        greets_ = std::thread([this] { greet(); });
    }
    ~silent_server()
    {
        stop();
        for (const int each : peers_)
            ::close(each);
        ::close(listener_);
    }
    silent_server(silent_server&&) = delete;

    std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
    int greeted() const { return greeted_; }

    // Returns when all that clients had sent before is counted.
    void stop()
    {
        over_ = true;
        if (greets_.joinable())
            greets_.join();
    }
    // After stop(): the demands sent, and the bytes that clients have sent after them.
    int demanded() const { return demanded_; }
    std::size_t heard() const { return heard_; }

private:
    // In the end it hangs up, so that nobody waits for it for ever.
    void greet()
    {
        const auto end = steady::now() + 40s;
        while (!over_ && steady::now() < end) {
            pollfd one{.fd = listener_, .events = POLLIN, .revents = 0};
            const bool comes = ::poll(&one, 1, 50) > 0;
            listen_to_all();
            if (!comes)
                continue;
            const int peer = ::accept(listener_, nullptr, nullptr);
            if (peer < 0)
                continue;
            peers_.push_back(peer);
            greeted_ += ::send(peer, greeting_.data(), greeting_.size(), MSG_NOSIGNAL) > 0 ? 1 : 0;
        }
        listen_to_all();
        for (const int each : peers_)
            ::shutdown(each, SHUT_RDWR);
    }
    void listen_to_all()
    {
        for (std::size_t i = 0; i < peers_.size() && !demand_.empty(); ++i) {
            char text[1000];
            const auto n = ::recv(peers_[i], text, sizeof text, MSG_DONTWAIT);
            answered_.resize(peers_.size());
            if (n > 0 && !answered_[i]) {
                answered_[i] = ::send(peers_[i], demand_.data(), demand_.size(), MSG_NOSIGNAL) > 0;
                ++demanded_;
            } else if (n > 0)
                heard_ += static_cast<std::size_t>(n);
        }
    }
    static std::string greeting(const std::string& usual_way)
    {
        std::string body = "\x0a";
        body += std::string("5.5.5-10.11.0-MariaDB\0", 22);
        body += std::string("\1\0\0\0", 4) + std::string(8, 'a') + '\0';
        body += std::string("\xff\xff", 2) + '\x08' + std::string("\2\0", 2);
        body += std::string("\x7f\0", 2) + '\x15' + std::string(10, '\0');
        body += std::string(13, 'b') + '\0' + usual_way + '\0';
        return static_cast<char>(body.size()) + std::string(3, '\0') + body;
    }

    const int listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    int port_ = 0;
    std::atomic<bool> over_ = false;
    std::atomic<int> greeted_ = 0;
    const std::string demand_, greeting_;
    int demanded_ = 0;
    std::size_t heard_ = 0;
    std::vector<int> peers_;     // of the thread
    std::vector<bool> answered_; // of the thread: the demand was sent
    std::thread greets_;
};

// libmariadb blocks while it shakes hands.
BOOST_AUTO_TEST_CASE(a_server_that_stands_still_blocks_for_no_longer_than_the_connect_timeout)
{
    const silent_server server;
    mysql_options options;
    options.hosts = {server.host()};
    options.user = "app";
    options.database = "shop";
    options.tls.emplace().accept_any_certificate = true;
    options.connect_timeout = 1s;
    scene s(mysql(options), 1);
    const auto begin = steady::now();
    run(s.io, [](scene& all) -> task {
        auto [failed, held] = co_await all.lock(0).acquire(3s, no_throw);
        BOOST_TEST(failed == condition::unavailable, failed.message());
    }(s));
    BOOST_TEST(server.greeted() >= 2); // and is tried again
    const std::string nodes = describe_nodes(s.locker().stats());
    BOOST_TEST(nodes.find("timed out") != std::string::npos, nodes);
    s.finish();
    BOOST_TEST((steady::now() - begin < 30s));
}

// That way to log in sends the password, encrypted with a key that the server has sent. It is the
// usual one of MySQL 8, which greets with it whatever the user has.
void refuse_the_password(const std::string& usual_way)
{
    const std::string way = std::string("\xfe") + std::string("caching_sha2_password\0", 22) +
                            std::string(20, 'c') + '\0';
    silent_server server(
        static_cast<char>(way.size()) + std::string(2, '\0') + '\x02' + way, usual_way);
    mysql_options options;
    options.hosts = {server.host()};
    options.user = "app";
    options.password = "secret";
    options.database = "shop";
    options.connect_timeout = 1s;
    const auto made = try_with(mysql(options));
    BOOST_TEST(made.error == errc::authentication_failed, made.error.message());
    BOOST_TEST(made.nodes.find("not allowed without TLS") != std::string::npos, made.nodes);
    server.stop();
    BOOST_TEST(server.demanded() >= 1);
    BOOST_TEST(server.heard() == 0u);
}

BOOST_AUTO_TEST_CASE(a_server_that_demands_the_password_does_not_get_it_without_tls)
{
    refuse_the_password("mysql_native_password");
}

BOOST_AUTO_TEST_CASE(a_server_whose_usual_way_is_to_send_the_password_is_asked_in_another_one)
{
    refuse_the_password("caching_sha2_password");
}

BOOST_AUTO_TEST_CASE(a_server_without_tls_is_refused)
{
    const certificates signers;
    const mariadb_server server({.settings = {"skip-ssl"}, .listens = true});
    check_refused(verified(server, signers.authority()));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
