#include "etcd/failure.hpp"

#include <boost/test/unit_test.hpp>

#include <string_view>

using holdfast::errc;
using holdfast::etcd_store::failure;
using holdfast::etcd_store::failure_of;
using remedy = failure::remedy;
using effect = failure::effect;

namespace {

BOOST_AUTO_TEST_SUITE(etcd_failure)

bool is(const failure& f, errc reason, remedy helps, effect had)
{
    return f.reason == reason && f.helps == helps && f.had == had;
}

// As etcd says them.
BOOST_AUTO_TEST_CASE(errors_that_prove_that_nothing_ran)
{
    BOOST_TEST(is(failure_of(5, "etcdserver: requested lease not found"), errc::unreachable,
        remedy::new_lease, effect::none));
    BOOST_TEST(is(failure_of(7, "etcdserver: permission denied"), errc::permission_denied,
        remedy::none, effect::none));
    BOOST_TEST(is(failure_of(16, "etcdserver: invalid auth token"), errc::unreachable,
        remedy::login_again, effect::none));
    BOOST_TEST(is(failure_of(3, "etcdserver: revision of auth store is old"), errc::unreachable,
        remedy::login_again, effect::none));
    BOOST_TEST(is(failure_of(3, "etcdserver: authentication failed, invalid user ID or password"),
        errc::authentication_failed, remedy::none, effect::none));
    BOOST_TEST(is(failure_of(3, "etcdserver: user name is empty"), errc::authentication_failed,
        remedy::login_again, effect::none));
    BOOST_TEST(is(failure_of(8, "etcdserver: too many requests"), errc::overloaded, remedy::later,
        effect::none));
}

// A server without space may have executed the transaction that it refuses.
BOOST_AUTO_TEST_CASE(a_refused_transaction_that_may_have_been_executed)
{
    BOOST_TEST(is(failure_of(8, "etcdserver: mvcc: database space exceeded"), errc::node_error,
        remedy::none, effect::possible));
}

BOOST_AUTO_TEST_CASE(all_others_may_have_run)
{
    for (const int status : {-1, 1, 2, 4, 10, 13, 14, 99})
        BOOST_TEST(is(failure_of(status, "etcdserver: leader changed"), errc::unreachable,
            remedy::other_member, effect::possible_later));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
