// TLS with a real server: libpq verifies its certificate and its name.
#include "integration/postgresql/store.hpp"
#include "support/certificates.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(postgresql_tls)

postgres_options with_certificate(const certificates::pair& own)
{
    return {.listens = true, .certificate = own.certificate, .key = own.key};
}

// The server's address is looked up here; libpq compares this name with the certificate.
std::string verified(const postgres_server& server, const certificates& trusted)
{
    return "postgresql://shop@localhost:" + std::to_string(server.port()) +
           "/postgres?sslmode=verify-full&sslrootcert=" + trusted.authority();
}

BOOST_AUTO_TEST_CASE(locks_are_taken_over_a_verified_connection)
{
    certificates signers;
    const postgres_server server(with_certificate(signers.issue("server", "DNS:localhost")));
    scene s(postgresql(verified(server, signers), {.create_table = true}), 2);
    run(s.io, [](scene& all, const postgres_server& in) -> task {
        lease held = co_await all.lock(0, brief(10s)).acquire();
        BOOST_TEST(in.run("SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
                          "WHERE application_name = 'holdfast'") == "t");
        call<lease> waits;
        all.lock(1, brief(10s)).acquire(forever, waits.token());
        co_await pause(300ms);
        co_await held.release();
        while (!waits.done())
            co_await pause(1ms);
        BOOST_TEST(!waits.error(), waits.error().message());
        waits.result<lease>() = lease();
    }(s, server));
    s.finish();
    BOOST_TEST(used_rows(server) == "0");
}

// Statements and answers that are longer than a record of TLS.
BOOST_AUTO_TEST_CASE(long_statements_and_answers_pass)
{
    certificates signers;
    const postgres_server server(with_certificate(signers.issue("server", "DNS:localhost")));
    scene s(postgresql(verified(server, signers), {.create_table = true}), 1);
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

void check_refused(const std::string& conninfo, std::string_view reason)
{
    const auto made = try_with(conninfo, {.create_table = true});
    BOOST_TEST(made.error == errc::tls_failed, made.error.message() << "; " << made.nodes);
    BOOST_TEST(made.nodes.find(reason) != std::string::npos, made.nodes);
}

BOOST_AUTO_TEST_CASE(a_certificate_for_another_name_is_refused)
{
    certificates signers;
    const postgres_server server(with_certificate(signers.issue("server", "DNS:db.example")));
    check_refused(verified(server, signers),
        "server certificate for \"db.example\" does not match host name \"localhost\"");
}

BOOST_AUTO_TEST_CASE(a_certificate_of_another_authority_is_refused)
{
    certificates signers, others;
    const postgres_server server(with_certificate(signers.issue("server", "DNS:localhost")));
    check_refused(verified(server, others), "SSL error");
}

BOOST_AUTO_TEST_CASE(a_certificate_that_has_expired_is_refused)
{
    certificates signers;
    const postgres_server server(with_certificate(signers.issue("server", "DNS:localhost", -1)));
    check_refused(verified(server, signers), "certificate verify failed");
}

BOOST_AUTO_TEST_CASE(a_server_without_tls_is_refused)
{
    const certificates signers;
    const postgres_server server({.listens = true});
    check_refused(verified(server, signers), "server does not support SSL");
}

BOOST_AUTO_TEST_CASE(a_missing_file_of_the_authority_is_told)
{
    certificates signers;
    const postgres_server server(with_certificate(signers.issue("server", "DNS:localhost")));
    check_refused("postgresql://shop:secret@localhost:" + std::to_string(server.port()) +
                      "/postgres?sslmode=verify-full&sslrootcert=/no/such/file",
        "root certificate file \"/no/such/file\" does not exist");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
