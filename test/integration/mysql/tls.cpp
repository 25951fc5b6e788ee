// TLS with a real server: libmariadb verifies its certificate and its name.
#include "integration/mysql/store.hpp"
#include "support/certificates.hpp"

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

BOOST_AUTO_TEST_CASE(a_server_without_tls_is_refused)
{
    const certificates signers;
    const mariadb_server server({.settings = {"skip-ssl"}, .listens = true});
    check_refused(verified(server, signers.authority()));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
