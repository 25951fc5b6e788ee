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
etcd_cluster with_users(std::size_t members = 1)
{
    etcd_cluster servers(members);
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

// The host of a member that stands still takes the connection, and nobody answers the login.
BOOST_AUTO_TEST_CASE(a_member_that_does_not_answer_the_login_is_left_for_another_one)
{
    etcd_cluster servers = with_users(3);
    scene s(store_in(servers,
        {.user = "app", .password = "secret", .key_prefix = "locks/", .connect_timeout = 5s}));
    run(s.io, [](scene& all, etcd_cluster& in) -> task {
        auto [failed, first] = co_await all.lock(0).acquire(60s, no_throw);
        BOOST_REQUIRE(!failed);
        const auto nodes = all.locker().stats().nodes;
        const auto used = static_cast<std::size_t>(
            std::find_if(nodes.begin(), nodes.end(), [](const auto& n) { return n.connected; }) -
            nodes.begin());
        const std::size_t next = (used + 1) % 3;
        in.pause(next);
        in.kill(used);
        in.restart(used); // it and the third one are a majority
        const holdfast::lock other(all.locker(), all.resource + "2");
        auto [ec, second] = co_await other.acquire(60s, no_throw);
        BOOST_TEST(ec == error_code());
        BOOST_TEST(all.locker().stats().nodes.at(next).timeouts == 1u);
        in.resume(next);
    }(s, servers));
    s.finish();
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
        auto [ec, none] = co_await all.lock(0).acquire(2s, no_throw);
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
