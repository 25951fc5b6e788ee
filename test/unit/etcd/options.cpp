#include <holdfast/etcd.hpp>

#include "core/backend.hpp"
#include "etcd/urls.hpp"

#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using holdfast::etcd;
using holdfast::etcd_options;
using holdfast::etcd_store::parse_url;

namespace {

std::string refusal(const std::vector<std::string>& urls, const etcd_options& options = {})
{
    try {
        etcd(urls, options);
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return {};
}

BOOST_AUTO_TEST_SUITE(etcd_options_and_urls)

BOOST_AUTO_TEST_CASE(urls_are_parsed)
{
    const auto plain = parse_url("http://db.example:1234");
    BOOST_TEST(plain.where.host == "db.example");
    BOOST_TEST(plain.where.port == 1234);
    BOOST_TEST(!plain.secure);
    BOOST_TEST(plain.name == "db.example:1234");
    const auto secure = parse_url("https://[::1]/");
    BOOST_TEST(secure.where.host == "::1");
    BOOST_TEST(secure.where.port == 2379);
    BOOST_TEST(secure.secure);
    BOOST_TEST(secure.name == "[::1]:2379");
}

BOOST_AUTO_TEST_CASE(bad_urls_are_refused_without_repeating_them)
{
    for (const std::string bad :
        {"", "a", "redis://a", "http://", "http://:1", "http://a:", "http://a:0", "http://a:65536",
            "http://a:1x", "http://a b", "http://a/b", "http://a?b", "http://::1", "http://[::1",
            "http://[a]:1", "http://[::1]x", "http://u:pw@a"}) {
        const std::string why = refusal({bad});
        BOOST_TEST(why.starts_with("holdfast: etcd: a URL: "), bad << ": " << why);
        BOOST_TEST(why.find("pw") == std::string::npos);
    }
    BOOST_TEST(!refusal({"http://" + std::string(254, 'a')}).empty());
}

BOOST_AUTO_TEST_CASE(lists_of_urls_are_checked)
{
    BOOST_TEST(refusal({}) == "holdfast: etcd: no URL");
    BOOST_TEST(refusal({"http://a", "http://a:2379"}).find("twice") != std::string::npos);
    BOOST_TEST(refusal({"https://a"}).find("etcd_options::tls") != std::string::npos);
    BOOST_TEST(refusal({"http://a", "http://b", "http://c"}).empty());
    BOOST_TEST(!refusal(std::vector<std::string>(32, "http://a")).empty());
}

BOOST_AUTO_TEST_CASE(options_are_checked)
{
    const std::vector<std::string> urls{"http://a"};
    BOOST_TEST(!refusal(urls, {.user = "u"}).empty());
    BOOST_TEST(!refusal(urls, {.password = "hidden"}).empty());
    BOOST_TEST(refusal(urls, {.password = "hidden"}).find("hidden") == std::string::npos);
    BOOST_TEST(!refusal(urls, {.key_prefix = "a b"}).empty());
    BOOST_TEST(!refusal(urls, {.key_prefix = std::string(65, 'a')}).empty());
    BOOST_TEST(!refusal(urls, {.client_name = "\n"}).empty());
    BOOST_TEST(!refusal(urls, {.request_timeout = 9ms}).empty());
    BOOST_TEST(!refusal(urls, {.connect_timeout = 0ms}).empty());
    BOOST_TEST(!refusal(urls, {.reconnect_min = 0ms}).empty());
    BOOST_TEST(!refusal(urls, {.reconnect_min = 3s, .reconnect_max = 2s}).empty());
    BOOST_TEST(refusal(urls, {.user = "u", .password = "p", .key_prefix = "locks/"}).empty());
}

BOOST_AUTO_TEST_CASE(a_backend_tells_what_it_is)
{
    const auto made = etcd({"http://a"}).factory().make(1);
    BOOST_TEST(made->about().name == "etcd");
    BOOST_TEST((made->about().promise == holdfast::guarantee::consensus));
    BOOST_TEST(made->connections().size() == 1u);
    BOOST_TEST(made->queue().is_usable());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
