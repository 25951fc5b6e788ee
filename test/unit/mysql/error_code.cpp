#include "mysql/error_code.hpp"

#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <string>

using namespace holdfast;
using namespace holdfast::mysql_store;
using remedy = sql::failure::remedy;

namespace {

BOOST_AUTO_TEST_SUITE(mysql_error_code)

BOOST_AUTO_TEST_CASE(errors_have_a_meaning)
{
    struct expected {
        unsigned number;
        errc reason;
        remedy what;
    };
    for (const expected& each : {
             expected{1213, errc::contended, remedy::pass_over},
             expected{1020, errc::contended, remedy::pass_over},
             {1205, errc::contended, remedy::pass_over},
             {1317, errc::no_reply, remedy::later},
             {1969, errc::no_reply, remedy::later},
             {1290, errc::misconfigured_node, remedy::reconnect},
             {1836, errc::misconfigured_node, remedy::reconnect},
             {1049, errc::misconfigured_node, remedy::reconnect},
             {1146, errc::misconfigured_node, remedy::refuse},
             {1142, errc::permission_denied, remedy::refuse},
             {1044, errc::permission_denied, remedy::reconnect},
             {1045, errc::authentication_failed, remedy::reconnect},
             {1040, errc::overloaded, remedy::reconnect},
             {1203, errc::overloaded, remedy::reconnect},
             {1927, errc::unreachable, remedy::reconnect},
             {1053, errc::unreachable, remedy::reconnect},
             {1021, errc::node_error, remedy::refuse}, // disk full
             {2013, errc::unreachable, remedy::reconnect},
             {2002, errc::unreachable, remedy::reconnect},
             {2026, errc::tls_failed, remedy::reconnect},
             {2027, errc::protocol_error, remedy::reconnect},
             {5014, errc::unreachable, remedy::reconnect},
             {0, errc::node_error, remedy::refuse},
             {65535, errc::node_error, remedy::refuse},
         }) {
        const auto found = failure_of(each.number, "text");
        BOOST_TEST((found.reason == each.reason), each.number);
        BOOST_TEST((found.what == each.what), each.number);
        BOOST_TEST(found.text == "text");
        BOOST_TEST(found.was_told == !is_of_library(each.number), each.number);
        BOOST_TEST((connection_failure_of(each.number, "").reason == each.reason));
        BOOST_TEST((connection_failure_of(each.number, "").what == remedy::reconnect));
    }
}

BOOST_AUTO_TEST_CASE(a_server_that_stands_still_is_not_wrong_about_tls)
{
    const std::string text = "TLS/SSL error: Connection timed out (" + std::to_string(ETIMEDOUT);
    BOOST_TEST((connection_failure_of(2026, text + ")").reason == errc::no_reply));
    BOOST_TEST((connection_failure_of(2026, text + "0)").reason == errc::tls_failed));
}

BOOST_AUTO_TEST_CASE(errors_of_the_library_are_known)
{
    for (const unsigned number : {2000u, 2006u, 2013u, 2999u, 5000u, 5014u})
        BOOST_TEST(is_of_library(number), number);
    for (const unsigned number : {0u, 1045u, 1999u, 3024u, 4999u, 6000u})
        BOOST_TEST(!is_of_library(number), number);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
