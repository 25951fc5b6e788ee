// How people take a resource away.
#include "unit/sql/asking_world.hpp"

namespace {

using namespace holdfast;
using namespace holdfast::test;
using core::event_kind;
using core::inspection_task;
using kind = sql::question::kind;

BOOST_FIXTURE_TEST_SUITE(sql_taking, asking_world)

BOOST_AUTO_TEST_CASE(a_holder_that_is_told_loses_its_lease_at_once)
{
    hold();
    begin(inspection_task::force_release);
    b.serve();
    BOOST_TEST(is_free());
    BOOST_TEST(!take_result().has_value()); // until the holder answers
    tell();
    BOOST_TEST(a.is_event(event_kind::lost, 1));
    a.serve();
    tell(); // the answer
    const auto done = result<forced_release>();
    BOOST_TEST(done.told);
    BOOST_TEST(done.deleted == 1u);
    BOOST_TEST(done.owner.value().mark == a.owner(1).substr(0, 8));
}

BOOST_AUTO_TEST_CASE(the_next_in_the_queue_has_the_resource_then)
{
    hold();
    queue();
    begin(inspection_task::force_release);
    b.serve();
    BOOST_TEST(model.rows.at("a").owner == b.owner(2));
    tell();
    BOOST_TEST(b.is_event(event_kind::granted, 2));
    BOOST_TEST(a.is_event(event_kind::lost, 1));
}

BOOST_AUTO_TEST_CASE(a_locker_takes_its_own_lock)
{
    b.ask(1);
    b.serve();
    BOOST_TEST(b.is_event(event_kind::granted, 1));
    begin(inspection_task::force_release);
    b.serve();
    tell();
    BOOST_TEST(b.is_event(event_kind::lost, 1));
    b.serve();
    tell();
    BOOST_TEST(result<forced_release>().told);
}

BOOST_AUTO_TEST_CASE(a_holder_that_does_not_answer_was_not_told)
{
    hold();
    begin(inspection_task::force_release);
    b.serve();
    model.losses(); // lost
    pass(999ms);
    BOOST_TEST(!take_result().has_value());
    pass(1ms);
    const auto done = result<forced_release>();
    BOOST_TEST(!done.told);
    BOOST_TEST(done.deleted == 1u);
}

BOOST_AUTO_TEST_CASE(where_nobody_can_be_told_nothing_is_waited_for)
{
    hold();
    b.database->tell_nobody(); // behind a pooler: it would not hear the answer
    begin(inspection_task::force_release);
    b.serve();
    BOOST_TEST(!result<forced_release>().told);
    tell(); // but the holder hears it, and owes no answer
    BOOST_TEST(a.is_event(event_kind::lost, 1));
    BOOST_TEST(!a.database->asked());

    model.rows.at("a").owner = "A"; // no address
    model.rows.at("a").expires_at = model.clock + 1'000'000;
    begin(inspection_task::force_release);
    b.serve();
    BOOST_TEST(!result<forced_release>().told);
}

BOOST_AUTO_TEST_CASE(what_is_free_cannot_be_taken)
{
    begin(inspection_task::force_release);
    b.serve();
    const auto done = result<forced_release>(errc::not_held);
    BOOST_TEST(done.deleted == 0u);
    BOOST_TEST(!done.owner.has_value());
}

BOOST_AUTO_TEST_CASE(a_lock_that_is_released_meanwhile_is_not_taken)
{
    const auto held = hold();
    begin(inspection_task::force_release);
    reply(); // it was seen
    BOOST_TEST(asks(kind::take));
    a.core.release(held, now);
    a.serve();
    reply();
    const auto done = result<forced_release>();
    BOOST_TEST(done.owner.value().mark == a.owner(1).substr(0, 8));
    BOOST_TEST(done.deleted == 0u);
    BOOST_TEST(!done.told);
    BOOST_TEST(model.losses().empty());
}

BOOST_AUTO_TEST_CASE(the_next_holder_keeps_a_lock_that_changes_hands_meanwhile)
{
    const auto held = hold();
    queue();
    begin(inspection_task::force_release);
    reply(); // it was seen
    BOOST_TEST(asks(kind::take));
    a.core.release(held, now);
    a.serve();
    reply();
    const auto done = result<forced_release>();
    BOOST_TEST(done.owner.value().mark == a.owner(1).substr(0, 8));
    BOOST_TEST(done.deleted == 0u);
    BOOST_TEST(model.rows.at("a").owner == b.owner(2));
    BOOST_TEST(model.losses().empty());
}

BOOST_AUTO_TEST_CASE(a_row_that_is_locked_is_not_waited_for_for_long)
{
    hold();
    model.locked["a"] = sql_model::lock::row;
    begin(inspection_task::force_release);
    reply();
    BOOST_TEST(b.database->asked()->get().waits);
    reply();
    BOOST_TEST(!b.database->asked());
    pass(50ms);
    BOOST_REQUIRE(asks(kind::take));
    BOOST_TEST(!b.database->asked()->get().waits); // only once
    b.serve();
    for (int i = 0; i < 40; ++i) {
        pass(50ms);
        b.serve();
    }
    const auto done = result<forced_release>(errc::contended);
    BOOST_TEST(done.deleted == 0u);

    begin(inspection_task::force_release);
    b.serve();
    model.locked.clear();
    pass(50ms);
    b.serve();
    BOOST_TEST(is_free());
}

BOOST_AUTO_TEST_CASE(a_guard_keeps_a_waiter_out)
{
    hold();
    queue();
    model.locked["a"] = sql_model::lock::key;
    begin(inspection_task::force_release);
    b.serve();
    BOOST_TEST(model.rows.at("a").owner == a.owner(1));
}

BOOST_AUTO_TEST_CASE(a_take_without_an_answer_is_not_repeated)
{
    hold();
    begin(inspection_task::force_release);
    reply();
    BOOST_TEST(asks(kind::take));
    b.database->disconnect(now);
    result<forced_release>(errc::unreachable);
    b.database->connect(now);
    b.settle();
    BOOST_TEST(!b.database->asked());
}

// It was cancelled, perhaps between its last two commands. The next one has the resource by then.
BOOST_AUTO_TEST_CASE(a_take_that_has_perhaps_been_executed_is_not_repeated)
{
    hold();
    queue();
    begin(inspection_task::force_release);
    reply();
    BOOST_TEST(asks(kind::take));
    b.database->refuse({errc::no_reply, sql::failure::remedy::later, "cancelled"}, now);
    result<forced_release>(errc::unreachable);
    pass(100ms);
    b.settle();
    BOOST_TEST(!asks(kind::take));

    begin(inspection_task::force_release); // the look before it takes nothing
    b.database->refuse({errc::no_reply, sql::failure::remedy::later, "cancelled"}, now);
    pass(100ms);
    BOOST_TEST(asks(kind::look));
}

BOOST_AUTO_TEST_CASE(a_connection_that_is_lost_after_a_take_leaves_it_done)
{
    hold();
    begin(inspection_task::force_release);
    b.serve();
    b.database->cut_off(errc::no_reply, now);
    BOOST_TEST(!result<forced_release>().told);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
