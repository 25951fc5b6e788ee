// What people are told of the table.
#include "unit/sql/asking_world.hpp"

namespace {

using namespace holdfast;
using namespace holdfast::test;
using core::inspection_task;
using kind = sql::question::kind;
using sql::action;

BOOST_FIXTURE_TEST_SUITE(sql_lookups, asking_world)

BOOST_AUTO_TEST_CASE(a_free_resource_has_no_owner)
{
    for (const bool has_row : {false, true}) {
        if (has_row)
            add_row("a", false);
        const resource_report r = inspect();
        BOOST_TEST(r.resource == "a");
        BOOST_TEST(!r.held);
        BOOST_TEST(r.majority == 1u);
        BOOST_TEST(r.having == 0u);
        BOOST_TEST(!r.owner.has_value());
        BOOST_TEST(!r.ttl_left.has_value());
        BOOST_TEST(!r.queue.has_value());
        BOOST_TEST(r.fence.has_value() == has_row);
    }
}

BOOST_AUTO_TEST_CASE(the_holder_is_told_and_waiters_whose_places_are_good)
{
    hold();
    model.rows.at("a").waiters = {{"gone@x", model.clock}, {b.owner(7), model.clock + 9'000'000}};
    pass(2s);
    const resource_report r = inspect();
    BOOST_TEST(r.held);
    BOOST_TEST(r.having == 1u);
    BOOST_REQUIRE(r.owner.has_value());
    BOOST_TEST(!r.owner->foreign);
    BOOST_TEST(r.owner->mark == a.owner(1).substr(0, 8));
    BOOST_TEST(!r.owner->client.has_value()); // the row does not know the process
    BOOST_TEST((r.ttl_left == 7s));
    BOOST_TEST(r.fence.value() == model.rows.at("a").tokens.last);
    BOOST_TEST(r.queue.value().length == 1u);
    BOOST_TEST(r.queue->address == "sql");
    BOOST_REQUIRE(r.queue->waiters.size() == 1u);
    BOOST_TEST(r.queue->waiters[0].mark == b.owner(7).substr(0, 8));
    pass(8s); // it has ended
    BOOST_TEST(!inspect().held);
}

BOOST_AUTO_TEST_CASE(an_owner_that_a_person_has_written_is_foreign)
{
    add_row("a");
    model.rows.at("a").owner = "maintenance until noon";
    const resource_report r = inspect();
    BOOST_TEST(r.held);
    BOOST_TEST(r.owner.value().foreign);
    BOOST_TEST(r.owner->mark == "maintena");
}

BOOST_AUTO_TEST_CASE(locks_are_listed_in_pages)
{
    for (int i = 0; i < 1'200; ++i) // more than two pages
        add_row("jobs/" + std::to_string(10'000 + i), i % 2 == 0);
    add_row("zebra");
    const lock_list all = list("");
    BOOST_TEST(all.complete);
    BOOST_REQUIRE(all.locks.size() == 601u);
    BOOST_TEST(all.locks[1].resource == "jobs/10002");
    BOOST_TEST(all.locks[600].resource == "zebra");
    BOOST_TEST(all.locks[600].held);
    BOOST_TEST((all.locks[600].ttl_left == 5s));
    BOOST_TEST(list("jobs/").locks.size() == 600u);
    BOOST_TEST(list("jobs/1000").locks.size() == 5u);
    BOOST_TEST(list("zebras").locks.empty());
}

BOOST_AUTO_TEST_CASE(a_prefix_may_be_any_bytes)
{
    const std::string full(512, '\xff');
    for (const std::string& name : {full, std::string("\xff"), std::string("a\xff\xff"),
             std::string("b"), std::string("\0a", 2), std::string("a%_\\")})
        add_row(name);
    BOOST_TEST(list("").locks.size() == 6u);
    BOOST_TEST(list("\xff").locks.size() == 2u);
    BOOST_TEST(list(full).locks.size() == 1u);
    BOOST_TEST(list("a").locks.size() == 2u);
    BOOST_TEST(list("a\xff").locks.size() == 1u);
    BOOST_TEST(list("a%").locks.size() == 1u);
    BOOST_TEST(list(std::string(1, '\0')).locks.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_list_has_limits)
{
    for (int i = 0; i < 20'001; ++i)
        add_row(std::to_string(100'000 + i));
    const lock_list many = list("");
    BOOST_TEST(many.locks.size() == 20'000u);
    BOOST_TEST(!many.complete);
    model.rows.erase("120000");
    BOOST_TEST(list("").complete);

    model.rows.clear();
    for (int i = 0; i < 17'000; ++i)
        add_row(std::string(500, 'x') + std::to_string(i));
    const lock_list wide = list("");
    BOOST_TEST(!wide.complete);
    BOOST_TEST(wide.locks.size() > 16'000u);
    BOOST_TEST(wide.locks.size() < 17'000u);
}

BOOST_AUTO_TEST_CASE(statements_for_locks_go_first)
{
    b.ask(1); // under way
    begin(inspection_task::inspect);
    b.ask(2, "other");
    BOOST_TEST(b.sends(action::want, 1));
    b.database->execute();
    b.database->answer(now);
    b.settle();
    BOOST_TEST(b.sends(action::want, 1)); // the second one
    BOOST_TEST(!b.database->asked());
    b.database->execute();
    b.database->answer(now);
    b.settle();
    BOOST_TEST(asks(kind::look));
    b.ask(3, "third");
    BOOST_TEST(!b.database->under_way()); // one at a time
    reply();
    BOOST_TEST(b.sends(action::want, 1));
    BOOST_TEST(result<resource_report>().held);
}

// Even a locker that is never idle tells people something, without two questions in a row.
BOOST_AUTO_TEST_CASE(a_question_that_has_waited_long_goes_between_two_statements)
{
    begin(inspection_task::list); // asked at once
    b.ask(1, "x1");
    begin(inspection_task::inspect, "a", 2);
    begin(inspection_task::inspect, "b", 3);
    reply();
    BOOST_TEST(take_result().has_value());
    for (std::uint64_t tag = 2; tag < 4; ++tag) {
        BOOST_TEST(b.sends(action::want, 1));
        b.ask(tag, "x" + std::to_string(tag));
        pass(60ms);
        b.database->execute();
        b.database->answer(now);
        b.settle();
        BOOST_TEST(asks(kind::look));
        reply();
        BOOST_TEST(take_result().has_value());
    }
    BOOST_TEST(b.sends(action::want, 1));
}

BOOST_AUTO_TEST_CASE(without_a_connection_the_time_is_bounded)
{
    b.database->disconnect(now);
    begin(inspection_task::inspect);
    BOOST_TEST(!take_result().has_value());
    BOOST_TEST((b.core.wake_at() <= now + 2s));
    pass(2s);
    result<resource_report>(errc::unreachable);
    b.database->cut_off(errc::authentication_failed, now);
    begin(inspection_task::list);
    result<lock_list>(errc::authentication_failed);
    begin(inspection_task::force_release);
    result<forced_release>(errc::authentication_failed);
}

BOOST_AUTO_TEST_CASE(a_server_that_cannot_be_used_ends_questions)
{
    begin(inspection_task::inspect);
    b.database->cut_off(errc::no_reply, now);
    result<resource_report>(errc::unreachable);
}

BOOST_AUTO_TEST_CASE(after_another_connection_it_is_asked_again)
{
    hold();
    begin(inspection_task::inspect);
    b.database->disconnect(now);
    pass(1s);
    b.database->connect(now);
    b.settle();
    BOOST_TEST(asks(kind::look));
    reply();
    BOOST_TEST(result<resource_report>().held);
}

BOOST_AUTO_TEST_CASE(a_question_without_an_answer_ends_the_connection_and_is_not_repeated)
{
    begin(inspection_task::inspect);
    pass(999ms);
    BOOST_TEST(b.database->failures == 0);
    pass(1ms);
    BOOST_TEST(b.database->failures == 1);
    result<resource_report>(errc::unreachable);
    b.database->connect(now);
    b.settle();
    BOOST_TEST(!b.database->asked());
}

BOOST_AUTO_TEST_CASE(errors_of_the_server_are_told_or_pass)
{
    begin(inspection_task::list);
    b.database->refuse({errc::node_error, sql::failure::remedy::refuse, "disk full"}, now);
    result<lock_list>(errc::node_error);
    begin(inspection_task::inspect);
    b.database->refuse({errc::no_reply, sql::failure::remedy::later, "cancelled"}, now);
    b.settle();
    BOOST_TEST(!b.database->asked()); // it rests
    pass(50ms);
    BOOST_TEST(asks(kind::look));
    reply();
    result<resource_report>();
}

BOOST_AUTO_TEST_CASE(what_is_forgotten_has_no_result)
{
    begin(inspection_task::inspect);
    b.core.inspection()->forget(1);
    reply();
    BOOST_TEST(!take_result().has_value());
    begin(inspection_task::inspect);
    b.serve();
    b.core.inspection()->forget(1);
    BOOST_TEST(!take_result().has_value());
}

BOOST_AUTO_TEST_CASE(lockers_have_numbers)
{
    BOOST_TEST(a.core.inspection()->client_id() != 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
