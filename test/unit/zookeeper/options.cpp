#include "zookeeper/url.hpp"

#include <holdfast/zookeeper.hpp>

#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>

using namespace std::chrono_literals;
using namespace holdfast;
using zookeeper_store::parse_access;
using zookeeper_store::parse_url;

namespace {

std::string refusal(const std::string& url, zookeeper_options options = {})
{
    try {
        zookeeper(url, std::move(options));
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return {};
}

bool has(const std::string& text, const std::string& part)
{
    return text.find(part) != text.npos;
}

BOOST_AUTO_TEST_SUITE(zookeeper_settings_given)

BOOST_AUTO_TEST_CASE(a_url_names_servers_and_the_root)
{
    const auto one = parse_url("zookeeper://localhost");
    BOOST_TEST(one.servers.front().name == "localhost:2181");
    BOOST_TEST(one.root == "/holdfast");
    BOOST_TEST(!one.secure);
    const auto three = parse_url("zookeepers://a:1,[::1]:2,c/app/locks/");
    BOOST_TEST(three.secure);
    BOOST_TEST(three.servers.size() == 3u);
    BOOST_TEST(three.servers[1].where.host == "::1");
    BOOST_TEST(three.servers[2].where.port == 2181);
    BOOST_TEST(three.root == "/app/locks");
    BOOST_TEST(parse_url("zookeeper://a/").root.empty());
}

BOOST_AUTO_TEST_CASE(urls_that_cannot_be_meant_are_refused)
{
    for (const char* bad :
        {"", "localhost:2181", "http://a", "zookeeper://", "zookeeper:///a", "zookeeper://a,",
            "zookeeper://a,,b", "zookeeper://a:0", "zookeeper://a:x", "zookeeper://a:65536",
            "zookeeper://::1", "zookeeper://u@a", "zookeeper://a/b//c", "zookeeper://a/./c",
            "zookeeper://a/..", "zookeeper://a/b c", "zookeeper://a/b?c", "zookeeper://a,a:2181"})
        BOOST_TEST(!refusal(bad).empty(), bad);
    std::string many = "zookeeper://h0";
    for (int i = 1; i < 32; ++i)
        many += ",h" + std::to_string(i);
    BOOST_TEST(has(refusal(many), "31"));
}

BOOST_AUTO_TEST_CASE(rights_are_read)
{
    const auto all = parse_access("world:anyone:cdrwa");
    BOOST_TEST(all.permissions == 31);
    BOOST_TEST(all.scheme == "world");
    BOOST_TEST(all.id == "anyone");
    const auto digest = parse_access("digest:app:x1/=:rc");
    BOOST_TEST(digest.id == "app:x1/=");
    BOOST_TEST(digest.permissions == (1 | 4));
    BOOST_TEST(parse_access("auth::d").permissions == 8);
    for (const char* bad :
        {"", "world", "world:anyone", "world:anyone:", "world:anyone:x", ":a:r", "a b:c:r"})
        BOOST_CHECK_THROW(parse_access(bad), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(options_out_of_range_are_refused)
{
    const std::string url = "zookeeper://localhost";
    BOOST_TEST(refusal(url).empty());
    BOOST_TEST(has(refusal(url, {.user = "u"}), "together"));
    BOOST_TEST(has(refusal(url, {.user = "u:v", .password = "secret"}), "colon"));
    BOOST_TEST(!has(refusal(url, {.user = "u:v", .password = "secret"}), "secret"));
    BOOST_TEST(has(refusal(url, {.acl = {"auth::cdrwa"}}), "needs user"));
    BOOST_TEST(has(refusal(url, {.acl = std::vector<std::string>(17, "world:anyone:r")}), "16"));
    BOOST_TEST(has(refusal(url, {.client_name = "a b"}), "client_name"));
    BOOST_TEST(has(refusal(url, {.session_timeout = 999ms}), "session_timeout"));
    BOOST_TEST(has(refusal(url, {.request_timeout = 1ms}), "request_timeout"));
    BOOST_TEST(has(refusal(url, {.connect_timeout = 0ms}), "connect_timeout"));
    BOOST_TEST(has(refusal(url, {.reconnect_min = 2s, .reconnect_max = 1s}), "reconnect_max"));
    BOOST_TEST(has(refusal("zookeepers://localhost"), "tls"));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
