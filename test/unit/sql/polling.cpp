// Where the database tells nobody: waiters look for their turn, and holders for waiters.
#include "unit/sql/world.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace {

using namespace holdfast;
using namespace holdfast::test;
using core::event_kind;
using sql::action;

struct polling_world : sql_world {
    polling_world()
    {
        a.database->tell_nobody();
        b.database->tell_nobody();
        model.passes_over = true;
    }
    // Time passes, in small steps, until the condition is true; not longer than the limit.
    template <class Condition>
    core::duration wait_until(Condition is_met, core::duration limit)
    {
        const core::time_point begin = now;
        while (!is_met() && now - begin < limit) {
            pass(250us);
            a.serve();
            b.serve();
        }
        BOOST_TEST(is_met());
        return now - begin;
    }
    // The same until it sends something, which is not answered yet.
    void wait_for_statement(sql_client& of)
    {
        for (int i = 0; i < 100 && !of.database->under_way(); ++i)
            pass(250us);
        BOOST_REQUIRE(of.database->under_way().has_value());
    }
    // How often `b` looks in that time.
    int looks(core::duration length)
    {
        int made = 0;
        for (const core::time_point end = now + length; now < end; pass(250us)) {
            made += b.database->under_way() ? 1 : 0;
            b.serve();
        }
        return made;
    }
    core::claim_id watch(core::queueing queue = core::queueing::if_contended)
    {
        const core::claim_id id = hold(1, queue);
        a.core.queue().report_waiters(id, now);
        a.serve();
        return id;
    }
};

BOOST_FIXTURE_TEST_SUITE(sql_polling, polling_world)

BOOST_AUTO_TEST_CASE(the_first_waiter_finds_its_turn_within_milliseconds)
{
    const auto held = hold();
    queue();
    a.core.release(held, now);
    a.serve();
    BOOST_TEST(model.turns().empty()); // its owner has no address
    BOOST_TEST((wait_until([&] { return !b.events.empty(); }, 1s) <= 3ms));
    BOOST_TEST(b.is_event(event_kind::granted, 2));
}

// Looks change nothing in the table, and do not make a place last longer.
BOOST_AUTO_TEST_CASE(a_look_writes_nothing)
{
    hold();
    queue();
    const auto before = model.rows.at("a").waiters.at(0).until;
    wait_for_statement(b);
    BOOST_TEST(b.sends(action::want, 1));
    BOOST_TEST(!b.database->under_way()->get().entries[0].queues);
    b.serve();
    BOOST_TEST(model.rows.at("a").waiters.at(0).until == before);
}

BOOST_AUTO_TEST_CASE(a_waiter_that_waits_for_long_looks_less_often)
{
    hold();
    queue();
    const int at_first = looks(20ms);
    looks(500ms);
    const int later = looks(20ms);
    BOOST_TEST(at_first >= 10);
    BOOST_TEST(later <= 5);
    BOOST_TEST(later >= 3);
}

BOOST_AUTO_TEST_CASE(a_waiter_behind_others_looks_less_often)
{
    hold();
    for (const std::string name : {"x", "y", "z"})
        model.rows.at("a").waiters.push_back({name, model.clock + 60'000'000});
    queue();
    const int made = looks(20ms);
    BOOST_TEST(made <= 7);
    BOOST_TEST(made >= 4);
}

