#include "postgresql/sqlstate.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace holdfast;
using namespace holdfast::postgresql_store;
using remedy = sql::failure::remedy;

namespace {

BOOST_AUTO_TEST_SUITE(postgresql_sqlstate)

BOOST_AUTO_TEST_CASE(errors_have_a_meaning)
{
    struct expected {
        const char* state;
        errc reason;
        remedy what;
    };
    for (const auto& [state, reason, what] : {
             expected{"40P01", errc::contended, remedy::pass_over},
             expected{"40001", errc::contended, remedy::pass_over},
             expected{"55P03", errc::contended, remedy::pass_over},
             expected{"57014", errc::no_reply, remedy::later},
             expected{"25006", errc::misconfigured_node, remedy::reconnect},
             expected{"42P01", errc::misconfigured_node, remedy::refuse},
             expected{"42501", errc::permission_denied, remedy::refuse},
             expected{"28P01", errc::authentication_failed, remedy::reconnect},
             expected{"28000", errc::authentication_failed, remedy::reconnect},
             expected{"53300", errc::overloaded, remedy::reconnect},
             expected{"53100", errc::node_error, remedy::refuse},
             expected{"57P01", errc::unreachable, remedy::reconnect},
             expected{"08006", errc::unreachable, remedy::reconnect},
             expected{"99999", errc::node_error, remedy::refuse},
             expected{"", errc::node_error, remedy::refuse},
         }) {
        const auto found = failure_of(state, "text");
        BOOST_TEST((found.reason == reason), state);
        BOOST_TEST((found.what == what), state);
        BOOST_TEST(found.text == "text");
    }
}

BOOST_AUTO_TEST_CASE(a_failed_connection_tells_its_reason_in_any_language)
{
    const std::string start = "connection to server at \"h\" (127.0.0.1), port 5432 failed: ";
    const auto refused =
        connection_failure_of(start + "FATAL:  28P01: password authentication failed\nLOCATION: x");
    BOOST_TEST((refused.reason == errc::authentication_failed));
    BOOST_TEST(refused.text == "28P01: password authentication failed");
    BOOST_TEST(
        (connection_failure_of("SCHWERWIEGEND:  53300: zu viele").reason == errc::overloaded));
    BOOST_TEST((connection_failure_of("FATAL:  42501: no").what == remedy::reconnect));
    BOOST_TEST(
        (connection_failure_of(start + "Connection refused\n\tIs the server running?").reason ==
            errc::unreachable));
    BOOST_TEST((connection_failure_of("fe_sendauth: no password supplied").reason ==
                errc::authentication_failed));
    BOOST_TEST((connection_failure_of("server does not support SSL").reason == errc::tls_failed));
    BOOST_TEST((connection_failure_of("").reason == errc::unreachable));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
