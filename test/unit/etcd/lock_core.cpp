#include "unit/etcd/world.hpp"

using namespace holdfast;
using namespace holdfast::test;
using core::event_kind;

namespace {

BOOST_FIXTURE_TEST_SUITE(etcd_lock_core, etcd_pair)

BOOST_AUTO_TEST_CASE(a_free_resource_is_granted)
{
    a.ask(1);
    BOOST_TEST(
        a.requests() == (std::vector<std::string>{"LeaseGrant"}), boost::test_tools::per_element());
    const auto asked = a.now;
    a.server().execute(a.now);
    a.pass(300ms);
    a.server().answer();
    a.settle();
    BOOST_TEST(a.requests() == (std::vector<std::string>{"Txn"}), boost::test_tools::per_element());
    a.serve();
    const core::backend_event e = a.event();
    BOOST_TEST((e.kind == event_kind::granted));
    BOOST_TEST(e.fence.value() == static_cast<std::uint64_t>(model.revision()) * 1024);
    // From before the request for the session, although the answer came later.
    BOOST_TEST((e.valid.until == asked + 9s - 10ms));
    BOOST_TEST(keys() == 1u);
    BOOST_TEST(model.keys().begin()->first.starts_with("a/"));
    BOOST_TEST(model.keys().begin()->second.value == "client");
}

BOOST_AUTO_TEST_CASE(a_waiter_gets_the_resource_without_another_request)
{
    const auto held = hold();
    queue();
    a.core.release(held, a.now);
    a.serve();
    const auto released = a.event();
    BOOST_TEST((released.kind == event_kind::released));
    BOOST_TEST((released.outcome == release_outcome::released));
    b.server().tell_watches();
    b.settle();
    BOOST_TEST(b.is_event(event_kind::granted, 2));
    BOOST_TEST(b.server().waiting().empty());
    BOOST_TEST(keys() == 1u);
}

// It may end without a renewal: the session may have been confirmed a third of the ttl ago.
BOOST_AUTO_TEST_CASE(a_lease_that_needs_the_whole_ttl_is_confirmed_first)
{
    hold();
    a.pass(2s);
    a.ask(2, "b", core::queueing::if_contended, 9s, true);
    BOOST_TEST(a.requests() == (std::vector<std::string>{"Txn"}), boost::test_tools::per_element());
    a.server().execute(a.now);
    a.server().answer();
    a.settle();
    BOOST_TEST(a.events.empty());
    a.serve();
    const core::backend_event e = a.event();
    BOOST_TEST((e.kind == event_kind::granted));
    BOOST_TEST((e.valid.until == a.now + 9s - 10ms));
    // Another lease has what the session has left.
    a.pass(2s);
    a.ask(3, "c");
    a.serve();
    BOOST_TEST((a.event().valid.until == a.now + 7s - 10ms));
}

BOOST_AUTO_TEST_CASE(a_holder_is_told_of_others_once)
{
    const auto held = hold();
    a.core.queue().report_waiters(held, a.now);
    BOOST_TEST(a.core.queue().reports_waiters(held));
    a.serve();
    model.put("a/b/of another resource");
    a.server().tell_watches();
    a.settle();
    BOOST_TEST(a.events.empty());
    queue();
    a.server().tell_watches();
    a.settle();
    BOOST_TEST(a.is_event(event_kind::remote_waiters, 1));
    BOOST_TEST(!a.core.queue().reports_waiters(held));
    model.put("a/another");
    a.server().tell_watches();
    a.settle();
    BOOST_TEST(a.events.empty());
}

BOOST_AUTO_TEST_CASE(a_holder_is_told_of_those_that_wait_already)
{
    const auto held = hold();
    queue();
    a.core.queue().report_waiters(held, a.now);
    a.settle();
    a.server().tell_watches();
    a.settle();
    BOOST_TEST(a.is_event(event_kind::remote_waiters, 1));
}

BOOST_AUTO_TEST_CASE(one_attempt_is_refused_and_leaves_nothing)
{
    hold();
    b.ask(2, "a", core::queueing::none);
    b.serve();
    const auto e = b.event();
    BOOST_TEST((e.kind == event_kind::refused));
    BOOST_TEST((e.reason == errc::contended));
    BOOST_TEST(keys() == 1u);
    BOOST_TEST(b.core.cleanup().is_done());
}

BOOST_AUTO_TEST_CASE(one_attempt_does_not_mind_resources_below)
{
    model.put("a/b/key");
    a.ask(1, "a", core::queueing::none);
    a.serve();
    BOOST_TEST(a.is_event(event_kind::granted, 1));
}

// The watch may be faster than the answer to the request.
BOOST_AUTO_TEST_CASE(a_deletion_before_the_answer_counts)
{
    const auto first = hold();
    const auto second = queue();
    b.core.abandon(second, b.now); // the watch stays
    b.serve();
    b.ask(3);
    b.server().execute(b.now);
    a.core.release(first, a.now);
    a.serve();
    b.server().tell_watches();
    b.settle(); // the deletion
    BOOST_TEST(b.events.empty());
    b.server().answer();
    b.settle();
    BOOST_TEST(b.is_event(event_kind::granted, 3));
}

BOOST_AUTO_TEST_CASE(a_request_without_an_answer_is_made_again)
{
    for (const bool executed : {false, true}) {
        etcd_model fresh;
        etcd_client c(fresh);
        c.ask(1, "other");
        c.serve(); // the session
        c.events.clear();
        c.ask(2);
        if (executed)
            c.server().execute(c.now);
        c.cut(0);
        c.pass(100ms);
        c.serve();
        const auto e = c.event();
        BOOST_TEST((e.kind == event_kind::granted));
        BOOST_TEST(fresh.keys().size() == 2u);
        const auto key = std::find_if(fresh.keys().begin(), fresh.keys().end(),
            [](const auto& k) { return k.first.starts_with("a/"); });
        BOOST_TEST(e.fence.value() == static_cast<std::uint64_t>(key->second.created) * 1024);
    }
}

BOOST_AUTO_TEST_CASE(a_request_that_is_executed_after_it_was_given_up_does_nothing)
{
    hold();
    const auto lost = a.ask(2, "b");
    const auto old = a.cut(0);
    a.core.abandon(lost, a.now);
    a.pass(100ms);
    a.serve();
    BOOST_TEST(a.core.cleanup().under_way() == 1u); // the held one
    const std::size_t before = model.keys().size();
    BOOST_TEST(old->execute(a.now)); // late
    BOOST_TEST(model.keys().size() == before);
    for (const auto& [name, key] : model.keys())
        BOOST_TEST(!name.starts_with("b/"));
    // The key that barred it is deleted when no request can be so late.
    for (int i = 0; i < 800; ++i) {
        a.pass(1s);
        a.serve();
    }
    BOOST_TEST(keys() == 1u);
}

BOOST_AUTO_TEST_CASE(a_release_and_the_next_wait_are_one_request)
{
    const auto held = hold();
    queue();
    a.core.release(held, a.now);
    a.ask(3);
    BOOST_TEST(a.requests() == (std::vector<std::string>{"Txn"}), boost::test_tools::per_element());
    const auto before = model.revision();
    a.serve();
    BOOST_TEST(model.revision() == before + 1);
    BOOST_REQUIRE(a.events.size() == 2u);
    BOOST_TEST((a.events[0].kind == event_kind::released));
    BOOST_TEST((a.events[1].kind == event_kind::queued));
    b.server().tell_watches();
    b.settle();
    BOOST_TEST(b.is_event(event_kind::granted, 2));
}

BOOST_AUTO_TEST_CASE(the_next_attempt_waits_for_a_deletion_that_is_under_way)
{
    const auto held = hold();
    a.core.release(held, a.now);
    a.settle();
    a.ask(3);
    BOOST_TEST(a.requests() == (std::vector<std::string>{"DeleteRange"}),
        boost::test_tools::per_element());
    a.serve();
    BOOST_REQUIRE(a.events.size() == 2u);
    BOOST_TEST((a.events[0].kind == event_kind::released));
    BOOST_TEST((a.events[1].kind == event_kind::granted));
}

BOOST_AUTO_TEST_CASE(one_request_renews_all_claims)
{
    const auto one = hold();
    const auto two = a.ask(2, "b");
    a.serve();
    a.events.clear();
    a.pass(2900ms);
    const std::array claims{one, two};
    a.core.renew(claims, false, a.now);
    a.settle();
    BOOST_TEST(a.requests() == (std::vector<std::string>{"LeaseKeepAlive"}),
        boost::test_tools::per_element());
    const auto sent = a.now;
    a.server().execute(a.now);
    a.pass(200ms);
    a.server().answer();
    a.settle();
    BOOST_REQUIRE(a.events.size() == 2u);
    for (const auto& e : a.events) {
        BOOST_TEST((e.kind == event_kind::validity));
        BOOST_TEST((e.valid.asked == sent));
        BOOST_TEST((e.valid.until == sent + 9s - 10ms));
    }
    a.events.clear();
    a.core.renew(claims, false, a.now); // a little later: the same confirmation does
    a.settle();
    BOOST_TEST(a.server().waiting().empty());
    BOOST_TEST(a.events.size() == 2u);
    a.events.clear();
    a.core.renew(claims, true, a.now); // an extension
    a.serve();
    BOOST_REQUIRE(a.events.size() == 2u);
    BOOST_TEST((a.events[0].valid.asked == a.now));
}

BOOST_AUTO_TEST_CASE(tokens_of_transfers_grow_until_the_block_is_used_up)
{
    const auto held = hold();
    std::uint64_t last = 0;
    int transfers = 0;
    for (; a.core.can_transfer(held); ++transfers) {
        const auto token = a.core.transfer(held, 1);
        BOOST_TEST(token.value() > last);
        last = *token;
    }
    BOOST_TEST(transfers == 1023);
    BOOST_TEST(last < (static_cast<std::uint64_t>(model.revision()) + 1) * 1024);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
