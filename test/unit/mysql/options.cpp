#include <holdfast/lease.hpp>
#include <holdfast/mysql.hpp>

#include "core/backend.hpp"
#include "mysql/hosts.hpp"

#include <boost/test/unit_test.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace holdfast;
using holdfast::mysql_store::parse_hosts;

namespace {

mysql_options good()
{
    mysql_options made;
    made.hosts = {"db"};
    made.user = "app";
    made.password = "secret";
    made.database = "shop";
    return made;
}

std::string refusal(const std::function<void(mysql_options&)>& change)
{
    mysql_options options = good();
    change(options);
    try {
        mysql(options);
    } catch (const std::invalid_argument& e) {
        const std::string text = e.what();
        BOOST_TEST(text.starts_with("holdfast: mysql: "), text);
        BOOST_TEST(text.find("secret") == std::string::npos, text);
        return text;
    }
    return {};
}

BOOST_AUTO_TEST_SUITE(mysql_options_and_hosts)

BOOST_AUTO_TEST_CASE(hosts_are_read)
{
    const auto all = parse_hosts({"db.example", "10.0.0.1:1234", "[::1]:7", "/run/mysqld.sock"});
    BOOST_REQUIRE(all.size() == 4u);
    BOOST_TEST(all[0].where.host == "db.example");
    BOOST_TEST(all[0].where.port == 3306);
    BOOST_TEST(all[0].name == "db.example:3306");
    BOOST_TEST(all[1].where.port == 1234);
    BOOST_TEST(all[2].where.host == "::1");
    BOOST_TEST(all[2].name == "[::1]:7");
    BOOST_TEST(all[3].where.path == "/run/mysqld.sock");
    BOOST_TEST(all[3].where.host.empty());
    BOOST_TEST(all[3].name == "/run/mysqld.sock");
}

BOOST_AUTO_TEST_CASE(bad_hosts_are_refused)
{
    for (const std::string bad : {"", "a b", "a:", "a:0", "a:65536", "a:x", "::1", "[::1", "a/b",
             "app:secret@db", "mysql://db", ":3306", "a\n"})
        BOOST_TEST(!refusal([&](mysql_options& o) { o.hosts = {bad}; }).empty(), bad);
    BOOST_TEST(!refusal([](mysql_options& o) { o.hosts = {}; }).empty());
    BOOST_TEST(!refusal([](mysql_options& o) { o.hosts.assign(32, "a"); }).empty());
    BOOST_TEST(!refusal([](mysql_options& o) { o.hosts = {std::string(254, 'a')}; }).empty());
    BOOST_TEST(!refusal([](mysql_options& o) { o.hosts = {"/" + std::string(107, 'a')}; }).empty());
    BOOST_TEST(refusal([](mysql_options& o) { o.hosts.assign(31, "a"); }).empty());
}

BOOST_AUTO_TEST_CASE(options_are_checked)
{
    BOOST_TEST(refusal([](mysql_options&) {}).empty());
    const auto refused = [](const std::function<void(mysql_options&)>& change) {
        return !refusal(change).empty();
    };
    for (const std::string table : {"", "A", "a b", "a;b", "1a", "a.b.c", ".a", "a.", "`a`", "a'"})
        BOOST_TEST(refused([&](mysql_options& o) { o.table = table; }), table);
    BOOST_TEST(refused([](mysql_options& o) { o.user.clear(); }));
    BOOST_TEST(refused([](mysql_options& o) { o.user = std::string("a\0b", 3); }));
    BOOST_TEST(refused([](mysql_options& o) { o.password = std::string("secret\0b", 8); }));
    BOOST_TEST(refused([](mysql_options& o) { o.database.clear(); }));
    BOOST_TEST(!refused([](mysql_options& o) {
        o.database.clear();
        o.table = "locks.holdfast_2";
    }));
    BOOST_TEST(refused([](mysql_options& o) { o.tls = mysql_tls{.certificate_file = "a"}; }));
    BOOST_TEST(refused([](mysql_options& o) { o.client_name = "a b"; }));
    BOOST_TEST(refused([](mysql_options& o) { o.client_name = std::string(64, 'a'); }));
    BOOST_TEST(refused([](mysql_options& o) { o.request_timeout = 9ms; }));
    BOOST_TEST(refused([](mysql_options& o) { o.connect_timeout = 0ms; }));
    BOOST_TEST(refused([](mysql_options& o) { o.reconnect_min = 0ms; }));
    BOOST_TEST(refused([](mysql_options& o) { o.reconnect_max = 1ms; }));
}

BOOST_AUTO_TEST_CASE(a_backend_tells_what_it_is)
{
    const auto one = mysql(good()).factory().make(1);
    BOOST_TEST(one->about().name == "mysql");
    BOOST_TEST((one->about().promise == guarantee::one_node));
    BOOST_TEST(one->descriptors().size() == 1u);
    BOOST_TEST(one->queue().is_usable());
    mysql_options several = good();
    several.hosts = {"a", "b"};
    const auto two = mysql(several).factory().make(1);
    BOOST_TEST((two->about().promise == guarantee::primary));
    BOOST_TEST(two->nodes().stats().size() == 2u);
    BOOST_TEST(two->nodes().name(1) == "b:3306");
}

BOOST_AUTO_TEST_CASE(an_empty_lease_has_no_guard)
{
    BOOST_CHECK_THROW((void)make_mysql_guard(lease()), std::invalid_argument);
    BOOST_CHECK_THROW((void)make_mysql_guard(lease(), "a b"), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
