#include <holdfast/lease.hpp>
#include <holdfast/postgresql.hpp>

#include "core/backend.hpp"
#include "postgresql/conninfo.hpp"
#include "postgresql/statements.hpp"

#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>

using namespace std::chrono_literals;
using namespace holdfast;
using holdfast::postgresql_store::parse_conninfo;

namespace {

std::string refusal(const std::string& conninfo, const postgresql_options& options = {})
{
    try {
        postgresql(conninfo, options);
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return {};
}

BOOST_AUTO_TEST_SUITE(postgresql_options_and_strings)

BOOST_AUTO_TEST_CASE(connection_strings_name_servers)
{
    const auto one = parse_conninfo("postgresql://app:secret@db.example:1234/shop");
    BOOST_REQUIRE(one.servers.size() == 1u);
    BOOST_TEST(one.servers[0].where.host == "db.example");
    BOOST_TEST(one.servers[0].where.port == 1234);
    BOOST_TEST(one.servers[0].name == "db.example:1234");

    const auto three = parse_conninfo("host=a,b,c port=1,2,3 dbname=x");
    BOOST_REQUIRE(three.servers.size() == 3u);
    BOOST_TEST(three.servers[1].where.host == "b");
    BOOST_TEST(three.servers[2].where.port == 3);

    const auto local = parse_conninfo("host=/run/postgresql");
    BOOST_TEST(local.servers[0].where.path == "/run/postgresql");
    BOOST_TEST(local.servers[0].name == "/run/postgresql:5432");

    const auto address = parse_conninfo("hostaddr=::1 port=7");
    BOOST_TEST(address.servers[0].where.host == "::1");
    BOOST_TEST(address.servers[0].name == "[::1]:7");
}

// Metrics would have the same labels twice otherwise.
BOOST_AUTO_TEST_CASE(servers_with_the_same_host_name_have_different_names)
{
    const auto two = parse_conninfo("host=db,db hostaddr=10.0.0.1,10.0.0.2");
    BOOST_TEST(two.servers[0].name == "db:5432 (10.0.0.1)");
    BOOST_TEST(two.servers[1].name == "db:5432 (10.0.0.2)");
    BOOST_TEST(two.servers[1].host == "db");
    BOOST_TEST(parse_conninfo("host=db hostaddr=10.0.0.1").servers[0].name == "db:5432");
}

BOOST_AUTO_TEST_CASE(bad_connection_strings_are_refused_without_repeating_them)
{
    for (const std::string bad : {"secret", "host", "host=a hidden=1", "postgresql://a:b:c/secret",
             "host=a port=secret", "host=a port=0", "host=a port=65536", "host=a,b port=1,2,3",
             "host=a,b hostaddr=1.2.3.4", "service=secret", "password='secret"}) {
        const std::string why = refusal(bad);
        BOOST_TEST(why.starts_with("holdfast: postgresql: the connection string "), bad);
        BOOST_TEST(why.find("secret") == std::string::npos);
    }
    BOOST_TEST(!refusal(std::string("host=a\0b", 8)).empty());
    BOOST_TEST(!refusal("host=" + std::string(70'000, 'a')).empty());
    std::string many = "host=a";
    for (int i = 0; i < 31; ++i)
        many += ",a";
    BOOST_TEST(!refusal(many).empty());
}

BOOST_AUTO_TEST_CASE(options_are_checked)
{
    const std::string where = "host=a";
    for (const std::string table :
        {"", "A", "a b", "a;b", "1a", "a.b.c", ".a", "a.", "\"a\"", "a'"})
        BOOST_TEST(!refusal(where, {.table = table}).empty(), table);
    BOOST_TEST(!refusal(where, {.table = std::string(64, 'a')}).empty());
    BOOST_TEST(refusal(where, {.table = "locks.holdfast_2"}).empty());
    BOOST_TEST(!refusal(where, {.client_name = "a b"}).empty());
    BOOST_TEST(!refusal(where, {.client_name = std::string(64, 'a')}).empty());
    BOOST_TEST(!refusal(where, {.request_timeout = 9ms}).empty());
    BOOST_TEST(!refusal(where, {.connect_timeout = 0ms}).empty());
    BOOST_TEST(!refusal(where, {.reconnect_min = 0ms}).empty());
    BOOST_TEST(!refusal(where, {.reconnect_min = 3s, .reconnect_max = 2s}).empty());
    BOOST_TEST(refusal("postgresql://u@a,b/d", {.client_name = ""}).empty());
}

BOOST_AUTO_TEST_CASE(a_backend_tells_what_it_is)
{
    const auto one = postgresql("host=a").factory().make(1);
    BOOST_TEST(one->about().name == "postgresql");
    BOOST_TEST((one->about().promise == guarantee::one_node));
    BOOST_TEST(one->descriptors().size() == 1u);
    BOOST_TEST(one->queue().is_usable());
    const auto two = postgresql("host=a,b").factory().make(1);
    BOOST_TEST((two->about().promise == guarantee::primary));
    BOOST_TEST(two->nodes().stats().size() == 2u);
    BOOST_TEST(two->nodes().name(1) == "b:5432");
}

BOOST_AUTO_TEST_CASE(an_empty_lease_has_no_guard)
{
    BOOST_CHECK_THROW((void)guard(lease()), std::invalid_argument);
    BOOST_CHECK_THROW((void)guard(lease(), "a b"), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
