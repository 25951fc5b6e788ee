// Logins, rights, certificates, and servers that are no ZooKeeper.
#include "integration/zookeeper/store.hpp"

#ifdef HOLDFAST_WITH_TLS
#include "support/certificates.hpp"

#include <holdfast/tls.hpp>

#include <fstream>
#endif

#include "support/redis_server.hpp"

#include <utility>

namespace holdfast::test {
namespace {

namespace wire = zookeeper_store::wire;

BOOST_AUTO_TEST_SUITE(zookeeper_rights)

// Everything that a locker does: locks, waits, lists.
error_code try_with(const backend& store)
{
    scene s(store, 2);
    error_code ec;
    run(s.io, [](scene& all, error_code& to) -> task {
        auto [failed, held] = co_await all.lock(0).acquire(20s, no_throw);
        to = failed;
        if (failed)
            co_return;
        call<lease> waits;
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

// The folder "locks" belongs to the user "app" alone, who has no rights elsewhere.
zookeeper_servers with_rights(std::int32_t permissions)
{
    zookeeper_servers servers;
    zookeeper_client admin(servers.port());
    admin.log_in("app:secret");
    BOOST_TEST(admin.create("/locks", wire::node_mode::persistent, {{permissions, "auth", ""}}) ==
               wire::code::ok);
    return servers;
}

constexpr std::int32_t read = 1, write = 2, create = 4, remove = 8;

BOOST_AUTO_TEST_CASE(a_user_with_rights_on_the_root_alone_is_enough)
{
    const zookeeper_servers servers = with_rights(read | create);
    BOOST_TEST(!try_with(zookeeper(
        servers.url("/locks"), {.user = "app", .password = "secret", .acl = {"auth::cdrw"}})));
    zookeeper_client other(servers.port());
    BOOST_TEST(other.call({.what = wire::operation::get_children, .path = "/locks"}).error ==
               wire::code::no_auth);
}

BOOST_AUTO_TEST_CASE(a_wrong_password_is_told)
{
    const zookeeper_servers servers = with_rights(read | create | remove | write);
    BOOST_TEST(try_with(zookeeper(servers.url("/locks"),
                   {.user = "app", .password = "wrong secret"})) == errc::permission_denied);
}

BOOST_AUTO_TEST_CASE(missing_rights_are_told)
{
    const zookeeper_servers servers = with_rights(read);
    BOOST_TEST(try_with(zookeeper(servers.url("/locks"), {.user = "app", .password = "secret"})) ==
               errc::permission_denied);
    BOOST_TEST(try_with(zookeeper(servers.url("/locks"))) == errc::permission_denied);
}

BOOST_AUTO_TEST_CASE(a_root_of_several_folders_is_created)
{
    const zookeeper_servers servers;
    BOOST_TEST(!try_with(zookeeper(servers.url("/app/eu/locks"))));
    BOOST_TEST(!try_with(zookeeper(servers.url("/"))));
}

BOOST_AUTO_TEST_CASE(a_server_that_is_no_zookeeper_is_told)
{
    const redis_server other;
    scene s(zookeeper("zookeeper://127.0.0.1:" + std::to_string(other.port())));
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
    const temporary_folder folder("tls");
    const std::string store = folder.path() + "/server.pem";
    for (const std::string& part : {server.key, server.certificate}) {
        std::ofstream(store, std::ios::app) << std::ifstream(part).rdbuf();
    }
    const zookeeper_servers servers({.key_store = store, .trust_store = signers.authority()});
    const std::string url = "zookeepers://127.0.0.1:" + std::to_string(servers.secure_port());
    tls_options tls_of{.ca_file = signers.authority(),
        .certificate_file = client.certificate,
        .key_file = client.key};
    BOOST_TEST(!try_with(zookeeper(url, {.tls = tls(tls_of)})));

    const certificates others;
    tls_of.ca_file = others.authority();
    BOOST_TEST(try_with(zookeeper(url, {.tls = tls(tls_of)})) == errc::tls_failed);
}
#endif

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
