// What a holder is told of others that wait.
#include "unit/sql/world.hpp"

#include <array>

namespace {

using namespace holdfast;
using namespace holdfast::test;
using core::event_kind;
using sql::action;

// `a` has the resource, and wants to know when others wait for it.
struct watching_world : sql_world {
    core::claim_id hold_and_watch(bool lingers = true)
    {
        const core::claim_id id = a.ask(1, "a", core::queueing::if_contended, 9s, lingers);
        a.serve();
        BOOST_TEST(a.is_event(event_kind::granted, 1));
        a.core.queue().report_waiters(id, now);
        a.settle();
        return id;
    }
    std::string name_of_a() const { return model.rows.at("a").owner; }
};

BOOST_FIXTURE_TEST_SUITE(sql_waiters, watching_world)

BOOST_AUTO_TEST_CASE(a_renewal_asks_whether_others_wait_already)
{
    const auto held = hold_and_watch();
    BOOST_TEST(a.sends(action::renew, 1));
    a.serve();
    BOOST_TEST(a.is_event(event_kind::validity, 1)); // nobody does
    BOOST_TEST(a.core.queue().reports_waiters(held));
    queue();
    const std::array claims{held};
    a.core.renew(claims, false, now);
    a.serve();
    BOOST_REQUIRE(a.events.size() == 2u);
    BOOST_TEST((a.events[0].kind == event_kind::validity));
    BOOST_TEST((a.events[1].kind == event_kind::remote_waiters));
    BOOST_TEST(a.events[1].tag == 1u);
    BOOST_TEST(!a.core.queue().reports_waiters(held));
}

// A claim that may not be renewed looks instead.
BOOST_AUTO_TEST_CASE(a_claim_that_is_not_renewed_looks_once)
{
    core::claim_params terms{.ttl = 9s, .drift = 10ms, .guard = 100ms};
    terms.lingers = terms.whole_ttl = true;
    const auto held = a.core.attempt(1, "a", token_for(1, 'a'), terms, now);
    a.serve();
    BOOST_TEST(a.is_event(event_kind::granted, 1));
    BOOST_TEST(name_of_a() == a.owner(1) + "@w");
    const auto end = model.rows.at("a").expires_at;
    pass(1s);
    a.core.queue().report_waiters(held, now);
    a.settle();
    BOOST_TEST(a.sends(action::watch, 1));
    a.serve();
    BOOST_TEST(a.events.empty());
    BOOST_TEST(model.rows.at("a").expires_at == end);
    pass(1s);
    BOOST_TEST(!a.database->under_way());
    a.database->tell_waiters(name_of_a());
    BOOST_TEST(a.is_event(event_kind::remote_waiters, 1));
}

BOOST_AUTO_TEST_CASE(a_waiter_tells_it_once)
{
    const auto held = hold_and_watch();
    a.serve();
    a.events.clear();
    BOOST_TEST(name_of_a() == a.owner(1) + "@w");
    a.database->tell_waiters(name_of_a());
    BOOST_TEST(a.is_event(event_kind::remote_waiters, 1));
    a.database->tell_waiters(name_of_a());
    a.settle();
    BOOST_TEST(a.events.empty());
    a.core.queue().report_waiters(held, now); // it is known
    BOOST_TEST(a.is_event(event_kind::remote_waiters, 1));
    BOOST_TEST(!a.database->under_way());
}

BOOST_AUTO_TEST_CASE(a_waiter_is_known_before_anybody_asks)
{
    const auto held = a.ask(1, "a", core::queueing::if_contended, 9s, true);
    a.serve();
    a.events.clear();
    a.database->tell_waiters(name_of_a());
    a.settle();
    BOOST_TEST(a.events.empty());
    a.core.queue().report_waiters(held, now);
    BOOST_TEST(a.is_event(event_kind::remote_waiters, 1));
}

BOOST_AUTO_TEST_CASE(a_waiter_that_has_left_is_forgotten_with_the_next_renewal)
{
    const auto held = a.ask(1, "a", core::queueing::if_contended, 9s, true);
    a.serve();
    a.database->tell_waiters(name_of_a());
    const std::array claims{held};
    a.core.renew(claims, false, now);
    a.serve();
    a.events.clear();
    a.core.queue().report_waiters(held, now);
    a.settle();
    BOOST_TEST(a.events.empty());
    BOOST_TEST(a.sends(action::renew, 1));
}

BOOST_AUTO_TEST_CASE(after_another_connection_it_asks_again)
{
    hold_and_watch();
    a.serve();
    a.events.clear();
    queue();
    a.database->disconnect(now);
    a.database->connect(now);
    a.serve();
    BOOST_REQUIRE(a.events.size() == 2u);
    BOOST_TEST((a.events[1].kind == event_kind::remote_waiters));
}

BOOST_AUTO_TEST_CASE(an_owner_that_does_not_linger_has_no_mark_and_learns_from_renewals)
{
    const auto held = hold_and_watch(false);
    a.serve();
    a.events.clear();
    BOOST_TEST(name_of_a() == a.owner(1));
    queue();
    const std::array claims{held};
    a.core.renew(claims, false, now);
    a.serve();
    BOOST_REQUIRE(a.events.size() == 2u);
    BOOST_TEST((a.events[1].kind == event_kind::remote_waiters));
}

BOOST_AUTO_TEST_CASE(news_of_a_claim_that_is_over_is_ignored)
{
    const auto held = hold_and_watch();
    a.serve();
    const std::string name = name_of_a();
    a.core.release(held, now);
    a.database->tell_waiters(name);
    a.serve();
    a.events.clear();
    a.database->tell_waiters(name);
    a.settle();
    BOOST_TEST(a.events.empty());
    BOOST_TEST(!a.core.queue().reports_waiters(held));
    a.core.queue().report_waiters(held, now);
    a.settle();
    BOOST_TEST(a.events.empty());
}

// A waiter that asked for news as a holder is told its turn like others.
BOOST_AUTO_TEST_CASE(a_waiter_with_a_mark_is_told_its_turn)
{
    const auto held = hold();
    b.ask(2, "a", core::queueing::if_contended, 9s, true);
    b.serve();
    b.events.clear();
    a.core.release(held, now);
    a.serve();
    BOOST_TEST(model.turns().at(0).owner == b.owner(2) + "@w");
    b.database->tell({b.owner(2) + "@w", model.rows.at("a").tokens}, now);
    BOOST_TEST(b.is_event(event_kind::granted, 2));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
