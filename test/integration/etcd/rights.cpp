// Logins, rights, certificates, and servers that are no etcd.
#include "integration/etcd/store.hpp"

#ifdef HOLDFAST_WITH_TLS
#include "support/certificates.hpp"

#include <holdfast/tls.hpp>
#endif

#include "support/redis_server.hpp"

#include <utility>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(etcd_rights)

// A cluster with a user that may use the keys "locks/…" alone.
etcd_cluster with_users()
{
    etcd_cluster servers;
    servers.ctl({"user", "add", "root:top"});
    servers.ctl({"user", "grant-role", "root", "root"});
    servers.ctl({"user", "add", "app:secret"});
    servers.ctl({"role", "add", "locks"});
    servers.ctl({"role", "grant-permission", "--prefix=true", "locks", "readwrite", "locks/"});
    servers.ctl({"user", "grant-role", "app", "locks"});
    servers.ctl({"auth", "enable"});
    return servers;
}

error_code try_with(const etcd_cluster& servers, etcd_options options)
{
    options.connect_timeout = 30s; // servers hash passwords slowly, above all on a busy machine
    scene s(store_in(servers, std::move(options)), 2);
    error_code ec;
    run(s.io, [](scene& all, error_code& to) -> task {
        auto [failed, held] = co_await all.lock(0).acquire(60s, no_throw);
        to = failed;
        if (failed)
            co_return;
        call<lease> waits; // watches
        all.lock(1).acquire(forever, waits.token());
        co_await pause(300ms);
        co_await held.release();
        while (!waits.done())
            co_await pause(1ms);
        to = waits.error();
    }(s, ec));
    BOOST_TEST(describe_nodes(s.locker().stats()).find("secret") == std::string::npos);
    s.finish();
    return ec;
}

BOOST_AUTO_TEST_CASE(rights_on_the_prefix_are_enough)
{
    const etcd_cluster servers = with_users();
    BOOST_TEST(!try_with(servers, {.user = "app", .password = "secret", .key_prefix = "locks/"}));
}

BOOST_AUTO_TEST_CASE(a_wrong_password_is_told)
{
    const etcd_cluster servers = with_users();
    const auto ec =
        try_with(servers, {.user = "app", .password = "wrong secret", .key_prefix = "locks/"});
    BOOST_TEST(ec == errc::authentication_failed);
}

BOOST_AUTO_TEST_CASE(missing_rights_are_told)
{
    const etcd_cluster servers = with_users();
    BOOST_TEST(try_with(servers, {.user = "app", .password = "secret"}) == errc::permission_denied);
}

BOOST_AUTO_TEST_CASE(a_login_is_left_out_where_there_is_no_authentication)
{
    const etcd_cluster servers;
    BOOST_TEST(!try_with(servers, {.user = "app", .password = "secret"}));
}

BOOST_AUTO_TEST_CASE(a_server_that_is_no_etcd_is_told)
{
    const redis_server other;
    scene s(etcd({"http://127.0.0.1:" + std::to_string(other.port())}));
    run(s.io, [](scene& all) -> task {
        auto [ec, none] = co_await all.lock(0).acquire(5s, no_throw);
        BOOST_TEST(bool(ec));
        BOOST_TEST(!describe_nodes(all.locker().stats()).empty());
    }(s));
    s.finish();
}

#ifdef HOLDFAST_WITH_TLS
BOOST_AUTO_TEST_CASE(certificates_are_verified_and_identify_clients)
{
    certificates signers;
    const auto server = signers.issue("server", "IP:127.0.0.1"),
               client = signers.issue("app", "DNS:app");
    const etcd_cluster servers(1,
        {"--cert-file", server.certificate, "--key-file", server.key, "--trusted-ca-file",
            signers.authority(), "--client-cert-auth"},
        "https");
    tls_options tls_of{.ca_file = signers.authority(),
        .certificate_file = client.certificate,
        .key_file = client.key,
        .alpn = {"h2"}};
    BOOST_TEST(!try_with(servers, {.tls = tls(tls_of)}));

    const certificates others;
    tls_of.ca_file = others.authority();
    BOOST_TEST(try_with(servers, {.tls = tls(tls_of)}) == errc::tls_failed);
}
#endif

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
