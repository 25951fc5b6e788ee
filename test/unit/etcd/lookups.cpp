#include "unit/etcd/world.hpp"

#include <variant>

using namespace holdfast;
using namespace holdfast::test;
using core::inspection_task;

namespace {

struct etcd_questions : etcd_pair {
    etcd_questions()
    {
        a.core.inspection()->introduce(
            {.host = "h", .program = "p", .pid = 7, .started = 1}, a.now);
    }

    void begin(std::uint64_t tag, inspection_task what, std::string_view name = "a")
    {
        b.core.inspection()->begin({.task = what, .tag = tag, .name = name}, b.now);
        b.settle();
    }
    core::inspection_result result()
    {
        auto next = b.core.inspection()->next_result();
        BOOST_REQUIRE(next.has_value());
        BOOST_TEST(!b.core.inspection()->next_result().has_value());
        return *std::move(next);
    }
    bool has_result() { return b.core.inspection()->next_result().has_value(); }
    resource_report inspect(std::string_view name = "a")
    {
        begin(1, inspection_task::inspect, name);
        b.serve();
        auto told = result();
        BOOST_TEST((told.reason == errc{}));
        return std::get<resource_report>(std::move(told.found));
    }
    lock_list list(std::string_view prefix)
    {
        begin(1, inspection_task::list, prefix);
        b.serve();
        auto told = result();
        BOOST_TEST((told.reason == errc{}));
        return std::get<lock_list>(std::move(told.found));
    }
};

BOOST_FIXTURE_TEST_SUITE(etcd_lookups, etcd_questions)

BOOST_AUTO_TEST_CASE(a_free_resource_has_no_owner)
{
    const resource_report r = inspect();
    BOOST_TEST(r.resource == "a");
    BOOST_TEST(!r.held);
    BOOST_TEST(!r.owner.has_value());
    BOOST_TEST(!r.queue.has_value());
}

BOOST_AUTO_TEST_CASE(the_oldest_key_is_that_of_the_owner)
{
    hold();
    const auto created = model.keys().begin()->second.created;
    queue(26); // its token is in front of the owner's by name
    const resource_report r = inspect();
    BOOST_TEST(r.held);
    BOOST_REQUIRE((r.owner && r.owner->client));
    BOOST_TEST(r.owner->client->pid == 7u);
    BOOST_TEST(r.owner->client->client_name == "client");
    BOOST_TEST(r.fence.value() == static_cast<std::uint64_t>(created) * 1024 + 1023);
    BOOST_TEST((r.ttl_left == 9s));
    BOOST_TEST(r.queue.value().length == 1u);
    BOOST_TEST(!r.queue->waiters.at(0).client.has_value()); // it has not introduced itself
}

BOOST_AUTO_TEST_CASE(keys_of_other_clients_and_resources)
{
    model.put("a/b/0123"); // of the resource a/b
    BOOST_TEST(!inspect().held);
    model.put("a/0123");
    const resource_report r = inspect();
    BOOST_TEST(r.held);
    BOOST_TEST(r.owner.value().foreign);
    BOOST_TEST(r.without_ttl);
    BOOST_TEST(!r.ttl_left.has_value());
}

BOOST_AUTO_TEST_CASE(locks_are_listed_in_pages)
{
    model.put("jobs/0123"); // of another client alone
    for (int i = 0; i < 2'500; ++i)
        model.put("other/" + std::to_string(i)); // more than a page
    a.ask(1, "jobs/mail");
    a.ask(2, "zebra");
    a.serve();
    const lock_list all = list("");
    BOOST_TEST(all.complete);
    BOOST_REQUIRE(all.locks.size() == 2u);
    BOOST_TEST(all.locks[0].resource == "jobs/mail");
    BOOST_TEST(all.locks[1].resource == "zebra");
    BOOST_TEST(all.locks[1].held);
    BOOST_TEST(all.locks[1].owner.value().client.value().pid == 7u);
    BOOST_TEST((all.locks[1].ttl_left == 9s));
    BOOST_TEST(list("jobs/").locks.size() == 1u);
    BOOST_TEST(list("jobs/n").locks.empty());
    BOOST_TEST(list("\xff").locks.empty());
}

BOOST_AUTO_TEST_CASE(a_lease_that_is_gone_has_no_time_left)
{
    hold();
    begin(1, inspection_task::inspect);
    b.server().execute(b.now); // the range
    b.server().answer();
    b.settle();
    BOOST_TEST(b.requests() == (std::vector<std::string>{"LeaseTimeToLive"}),
        boost::test_tools::per_element());
    model.revoke_all();
    b.serve();
    const auto told = std::get<resource_report>(result().found);
    BOOST_TEST(told.held);
    BOOST_TEST(!told.ttl_left.has_value());
}

BOOST_AUTO_TEST_CASE(another_member_is_asked_when_the_first_one_fails)
{
    hold();
    etcd_client two(model, 2, 3);
    two.core.inspection()->begin(
        {.task = inspection_task::inspect, .tag = 5, .name = "a"}, two.now);
    two.settle();
    two.cut(0);
    two.serve();
    const auto told = two.core.inspection()->next_result();
    BOOST_REQUIRE(told.has_value());
    BOOST_TEST(told->tag == 5u);
    BOOST_TEST(std::get<resource_report>(told->found).held);
}

BOOST_AUTO_TEST_CASE(a_question_without_an_answer_ends)
{
    b.serve();
    begin(1, inspection_task::list);
    b.pass(1900ms);
    BOOST_TEST(!has_result());
    b.reachable = false; // the member is given up, and there is no other
    b.pass(200ms);
    BOOST_TEST((result().reason == errc::unreachable));
    // While it is known that no member answers, the answer comes at once.
    begin(2, inspection_task::inspect);
    BOOST_TEST((result().reason == errc::unreachable));
}

BOOST_AUTO_TEST_CASE(a_question_that_many_members_do_not_answer_ends)
{
    etcd_client many(model, 8, 3);
    many.core.inspection()->begin(
        {.task = inspection_task::inspect, .tag = 5, .name = "a"}, many.now);
    for (int i = 0; i < 9; ++i) {
        many.pass(1s);
        BOOST_TEST(!many.core.inspection()->next_result().has_value());
    }
    many.pass(1s);
    const auto told = many.core.inspection()->next_result();
    BOOST_REQUIRE(told.has_value());
    BOOST_TEST((told->reason == errc::no_reply || told->reason == errc::unreachable));
}

BOOST_AUTO_TEST_CASE(missing_rights_are_told)
{
    b.serve();
    begin(1, inspection_task::inspect);
    b.server().fail(etcd_store::wire::status::permission_denied, "etcdserver: permission denied");
    b.settle();
    BOOST_TEST((result().reason == errc::permission_denied));
}

BOOST_AUTO_TEST_CASE(an_answer_that_is_none_closes_the_connection)
{
    b.serve();
    begin(1, inspection_task::inspect);
    b.server().waiting().front().executed = true;
    b.server().waiting().front().answer = {0, "\xff\xff\xff"};
    b.server().answer();
    b.settle();
    BOOST_TEST((result().reason == errc::protocol_error));
}

BOOST_AUTO_TEST_CASE(a_forgotten_question_has_no_result)
{
    b.serve();
    begin(1, inspection_task::inspect);
    b.core.inspection()->forget(1);
    b.serve();
    BOOST_TEST(!has_result());
}

BOOST_AUTO_TEST_CASE(a_lock_is_not_taken_away)
{
    hold();
    begin(1, inspection_task::force_release);
    const auto told = result();
    BOOST_TEST((told.reason == errc::unreachable));
    BOOST_TEST(std::get<forced_release>(told.found).deleted == 0u);
    BOOST_TEST(keys() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
