#include "unit/sql/world.hpp"

#include <array>

using namespace holdfast;
using namespace holdfast::test;
using core::event_kind;
using sql::action;

namespace {

// Executes and answers the next statements of `a`.
std::vector<action> next_statements(sql_world& w, std::size_t count)
{
    std::vector<action> all;
    while (all.size() < count) {
        all.push_back(w.a.database->under_way()->get().what);
        w.a.database->execute();
        w.a.database->answer(w.now);
        w.a.settle();
    }
    return all;
}

BOOST_FIXTURE_TEST_SUITE(sql_lock_core, sql_world)

BOOST_AUTO_TEST_CASE(a_lease_counts_from_before_the_statement_was_sent)
{
    a.ask(1);
    const auto sent = now;
    BOOST_TEST(a.sends(action::want, 1));
    a.database->execute();
    pass(300ms);
    a.database->answer(now);
    const auto e = a.event();
    BOOST_TEST((e.kind == event_kind::granted));
    BOOST_TEST((e.valid.asked == sent));
    BOOST_TEST((e.valid.until == sent + 9s - 10ms));
    BOOST_TEST(e.fence.value() == model.rows["a"].tokens.first);
    BOOST_TEST(model.rows["a"].owner == a.owner(1));
}

BOOST_AUTO_TEST_CASE(a_grant_that_comes_late_is_given_back)
{
    a.ask(1, "a", core::queueing::none, 1s);
    a.database->execute();
    now += 480ms; // within the time for an answer
    a.database->answer(now);
    BOOST_TEST(a.is_event(event_kind::granted, 1));

    b.ask(2, "b", core::queueing::none, 300ms);
    b.database->execute();
    now += 200ms;
    b.database->answer(now);
    const auto e = b.event();
    BOOST_TEST((e.kind == event_kind::refused));
    BOOST_TEST((e.reason == errc::too_late));
    b.serve();
    BOOST_TEST(is_free("b"));
    BOOST_TEST(b.core.cleanup().is_done());
}

BOOST_AUTO_TEST_CASE(what_is_wanted_during_a_statement_goes_into_the_next_one)
{
    a.ask(1, "r1");
    for (std::uint64_t i = 2; i <= 100; ++i)
        a.ask(i, "r" + std::to_string(i));
    BOOST_TEST(a.sends(action::want, 1));
    a.database->execute();
    a.database->answer(now);
    a.settle();
    BOOST_TEST(a.sends(action::want, 99));
    a.serve();
    BOOST_TEST(a.events.size() == 100u);
}

BOOST_AUTO_TEST_CASE(a_statement_names_no_resource_twice_and_is_not_too_long)
{
    a.ask(1, "x"); // is under way
    a.ask(2, "r");
    a.ask(3, "r");
    for (std::uint64_t i = 0; i < sql::desk::most_entries; ++i)
        a.ask(10 + i, "s" + std::to_string(i));
    a.database->execute();
    a.database->answer(now);
    a.settle();
    BOOST_TEST(a.sends(action::want, sql::desk::most_entries));
    a.database->execute();
    a.database->answer(now);
    a.settle();
    BOOST_TEST(a.sends(action::want, 2)); // the second `r`, and the last one
}

BOOST_AUTO_TEST_CASE(releases_go_before_renewals_and_these_before_attempts)
{
    const auto one = hold(1);
    const auto two = a.ask(2, "b");
    a.serve();
    a.events.clear();
    a.ask(3, "c"); // is under way
    a.ask(4, "d");
    const std::array claims{one};
    a.core.renew(claims, false, now);
    a.core.release(two, now);
    const std::vector<action> order = next_statements(*this, 4);
    const std::vector<action> expected{
        action::want, action::give_back, action::renew, action::want};
    BOOST_TEST((order == expected));
}

// A lease with a renewal due would run out otherwise.
BOOST_AUTO_TEST_CASE(releases_that_never_end_do_not_stop_renewals_and_attempts)
{
    std::vector<core::claim_id> held;
    for (std::uint64_t i = 1; i <= 5; ++i)
        held.push_back(a.ask(i, "r" + std::to_string(i)));
    a.serve();
    a.events.clear();
    a.core.release(held[1], now); // is under way
    const std::array claims{held[0]};
    a.core.renew(claims, false, now);
    a.ask(10, "s");
    std::vector<action> order;
    for (std::size_t i = 2; i < 5; ++i) {
        a.core.release(held[i], now);
        order.push_back(next_statements(*this, 1).front());
    }
    const std::vector<action> expected{action::give_back, action::renew, action::want};
    BOOST_TEST((order == expected));
    BOOST_TEST(a.sends(action::give_back, 3));
}

BOOST_AUTO_TEST_CASE(a_renewal_waits_for_one_other_statement_at_most)
{
    std::vector<core::claim_id> held;
    for (std::uint64_t i = 1; i <= 3; ++i)
        held.push_back(a.ask(i, "r" + std::to_string(i)));
    a.serve();
    a.events.clear();
    a.core.renew(std::array{held[0]}, false, now); // is under way
    a.ask(10, "s");
    a.core.release(held[2], now);
    a.core.renew(std::array{held[1]}, false, now);
    const std::vector<action> order = next_statements(*this, 4);
    const std::vector<action> expected{
        action::renew, action::want, action::renew, action::give_back};
    BOOST_TEST((order == expected));
}

BOOST_AUTO_TEST_CASE(a_waiter_is_told_its_turn_and_sends_nothing)
{
    const auto held = hold();
    queue();
    const auto confirmed = now;
    pass(1s);
    a.core.release(held, now);
    a.serve();
    const auto released = a.event();
    BOOST_TEST((released.kind == event_kind::released));
    BOOST_TEST((released.outcome == release_outcome::released));
    tell();
    BOOST_TEST(!b.database->under_way());
    const auto e = b.event();
    BOOST_TEST((e.kind == event_kind::granted));
    // The lease is that of the place in the queue.
    BOOST_TEST((e.valid.asked == confirmed));
    BOOST_TEST((e.valid.until == confirmed + 9s - 10ms));
    BOOST_TEST(e.fence.value() == model.rows["a"].tokens.first);
}

BOOST_AUTO_TEST_CASE(a_turn_of_which_nobody_was_told_is_found)
{
    const auto held = hold();
    queue();
    a.core.release(held, now);
    a.serve();
    model.turns(); // lost
    pass(2900ms);
    BOOST_TEST(!b.database->under_way());
    pass(200ms);
    b.serve();
    const auto e = b.event();
    BOOST_TEST((e.kind == event_kind::granted));
    BOOST_TEST((e.valid.asked == now));
    BOOST_TEST(e.fence.value() == model.rows["a"].tokens.first);
}

BOOST_AUTO_TEST_CASE(a_turn_with_little_time_left_is_made_longer_first)
{
    const auto held = hold();
    queue();
    a.core.release(held, now);
    a.serve();
    now += 6s; // the process stood still
    b.database->tell(model.turns().front(), now);
    BOOST_TEST(b.events.empty());
    model.clock += 6'000'000;
    b.serve();
    const auto e = b.event();
    BOOST_TEST((e.kind == event_kind::granted));
    BOOST_TEST((e.valid.asked == now));
}

// It may end without a renewal: the place may be a third of the ttl old.
BOOST_AUTO_TEST_CASE(a_turn_that_needs_the_whole_ttl_is_made_longer_first)
{
    const auto held = hold();
    b.ask(2, "a", core::queueing::if_contended, 9s, false, true);
    b.serve();
    BOOST_TEST(b.is_event(event_kind::queued, 2));
    pass(1s);
    a.core.release(held, now);
    a.serve();
    tell();
    BOOST_TEST(b.events.empty());
    b.serve();
    const auto e = b.event();
    BOOST_TEST((e.kind == event_kind::granted));
    BOOST_TEST((e.valid.asked == now));
    BOOST_TEST((e.valid.until == now + 9s - 10ms));
}

BOOST_AUTO_TEST_CASE(a_place_in_the_queue_is_kept)
{
    hold(1);
    queue();
    for (int i = 0; i < 10; ++i) {
        model.rows["a"].expires_at += 3'000'000;
        pass(3s);
        b.serve();
        BOOST_TEST(model.rows["a"].waiters.size() == 1u);
        BOOST_TEST(model.rows["a"].waiters[0].until == model.clock + 9'000'000);
    }
    BOOST_TEST(b.events.empty());
}

BOOST_AUTO_TEST_CASE(the_first_waiter_takes_over_when_a_lease_ends)
{
    hold();
    pass(1s);
    queue();
    a.database->disconnect(now); // and never comes back
    for (int i = 0; i < 9 && b.events.empty(); ++i) {
        pass(1s);
        b.serve();
    }
    BOOST_TEST(b.is_event(event_kind::granted, 2));
    BOOST_TEST((now >= core::time_point(1009s)));
}

BOOST_AUTO_TEST_CASE(where_nobody_is_told_the_first_waiter_looks_without_writing)
{
    b.database->tell_nobody();
    const auto held = hold();
    queue();
    const auto until = model.rows["a"].waiters[0].until;
    pass(20ms);
    BOOST_TEST(b.sends(action::want, 1));
    BOOST_TEST(!b.database->under_way()->get().entries[0].queues);
    b.serve();
    BOOST_TEST(model.rows["a"].waiters[0].until == until);
    a.core.release(held, now);
    a.serve();
    pass(20ms);
    b.serve();
    BOOST_TEST(b.is_event(event_kind::granted, 2));
}

BOOST_AUTO_TEST_CASE(one_attempt_is_refused_and_leaves_nothing)
{
    hold();
    b.ask(2, "a", core::queueing::none);
    b.serve();
    const auto e = b.event();
    BOOST_TEST((e.kind == event_kind::refused));
    BOOST_TEST((e.reason == errc::contended));
    BOOST_TEST(model.rows["a"].waiters.empty());
    BOOST_TEST(b.core.cleanup().is_done());
}

BOOST_AUTO_TEST_CASE(an_abandoned_wait_leaves_the_queue)
{
    hold();
    const auto waits = queue();
    b.core.abandon(waits, now);
    BOOST_TEST(b.core.cleanup().under_way() == 1u);
    b.serve();
    BOOST_TEST(model.rows["a"].waiters.empty());
    BOOST_TEST(b.core.cleanup().is_done());
    BOOST_TEST(b.events.empty());
}

// Nobody waits for the end of an abandoned wait. So the resource may be found held, by a process
// that does not want it any more, right after a release was confirmed.
BOOST_AUTO_TEST_CASE(an_abandoned_wait_may_be_given_the_resource_until_its_end_is_executed)
{
    const auto held = hold();
    const auto waits = queue();
    a.core.release(held, now);
    a.serve();
    BOOST_TEST(a.is_event(event_kind::released, 1));
    b.core.abandon(waits, now); // before it is told that it has its turn
    b.settle();
    BOOST_TEST(b.sends(action::give_back, 1));

    a.ask(3, "a", core::queueing::none); // its statement is executed first
    a.serve();
    BOOST_TEST(a.is_event(event_kind::refused, 3));
    b.serve();
    tell();
    BOOST_TEST(is_free());
    a.ask(4, "a", core::queueing::none);
    a.serve();
    BOOST_TEST(a.is_event(event_kind::granted, 4));
}

BOOST_AUTO_TEST_CASE(one_statement_renews_all_claims)
{
    std::vector<core::claim_id> all;
    for (std::uint64_t i = 1; i <= 50; ++i)
        all.push_back(a.ask(i, "r" + std::to_string(i)));
    a.serve();
    a.events.clear();
    pass(3s);
    a.core.renew(all, false, now);
    a.settle();
    const auto sent = now;
    BOOST_TEST(a.sends(action::renew, 50));
    a.database->execute();
    pass(200ms);
    a.database->answer(now);
    a.settle();
    BOOST_REQUIRE(a.events.size() == 50u);
    for (const auto& e : a.events) {
        BOOST_TEST((e.kind == event_kind::validity));
        BOOST_TEST((e.valid.until == sent + 9s - 10ms));
    }
}

BOOST_AUTO_TEST_CASE(a_lease_that_another_one_has_is_lost)
{
    const auto held = hold();
    model.rows["a"].owner = "another";
    const std::array claims{held};
    a.core.renew(claims, false, now);
    a.serve();
    BOOST_TEST(a.is_event(event_kind::lost, 1));
    a.core.release(held, now);
    a.serve();
    const auto e = a.event();
    BOOST_TEST((e.outcome == release_outcome::expired));
    BOOST_TEST(model.rows["a"].owner == "another");
}

BOOST_AUTO_TEST_CASE(tokens_of_transfers_grow_until_the_block_is_used_up)
{
    const auto held = hold();
    const auto block = model.rows["a"].tokens;
    std::uint64_t last = block.first;
    int transfers = 0;
    for (; a.core.can_transfer(held); ++transfers) {
        const auto token = a.core.transfer(held, 1);
        BOOST_TEST(token.value() > last);
        last = *token;
    }
    BOOST_TEST(transfers == 1023);
    BOOST_TEST(last == block.last);
}

BOOST_AUTO_TEST_CASE(tokens_do_not_outrun_the_clock)
{
    std::uint64_t last = 0;
    for (std::uint64_t i = 1; i <= 1000; ++i) {
        pass(10us); // a hundred thousand grants a second
        const auto held = hold(i);
        const auto tokens = model.rows["a"].tokens;
        BOOST_TEST(tokens.first > last);
        last = tokens.last;
        BOOST_TEST(last <= static_cast<std::uint64_t>(model.clock));
        a.core.release(held, now);
        a.serve();
        a.events.clear();
    }
}

BOOST_AUTO_TEST_CASE(a_claim_that_is_left_at_the_end_stays_in_the_table)
{
    const auto held = hold();
    a.core.cleanup().leave(held);
    BOOST_TEST(a.core.cleanup().is_done());
    a.serve();
    BOOST_TEST(model.rows["a"].owner == a.owner(1));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
