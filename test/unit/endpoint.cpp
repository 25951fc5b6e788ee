#include <holdfast/endpoint.hpp>

#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>

using holdfast::endpoint;
using transport = endpoint::transport;

BOOST_AUTO_TEST_SUITE(values_endpoint)

// The parts of valid URLs.
BOOST_AUTO_TEST_CASE(good_urls)
{
    const struct {
        const char* url;
        transport via;
        const char *host, *path, *user, *password;
        unsigned port, database;
        const char* address;
    } table[] = {
        {"redis://a", transport::tcp, "a", "", "", "", 6379, 0, "a:6379"},
        {"redis://a:1", transport::tcp, "a", "", "", "", 1, 0, "a:1"},
        {"redis://a/", transport::tcp, "a", "", "", "", 6379, 0, "a:6379"},
        {"redis://a:65535/15", transport::tcp, "a", "", "", "", 65535, 15, "a:65535/15"},
        {"rediss://a", transport::tls, "a", "", "", "", 6379, 0, "a:6379"},
        {"redis://u:p@a", transport::tcp, "a", "", "u", "p", 6379, 0, "a:6379"},
        {"redis://:p@a", transport::tcp, "a", "", "", "p", 6379, 0, "a:6379"},
        {"redis://u:p%40%2F%3a@a", transport::tcp, "a", "", "u", "p@/:", 6379, 0, "a:6379"},
        {"redis://u:p:q@a", transport::tcp, "a", "", "u", "p:q", 6379, 0, "a:6379"},
        {"redis://[::1]:7000", transport::tcp, "::1", "", "", "", 7000, 0, "[::1]:7000"},
        {"redis://[::1]", transport::tcp, "::1", "", "", "", 6379, 0, "[::1]:6379"},
        {"unix:///run/r.sock", transport::unix_socket, "", "/run/r.sock", "", "", 0, 0,
            "/run/r.sock"},
        {"unix://u:p@/r%20s", transport::unix_socket, "", "/r s", "u", "p", 0, 0, "/r s"},
    };
    for (const auto& row : table) {
        BOOST_TEST_CONTEXT(row.url)
        {
            const endpoint e(row.url);
            BOOST_TEST((e.via() == row.via));
            BOOST_TEST(e.host() == row.host);
            BOOST_TEST(e.path() == row.path);
            BOOST_TEST(e.user() == row.user);
            BOOST_TEST(e.password() == row.password);
            BOOST_TEST(e.port() == row.port);
            BOOST_TEST(e.database() == row.database);
            BOOST_TEST(e.address() == row.address);
        }
    }
}

// Every invalid URL is refused. The message says what is wrong and never contains the password.
BOOST_AUTO_TEST_CASE(bad_urls)
{
    const struct {
        const char *url, *names;
    } table[] = {
        {"", "scheme"},
        {"localhost:6379", "scheme"},
        {"http://:s3cret@a", "scheme"},
        {"s3cret://a", "scheme"},
        {"redis://", "host"},
        {"redis://:s3cret@", "host"},
        {"redis://:s3cret@:7000", "host"},
        {"redis://:s3cret@a b", "host"},
        {"redis://a:", "port"},
        {"redis://:s3cret@a:0", "port"},
        {"redis://:s3cret@a:65536", "port"},
        {"redis://:s3cret@a:-1", "port"},
        {"redis://:s3cret@a:70x", "port"},
        {"redis://:s3cret@a/x", "database"},
        {"redis://:s3cret@a/-1", "database"},
        {"redis://:s3cret@a/0/1", "database"},
        {"redis://:s3cret@a/99999999999999", "database"},
        {"redis://u%zz:s3cret@a", "user name has a '%'"},
        {"redis://user@a", "password"},
        {"redis://user:@a", "password"},
        {"redis://:s3cret%4@a", "password has a '%'"},
        {"redis://:s3cret%zz@a", "password has a '%'"},
        {"redis://:s3cret?x@a", "'?' or '#'"},
        {"redis://:s3cret#x@a", "'?' or '#'"},
        {"redis://:s3cret@::1", "brackets"},
        {"redis://:s3cret@[::1", "not closed"},
        {"redis://:s3cret@[::1]7000", "after the bracketed address"},
        {"unix://:s3cret@", "path"},
        {"unix:///", "path"},
        {"unix://:s3cret@host/path", "no host"},
    };
    for (const auto& row : table) {
        BOOST_TEST_CONTEXT(row.url)
        {
            try {
                endpoint e(row.url);
                BOOST_ERROR("was accepted as " << e.address());
            } catch (const std::invalid_argument& refusal) {
                const std::string what = refusal.what();
                BOOST_TEST(what.starts_with("holdfast: "));
                BOOST_TEST(what.find(row.names) != std::string::npos, what);
                BOOST_TEST(what.find("s3cret") == std::string::npos, what);
            }
        }
    }
}

// A path that does not fit into a socket address is refused here, not when connecting.
BOOST_AUTO_TEST_CASE(socket_paths_have_a_limit)
{
    const std::string longest = "/" + std::string(106, 'x');
    BOOST_TEST(holdfast::endpoint("unix://" + longest).path() == longest);
    BOOST_CHECK_THROW(holdfast::endpoint("unix://" + longest + "x"), std::invalid_argument);
    BOOST_CHECK_THROW(holdfast::endpoint("unix:///a%00b"), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
