#include "core/member_record.hpp"

#include <boost/test/unit_test.hpp>

using holdfast::errc;
using holdfast::make_error_code;
using holdfast::core::member_record;

namespace {

BOOST_AUTO_TEST_SUITE(core_member_record)

BOOST_AUTO_TEST_CASE(a_failure_is_told_until_the_member_works)
{
    member_record r("m");
    r.failed(errc::no_reply, make_error_code(errc::no_reply), "silent");
    BOOST_TEST((r.trouble() == errc::no_reply));
    const auto told = r.told(false, true);
    BOOST_TEST(told.address == "m");
    BOOST_TEST(told.name == "m");
    BOOST_TEST(!told.connected);
    BOOST_TEST(told.last_error == make_error_code(errc::no_reply));
    BOOST_TEST(told.reason == "silent");
    r.worked();
    BOOST_TEST((r.trouble() == errc{}));
    BOOST_TEST(!r.told(true, true).last_error);
    BOOST_TEST(r.told(true, true).reason.empty());
}

BOOST_AUTO_TEST_CASE(a_member_without_a_connection_is_explained)
{
    const member_record r("m");
    BOOST_TEST(r.told(false, false).reason == "not used now");
    BOOST_TEST(r.told(false, true).reason == "connecting");
    BOOST_TEST(r.told(true, true).reason.empty());
    BOOST_TEST(r.told(true, true).connected);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
