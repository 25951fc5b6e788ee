#include "etcd/outgoing.hpp"

#include <boost/test/unit_test.hpp>

using holdfast::etcd_store::outgoing;

namespace {

BOOST_AUTO_TEST_SUITE(etcd_outgoing)

BOOST_AUTO_TEST_CASE(bytes_leave_in_order)
{
    outgoing out;
    out.text() += "abc";
    out.sent(2);
    BOOST_TEST(out.unsent() == "c");
    out.text() += "de";
    BOOST_TEST(out.unsent() == "cde");
    out.sent(3);
    BOOST_TEST(out.unsent().empty());
    BOOST_TEST(out.text().empty()); // what was sent is not kept
    out.text() += "f";
    BOOST_TEST(out.unsent() == "f");
}

BOOST_AUTO_TEST_CASE(a_new_connection_begins_with_nothing)
{
    outgoing out;
    out.text() += "abc";
    out.sent(1);
    out.clear();
    BOOST_TEST(out.unsent().empty());
    out.text() += "d";
    BOOST_TEST(out.unsent() == "d");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