// Renewals and releases are not delayed by a crowd that looks.
BOOST_AUTO_TEST_CASE(many_waiters_look_in_turn)
{
    constexpr std::uint64_t crowd = 2'000;
    for (std::uint64_t i = 1; i <= crowd; ++i)
        a.ask(i, "r" + std::to_string(i));
    a.serve();
    for (std::uint64_t i = 1; i <= crowd; ++i)
        b.ask(i, "r" + std::to_string(i));
    b.serve();
    std::size_t looks = 0, statements = 0;
    for (const core::time_point end = now + 1s; now < end; pass(250us)) {
        if (b.database->under_way()) {
            looks += b.database->under_way()->get().entries.size();
            ++statements;
        }
        b.serve();
    }
    BOOST_TEST(looks <= 21'000u);
    BOOST_TEST(looks >= 15'000u);
    BOOST_TEST(statements <= 1'001u);
}

BOOST_AUTO_TEST_CASE(a_holder_finds_waiters_within_milliseconds)
{
    const auto held = watch();
    BOOST_TEST(a.events.empty()); // it was looked at, not renewed
    const auto end = model.rows.at("a").expires_at;
    queue();
    wait_until([&] { return !a.events.empty(); }, 25ms);
    BOOST_TEST(a.is_event(event_kind::remote_waiters, 1));
    BOOST_TEST(model.rows.at("a").expires_at == end);
    BOOST_TEST(!a.core.queue().reports_waiters(held));
    pass(50ms);
    BOOST_TEST(!a.database->under_way()); // it knows
}

// The answer to an earlier renewal does not do for an extension.
BOOST_AUTO_TEST_CASE(a_renewal_that_is_asked_for_while_one_is_under_way)
{
    const auto held = watch();
    const std::array claims{held};
    a.core.renew(claims, false, now);
    wait_for_statement(a);
    BOOST_TEST(a.sends(action::renew, 1));
    pass(250us);
    a.core.renew(claims, true, now);
    a.database->execute();
    a.database->answer(now);
    BOOST_TEST(a.is_event(event_kind::validity, 1));
    wait_for_statement(a);
    BOOST_TEST(a.sends(action::renew, 1));
}

BOOST_AUTO_TEST_CASE(a_renewal_goes_before_a_look)
{
    const auto held = watch();
    wait_for_statement(a);
    BOOST_TEST(a.sends(action::watch, 1));
    const std::array claims{held};
    a.core.renew(claims, false, now);
    a.serve();
    BOOST_TEST(a.is_event(event_kind::validity, 1));
    queue();
    wait_until([&] { return !a.events.empty(); }, 25ms); // and it goes on looking
    BOOST_TEST(a.is_event(event_kind::remote_waiters, 1));
}

// A look is made while a renewal is due: both are executed, and the renewal is not forgotten.
BOOST_AUTO_TEST_CASE(a_renewal_that_waits_for_a_look_is_not_forgotten)
{
    const auto held = hold();
    const std::array claims{held};
    a.core.renew(claims, false, now);
    a.core.queue().report_waiters(held, now); // listed already
    a.serve();
    BOOST_TEST(a.is_event(event_kind::validity, 1));
}

BOOST_AUTO_TEST_CASE(a_renewal_that_finds_its_row_locked_is_made_again_although_the_holder_looks)
{
    const auto held = watch();
    model.clock += 1; // the row does not last as long as the renewal asks for
    model.locked["a"] = sql_model::lock::row;
    const std::array claims{held};
    a.core.renew(claims, false, now);
    a.serve();
    a.core.queue().report_waiters(held, now);
    pass(20ms);
    a.serve();
    BOOST_TEST(a.events.empty());
    model.locked.clear();
    wait_until([&] { return !a.events.empty(); }, 60ms);
    BOOST_TEST(a.is_event(event_kind::validity, 1));
}

BOOST_AUTO_TEST_CASE(a_look_finds_that_the_lease_is_lost)
{
    watch();
    model.rows.at("a").owner = "stranger";
    wait_until([&] { return !a.events.empty(); }, 25ms);
    BOOST_TEST(a.is_event(event_kind::lost, 1));
}

BOOST_AUTO_TEST_CASE(after_another_connection_it_looks_again)
{
    watch();
    wait_for_statement(a);
    a.database->disconnect(now);
    queue();
    pass(30ms);
    BOOST_TEST(a.events.empty());
    a.database->connect(now);
    a.serve();
    BOOST_TEST(a.is_event(event_kind::remote_waiters, 1));
}

BOOST_AUTO_TEST_CASE(a_look_that_is_refused_is_made_again_and_breaks_no_lease)
{
    watch();
    wait_for_statement(a);
    a.database->refuse({errc::node_error, sql::failure::remedy::refuse, "trouble"}, now);
    a.settle();
    BOOST_TEST(a.events.empty());
    queue();
    wait_until([&] { return !a.events.empty(); }, 60ms);
    BOOST_TEST(a.is_event(event_kind::remote_waiters, 1));
}

BOOST_AUTO_TEST_CASE(an_ended_claim_does_not_look)
{
    const auto held = watch();
    a.core.release(held, now);
    a.serve();
    a.events.clear();
    pass(50ms);
    BOOST_TEST(!a.database->under_way());
    BOOST_TEST(is_free());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
