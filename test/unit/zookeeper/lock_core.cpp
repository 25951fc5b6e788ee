#include "unit/zookeeper/world.hpp"

namespace holdfast::test {
namespace {

using core::event_kind;
using core::queueing;

std::size_t count_of(const zk_link& link, wire::operation what)
{
    return static_cast<std::size_t>(std::count_if(link.requests.begin(), link.requests.end(),
        [what](const wire::request& r) { return r.what == what; }));
}

BOOST_AUTO_TEST_SUITE(zookeeper_lock_core)

BOOST_AUTO_TEST_CASE(a_free_resource_is_granted_with_a_token)
{
    zk_world w;
    w.ask(1);
    w.serve();
    const auto granted = w.event();
    BOOST_TEST((granted.kind == event_kind::granted));
    BOOST_REQUIRE(w.queue().size() == 1u);
    const auto node = w.data.nodes.at("/locks/a/" + w.queue().front());
    BOOST_TEST(granted.fence.value_or(0) == static_cast<std::uint64_t>(node.created) * 64);
    BOOST_TEST(node.data == "client");
    BOOST_TEST((granted.valid.until == w.now + 9s - 10ms));
    BOOST_TEST((granted.valid.asked == w.now));
}

BOOST_AUTO_TEST_CASE(where_the_folder_exists_a_grant_takes_one_round_trip)
{
    zk_world w;
    w.core.release(w.grant(1), w.now);
    w.serve();
    w.take_events();
    w.ask(2);
    w.settle();
    BOOST_TEST(w.link().requests.size() == 2u);
    BOOST_TEST(count_of(w.link(), wire::operation::create2) == 1u);
    BOOST_TEST(count_of(w.link(), wire::operation::get_children) == 1u);
    w.serve();
    BOOST_TEST((w.event().kind == event_kind::granted));
}

// The session was confirmed seconds ago, which says nothing of the time that an attempt takes.
BOOST_AUTO_TEST_CASE(a_grant_tells_when_it_was_asked_for)
{
    zk_world w;
    w.grant(1);
    w.pass(20s);
    w.take_events();
    w.data.nodes["/locks/b"];
    w.ask(2, "b");
    w.settle();
    const auto asked = w.now;
    w.now += 5ms;
    w.serve();
    const auto e = w.event();
    BOOST_TEST((e.kind == event_kind::granted));
    BOOST_TEST((e.asked == asked));
    BOOST_TEST((e.valid.asked < asked));
}

BOOST_AUTO_TEST_CASE(another_waits_for_its_turn_and_gets_it_with_a_larger_token)
{
    zk_world w;
    const auto first = w.ask(1);
    w.serve();
    const auto token = w.event().fence;
    w.ask(2);
    w.serve();
    BOOST_TEST((w.event().kind == event_kind::queued));
    w.core.release(first, w.now);
    w.serve();
    const auto events = w.take_events();
    BOOST_REQUIRE(events.size() == 2u);
    BOOST_TEST((events[0].kind == event_kind::granted)); // the event comes before the answer
    BOOST_TEST((events[0].fence > token));
    BOOST_TEST((events[1].kind == event_kind::released));
    BOOST_TEST((events[1].outcome == release_outcome::released));
}

// None can come in between: the deletion of the holder's node is the grant.
BOOST_AUTO_TEST_CASE(the_second_in_the_queue_needs_no_second_look)
{
    zk_world w;
    const auto first = w.grant(1);
    w.ask(2);
    w.serve();
    w.take_events();
    w.core.release(first, w.now);
    w.settle();
    w.link().execute(); // the deletion
    while (!w.link().replies.empty())
        w.link().deliver(w.now);
    w.settle();
    BOOST_TEST(w.events.size() == 2u);
    BOOST_TEST(w.link().requests.empty());
}

BOOST_AUTO_TEST_CASE(a_waiter_in_the_middle_that_leaves_wakes_nobody_wrongly)
{
    zk_world w;
    w.grant(1);
    const auto second = w.ask(2);
    w.ask(3);
    w.serve();
    w.take_events();
    w.core.abandon(second, w.now);
    w.serve();
    BOOST_TEST(w.take_events().empty()); // the third one has looked again, and waits
    BOOST_TEST(w.queue().size() == 2u);
    w.data.remove("/locks/a/" + w.queue().front());
    w.serve();
    const auto granted = w.event();
    BOOST_TEST((granted.kind == event_kind::granted));
    BOOST_TEST(granted.tag == 3u);
}

BOOST_AUTO_TEST_CASE(one_who_asks_once_is_refused_and_leaves_nothing)
{
    zk_world w;
    w.grant(1);
    w.ask(2, "a", queueing::none);
    w.serve();
    const auto refused = w.event();
    BOOST_TEST((refused.kind == event_kind::refused));
    BOOST_TEST((refused.reason == errc::contended));
    BOOST_TEST(w.queue().size() == 1u);
}

BOOST_AUTO_TEST_CASE(foreign_nodes_are_in_the_queue)
{
    zk_world w;
    w.core.release(w.grant(1), w.now);
    w.serve();
    w.take_events();
    const std::string other = w.data.put("/locks/a/0123__lock__");
    w.ask(2);
    w.serve();
    BOOST_TEST((w.event().kind == event_kind::queued));
    w.data.remove(other);
    w.serve();
    BOOST_TEST((w.event().kind == event_kind::granted));
}

// Two nodes with one number, or with a negative one, would both be the first.
BOOST_AUTO_TEST_CASE(a_folder_whose_counter_has_ended_grants_nothing_until_it_is_removed)
{
    for (const bool wraps : {true, false}) {
        zk_world w;
        w.data.nodes["/locks"];
        w.data.nodes["/locks/a"].counter = INT32_MAX - 1;
        w.data.wraps = wraps; // a real server's counter stands still
        const auto id = w.grant(1);
        for (const std::uint64_t tag : {2u, 3u, 4u}) {
            w.ask(tag);
            w.serve();
            const auto e = w.event();
            BOOST_TEST((e.kind == event_kind::refused && e.reason == errc::contended), wraps);
            BOOST_TEST(e.tag == tag);
        }
        BOOST_TEST(w.data.children("/locks/a").size() == 1u); // all others are deleted
        w.core.release(id, w.now);
        w.serve();
        w.take_events();
        w.data.remove("/locks/a"); // as a server does
        w.grant(5);
    }
}

BOOST_AUTO_TEST_CASE(tokens_end_with_their_block)
{
    zk_world w;
    const auto id = w.grant(1);
    std::uint64_t last = 0;
    for (std::uint64_t i = 1; i < zk::claim::block; ++i) {
        BOOST_REQUIRE(w.core.can_transfer(id));
        const auto token = w.core.transfer(id, 1 + i);
        BOOST_TEST(token.value_or(0) > last);
        last = token.value_or(0);
    }
    BOOST_TEST(!w.core.can_transfer(id));
    w.core.release(id, w.now);
    w.serve();
    w.take_events();
    w.ask(1);
    w.serve();
    BOOST_TEST((w.event().fence > last));
}

BOOST_AUTO_TEST_CASE(a_holder_is_told_of_waiters_once)
{
    zk_world w;
    const auto id = w.grant(1);
    w.core.queue().report_waiters(id, w.now);
    w.serve();
    BOOST_TEST(w.take_events().empty());
    BOOST_TEST(w.core.queue().reports_waiters(id));
    w.data.put("/locks/a/other-lock-");
    w.serve();
    BOOST_TEST((w.event().kind == event_kind::remote_waiters));
    BOOST_TEST(!w.core.queue().reports_waiters(id));
    w.core.queue().report_waiters(id, w.now); // at once now
    w.serve();
    BOOST_TEST((w.event().kind == event_kind::remote_waiters));
}

// Else attempts that end at once would make a holder give up a lease that lingers.
BOOST_AUTO_TEST_CASE(an_attempt_that_does_not_wait_is_no_waiter)
{
    zk_world w;
    const auto id = w.grant(1);
    w.core.queue().report_waiters(id, w.now);
    w.serve();
    w.data.put("/locks/a/" + zk::lock_prefix(std::string(32, 'T'), 0, false));
    w.serve();
    BOOST_TEST(w.take_events().empty());
    BOOST_TEST(w.core.queue().reports_waiters(id));
    w.data.put("/locks/a/" + zk::lock_prefix(std::string(32, 'U'), 0, true));
    w.serve();
    BOOST_TEST((w.event().kind == event_kind::remote_waiters));
}

// Else they would pile up while one lease lasts long and others come and go behind it.
BOOST_AUTO_TEST_CASE(watches_of_claims_that_have_left_are_forgotten)
{
    zk_world w;
    const auto first = w.grant(1);
    for (std::uint64_t i = 2; i < 100; ++i) {
        const auto waiter = w.ask(i);
        w.serve();
        BOOST_TEST(w.core.watches() == 1u);
        w.core.abandon(waiter, w.now);
        w.serve();
        BOOST_TEST(w.core.watches() == 0u);
    }
    w.core.queue().report_waiters(first, w.now);
    w.serve();
    BOOST_TEST(w.core.watches() == 1u);
    w.core.release(first, w.now);
    w.serve();
    BOOST_TEST(w.core.watches() == 0u);
}

// The one in the middle leaves, so the last one looks at another node.
BOOST_AUTO_TEST_CASE(a_claim_that_waits_for_another_node_watches_that_one_alone)
{
    zk_world w;
    w.grant(1);
    const auto second = w.ask(2);
    w.ask(3);
    w.serve();
    BOOST_TEST(w.core.watches() == 2u);
    w.core.abandon(second, w.now);
    w.serve();
    BOOST_TEST(w.core.watches() == 1u);
    w.cut();
    w.pass(200ms);
    BOOST_TEST(w.core.watches() == 1u);
}

BOOST_AUTO_TEST_CASE(winding_up_gives_the_session_back)
{
    zk_world w;
    w.core.release(w.grant(1), w.now);
    w.serve();
    BOOST_TEST(w.core.cleanup().is_done());
    w.core.cleanup().wind_up(w.now);
    BOOST_TEST(!w.core.cleanup().is_done());
    w.serve();
    BOOST_TEST(w.core.cleanup().is_done());
    BOOST_TEST(w.data.sessions.empty());
}

BOOST_AUTO_TEST_CASE(a_node_that_is_left_stays_until_the_session_ends)
{
    zk_world w;
    const auto id = w.grant(1);
    w.core.cleanup().leave(id);
    BOOST_TEST(w.core.cleanup().is_done());
    w.core.cleanup().wind_up(w.now);
    w.serve();
    BOOST_TEST(w.core.cleanup().is_done());
    w.core.close(w.now);
    w.settle();
    BOOST_TEST(w.queue().size() == 1u);
    BOOST_TEST(w.data.sessions.size() == 1u);
}

BOOST_AUTO_TEST_CASE(many_claims_at_once_are_granted_within_limits)
{
    zk_world w;
    constexpr std::size_t many = 100'000;
    for (std::size_t i = 0; i < many; ++i)
        w.ask(i, "r" + std::to_string(i));
    w.serve();
    std::size_t granted = 0;
    for (const auto& e : w.take_events())
        granted += e.kind == event_kind::granted ? 1 : 0;
    BOOST_TEST(granted == many);
    BOOST_TEST(w.core.unsent() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
