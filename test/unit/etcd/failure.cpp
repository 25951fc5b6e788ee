#include "etcd/failure.hpp"

#include <boost/test/unit_test.hpp>

#include <string_view>

using holdfast::errc;
using holdfast::etcd_store::failure;
using holdfast::etcd_store::failure_of;
using remedy = failure::remedy;

namespace {

BOOST_AUTO_TEST_SUITE(etcd_failure)

bool is(const failure& f, errc reason, remedy helps, bool may_have_run)
{
    return f.reason == reason && f.helps == helps && f.may_have_run == may_have_run;
}

// As etcd says them.
BOOST_AUTO_TEST_CASE(errors_that_prove_that_nothing_ran)
{
    BOOST_TEST(is(failure_of(5, "etcdserver: requested lease not found"), errc::unreachable,
        remedy::new_lease, false));
    BOOST_TEST(is(failure_of(7, "etcdserver: permission denied"), errc::permission_denied,
        remedy::none, false));
    BOOST_TEST(is(failure_of(16, "etcdserver: invalid auth token"), errc::unreachable,
        remedy::login_again, false));
    BOOST_TEST(is(failure_of(3, "etcdserver: revision of auth store is old"), errc::unreachable,
        remedy::login_again, false));
    BOOST_TEST(is(failure_of(3, "etcdserver: authentication failed, invalid user ID or password"),
        errc::authentication_failed, remedy::none, false));
    BOOST_TEST(is(failure_of(8, "etcdserver: mvcc: database space exceeded"), errc::node_error,
        remedy::none, false));
    BOOST_TEST(
        is(failure_of(8, "etcdserver: too many requests"), errc::overloaded, remedy::later, false));
}

BOOST_AUTO_TEST_CASE(all_others_may_have_run)
{
    for (const int status : {-1, 1, 2, 4, 10, 13, 14, 99})
        BOOST_TEST(is(failure_of(status, "etcdserver: leader changed"), errc::unreachable,
            remedy::other_member, true));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
