#include "etcd/session.hpp"

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
namespace core = holdfast::core;
using holdfast::etcd_store::session;

namespace {

struct granted_session {
    granted_session()
    {
        s.users().enter();
        s.asks(1);
        s.granted(7, 10, at(0s));
    }
    static core::time_point at(core::duration d) { return core::time_point(1000s) + d; }

    session s{10};
};

BOOST_FIXTURE_TEST_SUITE(etcd_session, granted_session)

BOOST_AUTO_TEST_CASE(it_counts_from_before_the_request)
{
    BOOST_TEST(s.lease() == 7);
    BOOST_TEST((s.ends() == at(10s)));
    BOOST_TEST((s.next_at() == at(core::duration(10s) / 3)));
}

BOOST_AUTO_TEST_CASE(answers_belong_to_requests_in_order)
{
    s.kept().sent(3, at(3s));
    s.kept().sent(3, at(4s));
    BOOST_TEST((s.kept().waits_since() == at(3s)));
    BOOST_TEST((s.confirm(10) == at(3s)));
    BOOST_TEST((s.ends() == at(13s)));
    BOOST_TEST((s.kept().waits_since() == at(4s)));
    BOOST_TEST((s.confirm(10) == at(4s)));
    BOOST_TEST((s.ends() == at(14s)));
    BOOST_TEST(!s.confirm(10).has_value());
}

BOOST_AUTO_TEST_CASE(an_unanswered_request_extends_nothing)
{
    s.kept().sent(3, at(3s));
    s.disconnected();
    BOOST_TEST((s.ends() == at(10s)));
    BOOST_TEST(s.is_alive());
    BOOST_TEST(s.kept().call() == 0);
    BOOST_TEST((s.kept().waits_since() == core::never));
}

BOOST_AUTO_TEST_CASE(a_claim_may_rely_on_the_shorter_of_its_ttl_and_the_session)
{
    const auto fresh = s.valid_for(8s, 100ms, at(1s));
    BOOST_TEST((fresh.until == at(9s) - 100ms));
    const auto old = s.valid_for(10s, 100ms, at(4s));
    BOOST_TEST((old.until == at(10s) - 100ms));
    BOOST_TEST((old.asked == at(4s)));
}

// The clock of the server is wrong for as long as its lease lasts.
BOOST_AUTO_TEST_CASE(drift_is_subtracted_for_the_whole_lease)
{
    BOOST_TEST((s.valid_for(2s, 100ms, at(9s)).until == at(9500ms)));
    BOOST_TEST((s.valid_for(2s, 100ms, at(1s)).until == at(2900ms)));
}

BOOST_AUTO_TEST_CASE(a_lost_session_is_worth_nothing)
{
    s.lost();
    BOOST_TEST(!s.is_alive());
    BOOST_TEST((s.ends() == core::long_ago));
    BOOST_TEST((s.next_at() == core::never));
}

BOOST_AUTO_TEST_CASE(it_can_be_given_back_when_nobody_has_needed_it_for_long)
{
    BOOST_TEST((s.users().idle_at() == core::never));
    s.users().leave(at(1s));
    BOOST_TEST((s.users().idle_at() == at(31s)));
    BOOST_TEST((s.next_at() == at(core::duration(10s) / 3)));
    s.kept().sent(1, at(30s));
    BOOST_TEST((s.next_at() == at(31s)));
    s.users().enter();
    BOOST_TEST((s.users().idle_at() == core::never));
}

BOOST_AUTO_TEST_CASE(it_is_needed_until_the_last_claim_has_left)
{
    s.users().enter();
    s.users().leave(at(1s));
    BOOST_TEST(s.users().any());
    s.users().leave(at(2s));
    BOOST_TEST(!s.users().any());
}

BOOST_AUTO_TEST_CASE(on_another_connection_it_is_kept_alive_at_once)
{
    s.kept().sent(3, at(3s));
    s.disconnected();
    BOOST_TEST((s.next_at() == core::long_ago));
    s.kept().sent(4, at(4s));
    BOOST_TEST((s.confirm(10) == at(4s))); // the request on the old one has no answer here
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
