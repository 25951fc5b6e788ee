#include "unit/etcd/world.hpp"

using namespace holdfast;
using namespace holdfast::test;
using core::event_kind;

namespace {

BOOST_FIXTURE_TEST_SUITE(etcd_lock_troubles, etcd_pair)

BOOST_AUTO_TEST_CASE(a_session_that_the_server_ended_is_lost)
{
    hold();
    queue();
    model.revoke_all();
    a.pass(3s);
    a.serve();
    BOOST_TEST(a.is_event(event_kind::lost, 1));
    b.pass(3s);
    b.serve();
    BOOST_TEST(b.is_event(event_kind::granted, 2)); // asked anew
    BOOST_TEST(keys() == 1u);
}

BOOST_AUTO_TEST_CASE(an_answer_that_comes_after_the_loss_of_the_session_grants_nothing)
{
    const auto held = hold();
    a.ask(2, "b");
    a.server().execute(a.now); // the key is there, and is deleted with the session
    model.revoke_all();
    a.pass(1ms); // the session was confirmed just now
    const std::array claims{held};
    a.core.renew(claims, true, a.now);
    a.settle();
    a.server().execute(a.now);
    std::swap(a.server().waiting().front(), a.server().waiting().back());
    a.server().answer(); // the session is lost
    a.settle();
    BOOST_TEST(a.is_event(event_kind::lost, 1));
    a.server().answer();
    a.settle();
    BOOST_TEST(a.events.empty());
    a.serve();
    BOOST_TEST(a.is_event(event_kind::granted, 2));
    BOOST_TEST(keys() == 1u);
}

BOOST_AUTO_TEST_CASE(a_turn_under_an_old_confirmation_is_granted_when_it_is_renewed)
{
    const auto held = hold();
    queue();
    b.reachable = false;
    b.pass(2s);
    b.now += 4s; // no keepalive is answered meanwhile
    a.core.release(held, a.now);
    a.serve();
    b.reachable = true;
    b.server().tell_watches();
    b.settle();
    BOOST_TEST(b.events.empty());
    const auto confirmed = b.now;
    b.serve();
    const auto e = b.event();
    BOOST_TEST((e.kind == event_kind::granted));
    BOOST_TEST((e.valid.until <= confirmed + 9s - 10ms));
    BOOST_TEST((e.valid.until > confirmed + 8s));
}

BOOST_AUTO_TEST_CASE(a_silent_member_is_left_for_another_one)
{
    etcd_client c(model, 3);
    const auto before = c.core.nodes().stats();
    c.ask(1);
    BOOST_TEST(c.events.empty());
    c.pass(2s); // a quarter of the ttl, at most 2 s
    c.serve();
    BOOST_TEST(c.is_event(event_kind::granted, 1));
    std::uint64_t timeouts = 0;
    for (const node_stats& each : c.core.nodes().stats())
        timeouts += each.timeouts;
    BOOST_TEST(timeouts == 1u);
}

// The host takes the connection, but the member stands still.
BOOST_AUTO_TEST_CASE(a_member_that_does_not_answer_the_login_is_left_for_another_one)
{
    etcd_client c(model, 3, 1, "user");
    BOOST_TEST(c.requests() == std::vector<std::string>{"Authenticate"});
    c.pass(999ms);
    BOOST_TEST(c.old.empty());
    c.pass(1ms); // connect_timeout
    BOOST_TEST(c.old.size() == 1u);
    BOOST_TEST(c.requests() == std::vector<std::string>{"Authenticate"}); // of another one
    c.server().fail(3, "etcdserver: authentication is not enabled");
    c.settle();
    c.ask(1);
    c.serve();
    BOOST_TEST(c.is_event(event_kind::granted, 1));
    c.pass(2s);
    BOOST_TEST(c.old.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_member_that_does_not_take_the_connection_is_left_for_another_one)
{
    etcd_client c(model, 3);
    c.ask(1);
    c.serve();
    c.events.clear();
    c.reachable = false;
    c.cut(static_cast<std::size_t>(std::find_if(c.links.begin(), c.links.end(), [](const auto& l) {
        return l != nullptr;
    }) - c.links.begin()));
    c.settle();
    const auto opens = [&c] {
        std::vector<bool> all;
        for (core::connection* each : c.core.connections())
            all.push_back(each->wants_open());
        return all;
    };
    const auto first = opens();
    BOOST_TEST(std::count(first.begin(), first.end(), true) == 1);
    c.pass(1s);
    const auto second = opens();
    BOOST_TEST(std::count(second.begin(), second.end(), true) == 1);
    BOOST_TEST((first != second));
}

// It may be that only this one cannot begin: the store has no space left, or is busy.
BOOST_AUTO_TEST_CASE(a_session_that_is_refused_leaves_others_alone)
{
    hold();
    a.ask(2, "b", core::queueing::if_contended, 20s);
    BOOST_TEST(a.requests() == std::vector<std::string>{"LeaseGrant"});
    a.server().fail(8, "etcdserver: mvcc: database space exceeded");
    a.settle();
    const auto e = a.event();
    BOOST_TEST((e.kind == event_kind::refused));
    BOOST_TEST(e.tag == 2u);
    BOOST_TEST((e.reason == errc::node_error));
    BOOST_TEST(a.old.empty()); // the connection stays
    a.ask(3, "b", core::queueing::if_contended, 20s);
    a.serve();
    BOOST_TEST(a.is_event(event_kind::granted, 3));
}

BOOST_AUTO_TEST_CASE(the_key_that_bars_a_late_request_is_deleted_although_a_connection_breaks)
{
    hold();
    const auto id = a.ask(2, "b");
    a.cut(0); // perhaps the request is still executed
    a.core.abandon(id, a.now);
    a.pass(100ms);
    a.serve();
    BOOST_TEST(keys() == 2u); // the lock, and the barrier
    for (int i = 0; i < 304; ++i) {
        a.pass(2s);
        if (!a.requests().empty() && a.requests().back() == "DeleteRange")
            break;
        a.serve();
        BOOST_REQUIRE(i < 303);
    }
    a.cut(0);
    a.pass(100ms);
    a.serve();
    BOOST_TEST(keys() == 1u);
}

BOOST_AUTO_TEST_CASE(without_a_member_attempts_end)
{
    etcd_client c(model, 2);
    c.cut(0);
    if (c.links[1] != nullptr)
        c.cut(1);
    c.reachable = false;
    c.events.clear();
    const auto id = c.ask(1);
    BOOST_TEST((c.core.pending_error(id) == errc::unreachable));
    c.pass(10s);
    const auto e = c.event();
    BOOST_TEST((e.kind == event_kind::refused));
    BOOST_TEST((e.reason == errc::unreachable));
    BOOST_TEST(c.core.cleanup().is_done());
}

BOOST_AUTO_TEST_CASE(a_store_that_goes_back_is_refused)
{
    const auto held = hold();
    a.core.release(held, a.now);
    a.serve();
    a.events.clear();
    model.go_back(0);
    a.ask(2);
    a.serve();
    BOOST_REQUIRE(!a.events.empty());
    BOOST_TEST((a.events.front().kind == event_kind::refused));
    BOOST_TEST((a.events.front().reason == errc::misconfigured_node));
}

BOOST_AUTO_TEST_CASE(a_member_of_another_cluster_is_refused)
{
    hold();
    model.cluster = 78;
    a.ask(2, "b");
    a.serve();
    BOOST_REQUIRE(!a.events.empty());
    BOOST_TEST((a.events.front().reason == errc::misconfigured_node));
}

BOOST_AUTO_TEST_CASE(errors_of_the_server_are_told)
{
    hold();
    b.ask(2);
    b.server().execute(b.now);
    b.server().answer(); // the session
    b.settle();
    b.server().fail(7, "etcdserver: permission denied");
    b.settle();
    const auto e = b.event();
    BOOST_TEST((e.kind == event_kind::refused));
    BOOST_TEST((e.reason == errc::permission_denied));
    BOOST_TEST(b.core.cleanup().is_done());
}

// Otherwise the key would stay as long as other locks of this process need the session.
BOOST_AUTO_TEST_CASE(an_attempt_that_was_executed_without_space_leaves_no_key)
{
    hold();
    for (const bool abandons : {false, true}) {
        b.events.clear();
        const auto id = b.ask(2, "b");
        if (!abandons) {
            b.server().execute(b.now);
            b.server().answer(); // the session
            b.settle();
        }
        b.server().execute(b.now);
        BOOST_TEST(keys() == 2u);
        if (abandons)
            b.core.abandon(id, b.now);
        b.server().fail(8, "etcdserver: mvcc: database space exceeded");
        b.settle();
        BOOST_TEST(b.requests() == std::vector<std::string>{"DeleteRange"});
        b.serve();
        if (!abandons)
            BOOST_TEST((b.event().reason == errc::node_error));
        BOOST_TEST(keys() == 1u);
        BOOST_TEST(b.core.cleanup().is_done());
    }
}

BOOST_AUTO_TEST_CASE(it_logs_in_when_authentication_is_switched_on)
{
    etcd_client c(model, 1, 1, "user");
    BOOST_TEST(c.requests() == std::vector<std::string>{"Authenticate"});
    c.server().fail(3, "etcdserver: authentication is not enabled");
    c.settle();
    c.ask(1);
    c.serve();
    BOOST_TEST(c.is_event(event_kind::granted, 1));
    c.ask(2, "b");
    c.server().fail(3, "etcdserver: user name is empty");
    c.settle();
    c.pass(100ms);
    BOOST_TEST(c.requests() == std::vector<std::string>{"Authenticate"});
}

BOOST_AUTO_TEST_CASE(closing_gives_the_session_back_after_the_releases)
{
    const auto held = hold();
    a.core.release(held, a.now);
    a.core.cleanup().wind_up(a.now);
    a.settle();
    BOOST_TEST(!a.core.cleanup().is_done());
    a.serve();
    BOOST_TEST(a.is_event(event_kind::released, 1));
    BOOST_TEST(a.core.cleanup().is_done());
    BOOST_TEST(model.leases() == 0u);
    a.core.close(a.now);
    a.settle();
    BOOST_TEST(!a.core.connections()[0]->wants_open());
}

BOOST_AUTO_TEST_CASE(a_session_that_nobody_needs_is_given_back)
{
    const auto held = hold();
    a.core.release(held, a.now);
    a.serve();
    BOOST_TEST(model.leases() == 1u);
    for (int i = 0; i < 35; ++i) {
        a.pass(1s);
        a.serve();
    }
    BOOST_TEST(model.leases() == 0u);
    a.events.clear();
    a.ask(2);
    a.serve();
    BOOST_TEST(a.is_event(event_kind::granted, 2));
}

BOOST_AUTO_TEST_CASE(a_key_deleted_by_hand_is_a_lost_lease_where_the_queue_is_watched)
{
    const auto first = hold();
    queue();
    a.core.release(first, a.now);
    a.serve();
    b.serve();
    BOOST_TEST(b.is_event(event_kind::granted, 2));
    model.remove(model.keys().begin()->first);
    b.serve();
    BOOST_TEST(b.is_event(event_kind::lost, 2));
}

BOOST_AUTO_TEST_CASE(a_waiter_whose_connection_breaks_finds_its_turn)
{
    const auto held = hold();
    queue();
    b.cut(0);
    a.core.release(held, a.now);
    a.serve();
    b.pass(100ms);
    b.serve();
    BOOST_TEST(b.is_event(event_kind::granted, 2));
}

BOOST_AUTO_TEST_CASE(a_release_whose_answer_was_lost_is_a_release)
{
    const auto held = hold();
    a.core.release(held, a.now);
    a.settle();
    BOOST_TEST(a.server().execute(a.now));
    a.cut(0);
    a.pass(100ms);
    a.serve();
    const auto e = a.event();
    BOOST_TEST((e.kind == event_kind::released));
    BOOST_TEST((e.outcome == release_outcome::released));
}

BOOST_AUTO_TEST_CASE(a_release_that_nobody_answers_is_unconfirmed_and_goes_on)
{
    const auto held = hold();
    a.cut(0);
    a.reachable = false;
    a.core.release(held, a.now);
    a.pass(2s);
    const auto e = a.event();
    BOOST_TEST((e.kind == event_kind::released));
    BOOST_TEST((e.outcome == release_outcome::unconfirmed));
    BOOST_TEST(!a.core.cleanup().is_done());
    a.reachable = true;
    a.pass(100ms);
    a.serve();
    BOOST_TEST(a.core.cleanup().is_done());
    BOOST_TEST(keys() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
