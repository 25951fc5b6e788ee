// Real nodes over TLS, with certificates that the tests make.
#include "support/certificates.hpp"
#include "support/cluster.hpp"
#include "support/redis_cluster.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"
#include "support/sentinels.hpp"
#include "support/tls_port.hpp"

#include <holdfast/tls.hpp>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::test {
namespace {

// Nodes that also listen on a port for TLS.
class tls_nodes {
public:
    tls_nodes(std::size_t count, const certificates& signers, const certificates::pair& own,
        bool ask_clients = false)
        : plain(start_servers(count))
    {
        for (redis_server& each : plain)
            ports.push_back(open_tls_port(each, signers, own, ask_clients));
    }

    std::vector<endpoint> urls(const std::string& scheme = "rediss") const
    {
        std::vector<endpoint> all;
        for (const unsigned port : ports)
            all.emplace_back(scheme + "://127.0.0.1:" + std::to_string(port));
        return all;
    }

    std::vector<redis_server> plain;
    std::vector<unsigned> ports;
};

redlock_options over_tls(const tls_options& settings)
{
    redlock_options options;
    options.tls = tls(settings);
    options.node_timeout = 500ms;
    options.reconnect_min = 20ms;
    options.reconnect_max = 200ms;
    return options;
}

// Runs `body` with a locker, closes it, and expects that nothing is left.
template <class Body>
void with_locker(const backend& store, Body body)
{
    asio::io_context io;
    locker all(io.get_executor(), store);
    run(io, body(all));
    bool closed = false;
    all.close([&closed](error_code) { closed = true; });
    run_until(io, [&closed] { return closed; });
}

// Waits until each node has been connected to `times` times.
task connect_to_all(locker& all, std::uint64_t times)
{
    const auto done = [&all, times] {
        const auto nodes = all.stats().nodes;
        return std::all_of(nodes.begin(), nodes.end(),
            [times](const node_stats& each) { return each.connected && each.connects == times; });
    };
    for (const auto end = steady::now() + 10s; !done() && steady::now() < end;)
        co_await pause(2ms);
    BOOST_REQUIRE_MESSAGE(done(), describe_nodes(all.stats()));
}

task acquire_and_release(locker& all)
{
    lock what(all, "resource");
    lease held = co_await what.acquire();
    BOOST_TEST(held.held());
    co_await held.extend();
    const release_outcome outcome = co_await held.release();
    BOOST_TEST(outcome == release_outcome::released);
}

// The certificate of the nodes, or what else is said of them, is the reason of the refusal.
void expect_refused(const backend& store, errc code, std::string_view reason)
{
    with_locker(store, [&](locker& all) -> task {
        lock what(all, "resource");
        auto [ec, none] = co_await what.acquire(2s, no_throw);
        BOOST_TEST(ec == code, ec.message());
        BOOST_TEST(!none);
        const std::string text = describe_nodes(all.stats());
        BOOST_TEST(text.find(reason) != text.npos, reason << " is not in: " << text);
    });
}

struct tls_fixture {
    certificates signers;
    certificates::pair own = signers.issue("node", "IP:127.0.0.1,DNS:node.example");

