#include <holdfast/endpoint.hpp>
#include <holdfast/redlock.hpp>
#include <holdfast/resource.hpp>

#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>
#include <vector>

using holdfast::endpoint;
using via = endpoint::transport;

namespace {

std::string message_of(const std::string& url)
{
    try {
        const endpoint accepted(url);
        return "accepted";
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
}

template <class Make>
std::string refusal(Make make)
{
    try {
        make();
        return "accepted";
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(endpoint_test)

// Each part of a URL arrives where it belongs.
BOOST_AUTO_TEST_CASE(good_urls)
{
    const endpoint plain("redis://10.0.0.1");
    BOOST_TEST((plain.via() == via::tcp));
    BOOST_TEST(plain.host() == "10.0.0.1");
    BOOST_TEST(plain.port() == 6379);
    BOOST_TEST(plain.database() == 0u);
    BOOST_TEST(plain.user().empty());
    BOOST_TEST(plain.password().empty());
    BOOST_TEST(plain.address() == "10.0.0.1:6379");

    const endpoint full("rediss://ann:p%40ss%3A%25@db.example:7001/3");
    BOOST_TEST((full.via() == via::tls));
    BOOST_TEST(full.user() == "ann");
    BOOST_TEST(full.password() == "p@ss:%");
    BOOST_TEST(full.host() == "db.example");
    BOOST_TEST(full.port() == 7001);
    BOOST_TEST(full.database() == 3u);
    BOOST_TEST(full.address() == "db.example:7001/3");

    const endpoint v6("redis://:secret@[::1]:7002/");
    BOOST_TEST(v6.user().empty());
    BOOST_TEST(v6.password() == "secret");
    BOOST_TEST(v6.host() == "::1");
    BOOST_TEST(v6.address() == "[::1]:7002");

    const endpoint local("unix:///run/redis.sock");
    BOOST_TEST((local.via() == via::unix_socket));
    BOOST_TEST(local.path() == "/run/redis.sock");
    BOOST_TEST(local.host().empty());
    BOOST_TEST(local.address() == "/run/redis.sock");
}

// Whatever is wrong is named, and nothing of the URL is quoted: it may hold a password.
BOOST_AUTO_TEST_CASE(bad_urls)
{
    struct bad {
        std::string url, mentions;
    };
    const std::vector<bad> table = {
        {"", "scheme"},
        {"localhost:6379", "scheme"},
        {"http://u:hunter2@host", "scheme"},
        {"redis://", "host"},
        {"redis://u:hunter2@", "host"},
        {"redis://:6379", "host"},
        {"redis://ho st", "host"},
        {"redis://host:", "port"},
        {"redis://host:0", "port"},
        {"redis://host:65536", "port"},
        {"redis://host:-1", "port"},
        {"redis://host:12x", "port"},
        {"redis://u:hunter2@host:99999", "port"},
        {"redis://host/db", "database"},
        {"redis://host/-1", "database"},
        {"redis://host/0/1", "database"},
        {"redis://host/99999999999999", "database"},
        {"redis://user@host", "password"},
        {"redis://u:hunter2%4@host", "password"},
        {"redis://u%zz:hunter2@host", "user"},
        {"redis://::1", "brackets"},
        {"redis://[::1", "bracket"},
        {"redis://[::1]x", "port"},
        {"redis://host?timeout=1", "?"},
        {"redis://host#1", "#"},
        {"unix://", "path"},
        {"unix:///", "path"},
        {"unix://host/path", "host"},
    };
    for (const auto& [url, mentions] : table) {
        const std::string message = message_of(url);
        BOOST_TEST_CONTEXT(url << " -> " << message)
        {
            BOOST_TEST(message.starts_with("holdfast: endpoint: "));
            BOOST_TEST(message.find(mentions) != std::string::npos);
            BOOST_TEST(message.find("hunter2") == std::string::npos);
        }
    }
}

// A resource name has 1 to 512 bytes, any bytes.
BOOST_AUTO_TEST_CASE(resource_names)
{
    using holdfast::resource;
    BOOST_CHECK_THROW(resource(""), std::invalid_argument);
    BOOST_CHECK_THROW(resource(std::string(513, 'x')), std::invalid_argument);
    BOOST_TEST(resource(std::string(512, 'x')).name().size() == 512u);
    const std::string odd("a\r\n\0 {b}\xff", 10);
    BOOST_TEST(resource(odd).name() == odd);
}

// What redlock() refuses, it names; no node is contacted.
BOOST_AUTO_TEST_CASE(redlock_arguments)
{
    using namespace std::chrono_literals;
    using options = holdfast::redlock_options;
    const auto with = [](auto change) {
        return refusal([&] {
            options o;
            change(o);
            holdfast::redlock({"redis://192.0.2.1"}, o);
        });
    };
    const auto mentions = [](const std::string& message, const char* what) {
        BOOST_TEST(message.find(what) != std::string::npos, message);
    };
    mentions(refusal([] { holdfast::redlock({}); }), "no nodes");
    mentions(refusal([] { holdfast::redlock(std::vector<endpoint>(16, "redis://h")); }), "16");
    mentions(refusal([] { holdfast::redlock({"redis://h", "redis://h:6379/1"}); }), "twice");
    mentions(refusal([] { holdfast::redlock({"rediss://h"}); }), "TLS");
    mentions(with([](options& o) { o.fencing = holdfast::fencing::on; }), "fencing");
    mentions(with([](options& o) { o.node_timeout = 0ms; }), "node_timeout");
    mentions(with([](options& o) { o.node_timeout = 61s; }), "node_timeout");
    mentions(with([](options& o) { o.connect_timeout = 0ms; }), "connect_timeout");
    mentions(with([](options& o) { o.silence_timeout = 99ms; }), "silence_timeout");
    mentions(with([](options& o) { o.reconnect_min = 0ms; }), "reconnect_min");
    mentions(with([](options& o) { o.reconnect_max = 1ms; }), "reconnect_max");
    mentions(with([](options& o) { o.max_requests = 15; }), "max_requests");
    mentions(with([](options& o) { o.max_bytes = 1; }), "max_bytes");
    mentions(with([](options& o) { o.client_name = "a b"; }), "client_name");
    BOOST_TEST(with([](options&) {}) == "accepted");
}

BOOST_AUTO_TEST_SUITE_END()
