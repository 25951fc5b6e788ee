// What is said about the cause of an error.
#include "core/explanation.hpp"

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <string>

using namespace holdfast;
using core::explanation_of;

namespace {

const std::string nodes = "127.0.0.1:7001: connection refused";

} // namespace

BOOST_AUTO_TEST_SUITE(core_explanation)

BOOST_AUTO_TEST_CASE(errors_that_nodes_can_cause)
{
    for (const errc e : {errc::unreachable, errc::too_late, errc::contended, errc::lease_lost,
             errc::misconfigured_node, errc::key_conflict, errc::overloaded})
        BOOST_TEST(explanation_of("A", e, false, nodes) == "A: " + nodes);
    BOOST_TEST(explanation_of("A", errc::unreachable, false, "") == "A");
}

BOOST_AUTO_TEST_CASE(errors_that_nodes_cannot_cause)
{
    BOOST_TEST(explanation_of("A", errc::closed, true, nodes) == "A");
    BOOST_TEST(explanation_of("A", errc::not_held, true, nodes) == "A");
    BOOST_TEST(explanation_of("A", asio::error::operation_aborted, true, nodes) == "A");
}

// Only a wait can be for oneself.
BOOST_AUTO_TEST_CASE(the_own_lease)
{
    const std::string own = "A: a lease of this locker holds the resource; "
                            "a holder that acquires it again waits for itself";
    BOOST_TEST(explanation_of("A", errc::contended, true, "") == own);
    BOOST_TEST(explanation_of("A", errc::contended, true, nodes) == own + ": " + nodes);
    BOOST_TEST(explanation_of("A", errc::unreachable, true, "") == "A");
}

// A name is any bytes, and may be long: the text fits into one line of a log.
BOOST_AUTO_TEST_CASE(names)
{
    BOOST_TEST(explanation_of("a\nb\\\x80", errc::closed, false, "") == "a\\x0ab\\x5c\\x80");
    BOOST_TEST(explanation_of(std::string(512, 'n'), errc::closed, false, "") ==
               std::string(160, 'n') + "...");
}

BOOST_AUTO_TEST_SUITE_END()