    tls_options trusting() const { return {.ca_file = signers.authority()}; }
};

BOOST_FIXTURE_TEST_SUITE(tls_connections, tls_fixture)

BOOST_AUTO_TEST_CASE(a_lease_is_acquired_extended_and_released)
{
    tls_nodes nodes(3, signers, own);
    with_locker(redlock(nodes.urls(), over_tls(trusting())), acquire_and_release);
    for (redis_server& each : nodes.plain)
        BOOST_TEST(each.command({"DBSIZE"}) == "0");
}

BOOST_AUTO_TEST_CASE(a_lease_has_a_token_with_fencing)
{
    tls_nodes nodes(3, signers, own);
    redlock_options options = over_tls(trusting());
    options.fencing = fencing::on;
    options.fence.first_deployment = true;
    with_locker(redlock(nodes.urls(), options), [](locker& all) -> task {
        lock what(all, "resource");
        lease first = co_await what.acquire();
        const auto token = first.fence();
        co_await first.release();
        lease second = co_await what.acquire();
        BOOST_TEST((token && second.fence() && *token < *second.fence()));
        co_await second.release();
    });
}

// The primary has the host that the sentinels name, and its certificate must be for that.
BOOST_AUTO_TEST_CASE(sentinels_and_their_primary)
{
    tls_nodes nodes(1, signers, own);
    const std::string port = std::to_string(nodes.ports[0]);
    redis_sentinel_server sentinel({"tls-cert-file " + own.certificate, "tls-key-file " + own.key,
        "tls-ca-cert-file " + signers.authority(), "tls-auth-clients no", "tls-replication yes",
        "sentinel monitor mymaster 127.0.0.1 " + port + " 1"});
    sentinel_options options;
    options.primary = over_tls(trusting());
    options.sentinel_tls = tls(trusting());
    with_locker(redis_sentinel({sentinel.tls_url()}, "mymaster", options), acquire_and_release);

    const auto elsewhere = signers.issue("elsewhere", "DNS:elsewhere.example");
    tls_nodes strangers(1, signers, elsewhere);
    BOOST_TEST(sentinel.command({"SENTINEL", "REMOVE", "mymaster"}) == "OK");
    BOOST_TEST(sentinel.command({"SENTINEL", "MONITOR", "mymaster", "127.0.0.1",
                   std::to_string(strangers.ports[0]), "1"}) == "OK");
    expect_refused(redis_sentinel({sentinel.tls_url()}, "mymaster", options), errc::tls_failed,
        "IP address mismatch");
}

// Also where a member sends a request elsewhere, because the slot of the key is on its way.
BOOST_AUTO_TEST_CASE(all_primaries_of_a_cluster)
{
    redis_cluster_servers servers(redis_cluster_servers::tls_files{
        .certificate = own.certificate, .key = own.key, .authority = signers.authority()});
    const auto store = redis_cluster({servers.tls_seeds()[1]}, over_tls(trusting()));
    with_locker(store, [&](locker& all) -> task {
        for (std::size_t i = 0; i < redis_cluster_servers::primaries; ++i) {
            lock what(all, servers.name_at(i, "shard:"));
            lease held = co_await what.acquire();
            const release_outcome outcome = co_await held.release();
            BOOST_TEST(outcome == release_outcome::released);
        }
        for (const node_stats& each : all.stats().nodes)
            BOOST_TEST(each.connected, describe_nodes(all.stats()));
        const std::string name = servers.name_at(0, "moving:");
        servers.begin_move(name, 0, 2);
        lock what(all, name);
        lease held = co_await what.acquire();
        BOOST_TEST(servers.has_key(2, name));
        servers.end_move(name, 0, 2);
        co_await held.extend();
        const release_outcome outcome = co_await held.release();
        BOOST_TEST(outcome == release_outcome::released);
        BOOST_TEST(!servers.has_key(2, name));
    });
    const certificates strangers;
    expect_refused(redis_cluster(servers.tls_seeds(), over_tls({.ca_file = strangers.authority()})),
        errc::tls_failed, "certificate");
}

// Over TLS and in plain text: the same locks. A waiter is told of its turn over TLS, too.
BOOST_AUTO_TEST_CASE(clients_with_and_without_tls_exclude_each_other)
{
    tls_nodes nodes(3, signers, own);
    const auto plain = redlock(endpoints(nodes.plain));
    with_locker(plain, [&](locker& first) -> task {
        lock what(first, "resource");
        lease held = co_await what.acquire();
        locker second(
            co_await asio::this_coro::executor, redlock(nodes.urls(), over_tls(trusting())));
        lock same(second, "resource");
        co_await connect_to_all(second, 1);
        auto [ec, none] = co_await same.acquire(1s, no_throw);
        BOOST_TEST(ec == errc::contended, ec.message());
        co_await held.release();
        lease next = co_await same.acquire();
        BOOST_TEST(next.held());
        co_await next.release();
        co_await second.close();
    });
}

// More than fits into one record of TLS, in both directions.
BOOST_AUTO_TEST_CASE(many_locks_at_once)
{
    tls_nodes nodes(3, signers, own);
    constexpr int many = 5'000;
    asio::io_context io;
    locker all(io.get_executor(), redlock(nodes.urls(), over_tls(trusting())));
    int granted = 0, released = 0;
    std::vector<lease> leases(many);
    for (int i = 0; i < many; ++i)
        lock(all, "resource " + std::to_string(i)).acquire(30s, [&, i](error_code ec, lease got) {
            BOOST_TEST(!ec, ec.message());
            leases[static_cast<std::size_t>(i)] = std::move(got);
            ++granted;
        });
    run_until(io, [&] { return granted == many; });
    for (redis_server& each : nodes.plain)
        BOOST_TEST(std::stoi(each.command({"DBSIZE"})) <= many + 1); // and a client record
    for (lease& each : leases)
        each.release([&](error_code, release_outcome) { ++released; });
    run_until(io, [&] { return released == many; });
    bool closed = false;
    all.close([&](error_code) { closed = true; });
    run_until(io, [&] { return closed; });
    for (redis_server& each : nodes.plain)
        BOOST_TEST(each.command({"DBSIZE"}) == "0");
}

BOOST_AUTO_TEST_CASE(connections_that_break_are_replaced_and_a_lease_survives)
{
    tls_nodes nodes(3, signers, own);
    with_locker(redlock(nodes.urls(), over_tls(trusting())), [&](locker& all) -> task {
        lock what(all, "resource", {.ttl = 30s});
        lease held = co_await what.acquire();
        co_await connect_to_all(all, 1);
        for (redis_server& each : nodes.plain)
            each.command({"CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes"});
        co_await connect_to_all(all, 2);
        co_await held.extend();
        BOOST_TEST(held.held());
        co_await held.release();
    });
}

BOOST_AUTO_TEST_CASE(a_certificate_for_another_address_is_refused)
{
    tls_nodes nodes(1, signers, signers.issue("other", "IP:127.0.0.2,DNS:localhost"));
    expect_refused(
        redlock(nodes.urls(), over_tls(trusting())), errc::tls_failed, "IP address mismatch");
}

BOOST_AUTO_TEST_CASE(a_certificate_for_another_name_is_refused)
{
    tls_nodes nodes(1, signers, own);
    auto settings = trusting();
    settings.server_name = "another.example";
    expect_refused(
        redlock(nodes.urls(), over_tls(settings)), errc::tls_failed, "hostname mismatch");
    settings.server_name = "node.example";
    with_locker(redlock(nodes.urls(), over_tls(settings)), acquire_and_release);
}

BOOST_AUTO_TEST_CASE(an_expired_certificate_is_refused)
{
    tls_nodes nodes(1, signers, signers.issue("old", "IP:127.0.0.1", -1));
    expect_refused(
        redlock(nodes.urls(), over_tls(trusting())), errc::tls_failed, "certificate has expired");
}

BOOST_AUTO_TEST_CASE(a_certificate_of_an_unknown_authority_is_refused)
{
    tls_nodes nodes(1, signers, own);
    const certificates others;
    expect_refused(redlock(nodes.urls(), over_tls({.ca_file = others.authority()})),
        errc::tls_failed, "certificate");
    expect_refused(redlock(nodes.urls(), over_tls({})), errc::tls_failed, "certificate");
    with_locker(
        redlock(nodes.urls(), over_tls({.accept_any_certificate = true})), acquire_and_release);
}

BOOST_AUTO_TEST_CASE(a_node_may_demand_a_certificate_of_the_client)
{
    tls_nodes nodes(1, signers, own, true);
    expect_refused(
        redlock(nodes.urls(), over_tls(trusting())), errc::tls_failed, "certificate required");
    auto settings = trusting();
    const auto client = signers.issue("client", "DNS:client.example");
    settings.certificate_file = client.certificate;
    settings.key_file = client.key;
    with_locker(redlock(nodes.urls(), over_tls(settings)), acquire_and_release);
}

BOOST_AUTO_TEST_CASE(a_port_without_tls_is_told_apart)
{
    tls_nodes nodes(1, signers, own);
    const std::string port = std::to_string(nodes.plain[0].port());
    redlock_options options = over_tls(trusting());
    options.connect_timeout = 200ms; // the server waits for the end of what it takes for a command
    expect_refused(redlock({"rediss://127.0.0.1:" + port}, options), errc::unreachable,
        "127.0.0.1:" + port +
            ": no connection within the connect timeout; does the port speak TLS?");
    expect_refused(redlock(nodes.urls("redis")), errc::unreachable, "; does the port speak TLS?");
}

// First the nodes get a certificate of a new authority, then the client's file is replaced.
BOOST_AUTO_TEST_CASE(new_files_are_used_for_new_connections)
{
    tls_nodes nodes(1, signers, own);
    const auto trusted = signers.issue("unused", "DNS:unused").key; // a path in the folder
    const auto replace = [&trusted](const certificates& by) {
        namespace fs = std::filesystem;
        fs::copy_file(by.authority(), trusted + ".new");
        fs::rename(trusted + ".new", trusted);
    };
    replace(signers);
    with_locker(redlock(nodes.urls(), over_tls({.ca_file = trusted})), [&](locker& all) -> task {
        co_await acquire_and_release(all);
        certificates later;
        const auto renewed = later.issue("node", "IP:127.0.0.1");
        const auto said = nodes.plain[0].command(
            {"CONFIG", "SET", "tls-cert-file", renewed.certificate, "tls-key-file", renewed.key});
        BOOST_TEST(said == "OK");
        nodes.plain[0].command({"CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes"});
        lock what(all, "resource");
        auto [ec, none] = co_await what.acquire(5s, no_throw);
        BOOST_TEST(ec == errc::tls_failed, ec.message());
        replace(later);
        const auto deadline = steady::now() + 10s;
        for (ec = errc::unreachable; ec && steady::now() < deadline;) {
            auto [error, held] = co_await what.acquire(1s, no_throw);
            ec = error;
            if (held)
                co_await held.release();
        }
        BOOST_TEST(!ec, ec.message());
    });
}

void expect_rejected(const tls_options& settings, std::string_view why)
{
    BOOST_CHECK_EXCEPTION(tls(settings), std::invalid_argument, [&](const auto& e) {
        const std::string text = e.what();
        BOOST_TEST(text.find(why) != text.npos, text);
        return true;
    });
}

BOOST_AUTO_TEST_CASE(wrong_settings_are_rejected_at_once)
{
    expect_rejected({.ca_file = "/nowhere/ca.pem"}, "ca_file /nowhere/ca.pem: No such file");
    expect_rejected({.ca_file = own.key}, "ca_file");
    expect_rejected({.certificate_file = own.certificate}, "must be given together");
    expect_rejected({.certificate_file = own.certificate, .key_file = own.certificate}, "key_file");
    const auto another = signers.issue("another", "DNS:another");
    expect_rejected(
        {.certificate_file = own.certificate, .key_file = another.key}, "key_file " + another.key);
    expect_rejected({.alpn = {"h2", ""}}, "1 to 255 bytes");
    expect_rejected({.server_name = std::string(256, 'a')}, "server_name");
    expect_rejected({.server_name = "."}, "server_name"); // would be no name, so all would match
    BOOST_CHECK_THROW(redlock({"redis://127.0.0.1"}, over_tls(trusting())), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
