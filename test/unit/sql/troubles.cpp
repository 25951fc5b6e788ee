#include "unit/sql/world.hpp"

#include <algorithm>
#include <array>

using namespace holdfast;
using namespace holdfast::test;
using core::event_kind;
using sql::action;
using remedy = sql::failure::remedy;

namespace {

BOOST_FIXTURE_TEST_SUITE(sql_troubles, sql_world)

BOOST_AUTO_TEST_CASE(a_statement_without_an_answer_is_made_again)
{
    for (const bool executed : {false, true}) {
        const std::string name = executed ? "x" : "y";
        a.ask(1, name);
        if (executed)
            a.database->execute();
        const auto first = model.rows[name].tokens;
        a.database->disconnect(now);
        pass(100ms);
        a.database->connect(now);
        a.serve();
        const auto e = a.event();
        BOOST_TEST((e.kind == event_kind::granted));
        BOOST_TEST((e.valid.asked == now));
        if (executed)
            BOOST_TEST(e.fence.value() == first.first);
    }
}

BOOST_AUTO_TEST_CASE(no_answer_in_time_ends_the_connection_and_the_attempt)
{
    a.ask(1);
    pass(1900ms);
    BOOST_TEST(a.database->failures == 0);
    a.core.wake(now + 200ms, now); // it may have arrived
    BOOST_TEST(a.database->failures == 0);
    pass(200ms);
    BOOST_TEST(a.database->failures == 1);
    BOOST_TEST((a.database->last_failure == errc::no_reply));
    const auto e = a.event();
    BOOST_TEST((e.kind == event_kind::refused));
    BOOST_TEST((e.reason == errc::unreachable));
}

BOOST_AUTO_TEST_CASE(a_statement_that_is_executed_after_it_was_given_up_does_nothing_later)
{
    const auto lost = a.ask(1);
    const auto late = a.database->disconnect(now);
    a.core.abandon(lost, now);
    pass(100ms);
    a.database->connect(now);
    a.serve(); // there is nothing to give back yet
    BOOST_TEST(a.core.cleanup().under_way() == 1u);
    model.execute(late->get()); // now there is
    BOOST_TEST(model.rows["a"].owner == a.owner(1));
    pass(5s);
    a.serve();
    BOOST_TEST(is_free());
    BOOST_TEST(a.core.cleanup().is_done());
    const auto found = std::get<sql::answer>(model.execute(late->get()));
    BOOST_TEST((found.rows[0].what == sql::finding::late));
    BOOST_TEST(is_free());
}

// The answer comes after the last moment of the late statement, but was made before it.
BOOST_AUTO_TEST_CASE(only_a_release_that_was_sent_late_enough_is_the_last_one)
{
    const auto lost = a.ask(1);
    const auto late = a.database->disconnect(now);
    a.core.abandon(lost, now);
    pass(1900ms);
    a.database->connect(now);
    a.settle();
    a.database->execute();
    model.execute(late->get());
    BOOST_TEST(model.rows["a"].owner == a.owner(1));
    pass(500ms);
    a.database->answer(now);
    BOOST_TEST(a.core.cleanup().under_way() == 1u);
    pass(1ms);
    a.serve();
    BOOST_TEST(is_free());
    BOOST_TEST(a.core.cleanup().is_done());
}

BOOST_AUTO_TEST_CASE(a_statement_that_comes_late_by_the_clock_of_the_database_is_made_again)
{
    a.ask(1);
    model.clock += 3'600'000'000; // it is set forward
    a.database->execute();
    a.database->answer(now);
    a.settle();
    BOOST_TEST(a.sends(action::want, 1));
    a.serve();
    BOOST_TEST(a.is_event(event_kind::granted, 1));
}

// One entry is blocked, although locked rows are passed over: an index entry near it is locked. It
// is found by halves, and does not stop the others.
BOOST_AUTO_TEST_CASE(an_entry_that_blocks_its_statement_does_not_stop_others)
{
    constexpr std::uint64_t bad = 11;
    for (std::uint64_t i = 1; i <= 16; ++i)
        a.ask(i, "r" + std::to_string(i));
    std::size_t granted = 0;
    int statements = 0;
    const sql::failure blocked{errc::contended, sql::failure::remedy::pass_over, "blocked"};
    for (int i = 0; i < 200 && granted < 15; ++i) {
        a.settle();
        granted += a.events.size();
        a.events.clear();
        if (!a.database->under_way()) {
            pass(1ms);
            continue;
        }
        ++statements;
        const sql::statement sent = a.database->under_way()->get();
        const bool has_bad = std::any_of(sent.entries.begin(), sent.entries.end(),
            [](const sql::entry& e) { return e.resource == "r" + std::to_string(bad); });
        if (has_bad) {
            a.database->refuse(blocked, now);
        } else {
            a.database->execute();
            a.database->answer(now);
        }
    }
    BOOST_TEST(granted == 15u);
    BOOST_TEST(statements < 40);
    BOOST_TEST(!model.rows.contains("r11"));
    for (int i = 0; i < 100 && !a.database->under_way(); ++i)
        pass(1ms);
    a.serve(); // it is not blocked any more
    BOOST_TEST(model.rows.contains("r11"));
}

// Nothing else ends it: it has no other limit than the store's patience.
BOOST_AUTO_TEST_CASE(a_single_attempt_ends_although_its_statement_is_never_executed)
{
    const sql::failure locked{errc::contended, remedy::pass_over, "the table is locked"};
    const sql::failure stopped{errc::no_reply, remedy::later, "statement timeout"};
    std::uint64_t tag = 0;
    for (const auto& [failure, reason] :
        {std::pair(locked, errc::contended), std::pair(stopped, errc::unreachable)}) {
        for (const auto queue : {core::queueing::none, core::queueing::if_contended}) {
            const auto began = now;
            const std::string name = "r" + std::to_string(++tag);
            const auto id = a.ask(tag, name, queue);
            while (a.events.empty() && now - began < 1min) {
                if (a.database->under_way())
                    a.database->refuse(failure, now);
                a.settle();
                pass(1ms);
            }
            BOOST_TEST((now - began < 2100ms));
            const auto e = a.event();
            if (queue == core::queueing::none) {
                BOOST_TEST((e.kind == event_kind::refused));
                BOOST_TEST((e.reason == reason));
            } else {
                BOOST_TEST((e.kind == event_kind::queued));
                a.core.abandon(id, now);
            }
            a.serve();
            BOOST_TEST(!model.rows.contains(name));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_locked_row_is_passed_over_and_others_are_granted)
{
    model.rows["a"] = {};
    model.rows["b"] = {};
    model.locked["a"] = sql_model::lock::row;
    a.ask(1, "x"); // is under way
    a.ask(2, "a");
    a.ask(3, "b");
    a.database->execute();
    a.database->answer(now);
    a.settle();
    a.events.clear();
    BOOST_TEST(a.database->under_way()->get().waits);
    a.database->execute(); // has waited, in vain
    a.database->answer(now);
    a.settle();
    BOOST_TEST(!a.database->under_way()->get().waits);
    a.database->execute();
    a.database->answer(now);
    BOOST_TEST(a.is_event(event_kind::granted, 3));
    model.locked.clear();
    pass(50ms);
    a.serve();
    BOOST_TEST(a.is_event(event_kind::granted, 2));
}

BOOST_AUTO_TEST_CASE(who_waits_for_a_locked_row_is_told_that_it_waits)
{
    model.rows["a"] = {};
    model.locked["a"] = sql_model::lock::row;
    a.ask(1);
    for (int i = 0; i < 100; ++i) {
        a.serve();
        pass(50ms);
    }
    a.serve();
    BOOST_TEST(a.is_event(event_kind::queued, 1));
    b.ask(2, "a", core::queueing::none);
    for (int i = 0; i < 100; ++i) {
        b.serve();
        pass(50ms);
    }
    const auto e = b.event();
    BOOST_TEST((e.kind == event_kind::refused));
    BOOST_TEST((e.reason == errc::contended));
}

// Its first statement was executed, and its answer was lost.
BOOST_AUTO_TEST_CASE(an_attempt_that_is_refused_at_a_locked_row_gives_it_back)
{
    model.rows["a"] = {};
    a.ask(1, "a", core::queueing::none);
    a.database->execute();
    model.locked["a"] = sql_model::lock::row;
    now += 1s;
    a.database->disconnect(now);
    a.database->connect(now);
    for (int i = 0; i < 40; ++i) {
        a.serve();
        pass(50ms);
    }
    const auto e = a.event();
    BOOST_TEST((e.kind == event_kind::refused));
    BOOST_TEST((e.reason == errc::contended));
    BOOST_TEST(!a.core.cleanup().is_done());
    model.locked.clear();
    pass(100ms);
    a.serve();
    pass(5s);
    a.serve();
    BOOST_TEST(is_free());
    BOOST_TEST(a.core.cleanup().is_done());
}

BOOST_AUTO_TEST_CASE(a_guard_keeps_others_out_but_lets_renewals_and_waiters_pass)
{
    const auto held = hold();
    model.locked["a"] = sql_model::lock::key;
    queue();
    const std::array claims{held};
    a.core.renew(claims, false, now);
    a.serve();
    BOOST_TEST(a.is_event(event_kind::validity, 1));
    pass(20s); // the lease has ended: only the guard is left
    b.serve();
    BOOST_TEST(b.events.empty());
    BOOST_TEST(model.rows["a"].owner == a.owner(1));
    model.locked.clear();
    pass(100ms);
    b.serve();
    BOOST_TEST(b.is_event(event_kind::granted, 2));
}

BOOST_AUTO_TEST_CASE(a_refused_statement_refuses_attempts_but_no_lease)
{
    const auto held = hold();
    const std::array claims{held};
    a.core.renew(claims, false, now);
    a.settle();
    a.database->refuse({errc::permission_denied, remedy::refuse, "no rights"}, now);
    a.settle();
    BOOST_TEST(a.events.empty());
    pass(50ms);
    a.serve();
    BOOST_TEST(a.is_event(event_kind::validity, 1));

    a.ask(2, "b");
    a.database->refuse({errc::permission_denied, remedy::refuse, "no rights"}, now);
    const auto e = a.event();
    BOOST_TEST((e.kind == event_kind::refused));
    BOOST_TEST((e.reason == errc::permission_denied));
}

BOOST_AUTO_TEST_CASE(a_statement_that_timed_out_is_made_again_after_a_pause)
{
    a.ask(1);
    a.database->refuse({errc::no_reply, remedy::later, "timeout"}, now);
    a.settle();
    BOOST_TEST(!a.database->under_way());
    pass(60ms);
    a.serve();
    BOOST_TEST(a.is_event(event_kind::granted, 1));
}

BOOST_AUTO_TEST_CASE(a_release_without_an_answer_is_unconfirmed_and_made_again)
{
    const auto held = hold();
    a.core.release(held, now);
    a.settle();
    a.database->disconnect(now);
    pass(2100ms);
    const auto e = a.event();
    BOOST_TEST((e.kind == event_kind::released));
    BOOST_TEST((e.outcome == release_outcome::unconfirmed));
    BOOST_TEST(a.core.cleanup().under_way() == 1u);
    a.database->connect(now);
    a.serve();
    BOOST_TEST(is_free());
    BOOST_TEST(a.core.cleanup().is_done());
    BOOST_TEST(a.events.empty());
}

BOOST_AUTO_TEST_CASE(a_release_whose_answer_was_lost_counts_as_released)
{
    const auto held = hold();
    a.core.release(held, now);
    a.settle();
    a.database->execute();
    a.database->disconnect(now);
    a.database->connect(now);
    a.serve();
    BOOST_TEST((a.event().outcome == release_outcome::released));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_given_back_is_forgotten_when_its_row_has_ended)
{
    const auto held = hold();
    a.core.release(held, now);
    a.database->disconnect(now);
    for (int i = 0; i < 40; ++i)
        pass(500ms);
    BOOST_TEST(a.core.cleanup().is_done());
}

BOOST_AUTO_TEST_CASE(waiters_look_again_after_a_reconnection)
{
    const auto held = hold();
    queue();
    b.database->disconnect(now);
    a.core.release(held, now);
    a.serve();
    tell(); // no connection listens
    BOOST_TEST(b.events.empty());
    b.database->connect(now);
    b.serve();
    BOOST_TEST(b.is_event(event_kind::granted, 2));
}

BOOST_AUTO_TEST_CASE(without_a_server_attempts_are_refused_and_waiters_stay)
{
    hold();
    queue();
    b.database->cut_off(errc::authentication_failed, now);
    BOOST_TEST(b.events.empty());
    b.ask(3, "b");
    const auto e = b.event();
    BOOST_TEST((e.kind == event_kind::refused));
    BOOST_TEST((e.reason == errc::authentication_failed));
    BOOST_TEST((b.core.nodes().cut_off() == errc::authentication_failed));
}

BOOST_AUTO_TEST_CASE(a_lost_place_in_the_queue_is_taken_again)
{
    hold();
    queue();
    model.rows["a"].waiters.clear();
    pass(3100ms);
    b.serve();
    BOOST_TEST(model.rows["a"].waiters.size() == 1u);
    BOOST_TEST(b.events.empty());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
