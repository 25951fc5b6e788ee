#include "unit/zookeeper/world.hpp"

#include <variant>

namespace holdfast::test {
namespace {

using core::event_kind;
using core::inspection_task;

// A token of client 7, of 1,700,000,000 s after the epoch.
const std::string token = "AAAAAAAAAAAAAAAAAAAAAGVT8QAAAAAH";

template <class Found>
Found look(zk_world& w, inspection_task task, std::string_view name, errc wanted = errc{})
{
    w.core.inspection()->begin({.task = task, .tag = 9, .name = name}, w.now);
    w.serve();
    const auto result = w.core.inspection()->next_result();
    BOOST_REQUIRE(result);
    BOOST_TEST(result->tag == 9u);
    BOOST_TEST((result->reason == wanted));
    return std::get<Found>(result->found);
}

std::int64_t put(zk_world& w, const std::string& resource, const std::string& name,
    const std::string& data, std::int64_t owner = 1)
{
    w.data.nodes["/locks"];
    w.data.nodes["/locks/" + resource];
    const auto path = w.data.create("/locks/" + resource + '/' + name, true, owner, data).first;
    return w.data.nodes.at(path).created;
}

BOOST_AUTO_TEST_SUITE(zookeeper_lookups)

BOOST_AUTO_TEST_CASE(a_report_tells_the_holder_and_those_who_wait)
{
    zk_world w;
    const auto created = put(w, "a", "_c_" + token + "-lock-", "shop 42@web-1 server 0.1.0 99");
    put(w, "a", "other-lock-", "");
    w.data.nodes["/locks/a/readme"];
    const auto r = look<resource_report>(w, inspection_task::inspect, "a");
    BOOST_TEST(r.held);
    BOOST_REQUIRE(r.owner);
    BOOST_TEST(r.owner->id == 7u);
    BOOST_REQUIRE(r.owner->client);
    BOOST_TEST(r.owner->client->host == "web-1");
    BOOST_TEST(!r.without_ttl);
    BOOST_TEST(!r.ttl_left);
    BOOST_TEST(r.fence.value_or(0) == static_cast<std::uint64_t>(created) * 64 + 63);
    BOOST_REQUIRE(r.queue);
    BOOST_TEST(r.queue->length == 1u);
    BOOST_TEST(r.queue->waiters.front().foreign);
}

BOOST_AUTO_TEST_CASE(a_free_resource_is_not_held)
{
    zk_world w;
    const auto r = look<resource_report>(w, inspection_task::inspect, "a");
    BOOST_TEST(!r.held);
    BOOST_TEST(r.majority == 1u);
}

BOOST_AUTO_TEST_CASE(a_node_without_a_session_never_ends)
{
    zk_world w;
    put(w, "a", "lock-", "", 0);
    BOOST_TEST(look<resource_report>(w, inspection_task::inspect, "a").without_ttl);
}

BOOST_AUTO_TEST_CASE(a_list_has_the_locks_of_this_library_sorted_by_name)
{
    zk_world w;
    put(w, "b%2Fx", "_c_" + token + "-lock-", "");
    put(w, "b", "_c_" + token + "-lock-", "");
    put(w, "ba", "lock-", "");
    put(w, "c", "_c_" + token + "-lock-", "");
    w.data.nodes["/locks/b_empty"];
    const auto all = look<lock_list>(w, inspection_task::list, "b");
    BOOST_TEST(all.complete);
    BOOST_REQUIRE(all.locks.size() == 2u);
    BOOST_TEST(all.locks[0].resource == "b");
    BOOST_TEST(all.locks[1].resource == "b/x");
    BOOST_TEST(all.locks[1].owner->id == 7u);
}

BOOST_AUTO_TEST_CASE(a_lock_cannot_be_taken_away)
{
    zk_world w;
    w.serve();
    look<forced_release>(w, inspection_task::force_release, "a", errc::unreachable);
}

BOOST_AUTO_TEST_CASE(missing_rights_are_told)
{
    zk_world w;
    w.serve();
    w.data.refuses = [](const wire::request& r) {
        return r.what == wire::operation::get_children ? wire::code::no_auth : 0;
    };
    look<resource_report>(w, inspection_task::inspect, "a", errc::permission_denied);
}

BOOST_AUTO_TEST_CASE(a_question_outlives_its_connection)
{
    zk_world w(2);
    put(w, "a", "_c_" + token + "-lock-", "");
    w.serve();
    w.core.inspection()->begin({.task = inspection_task::inspect, .tag = 1, .name = "a"}, w.now);
    w.settle();
    w.link().execute();
    w.link().deliver(w.now);
    for (std::size_t i = 0; i < 2; ++i) {
        if (w.links[i])
            w.cut(i);
    }
    w.serve();
    const auto result = w.core.inspection()->next_result();
    BOOST_REQUIRE(result);
    BOOST_TEST(std::get<resource_report>(result->found).held);
}

// Its answer is perhaps too long, and ends each connection. Leases would suffer from that.
BOOST_AUTO_TEST_CASE(a_list_that_is_lost_with_three_connections_is_given_up)
{
    zk_world w(2);
    w.serve();
    w.core.inspection()->begin({.task = inspection_task::list, .tag = 1, .name = {}}, w.now);
    w.settle();
    BOOST_TEST(w.link().requests.size() == 1u);
    for (int lost = 1; lost < 3; ++lost) {
        w.cut_all();
        BOOST_TEST(!w.core.inspection()->next_result());
        w.now += 200ms;
        w.settle();
        w.link().greet();
        w.link().deliver(w.now);
        w.settle();
        BOOST_REQUIRE(w.link().requests.size() == 2u); // a heartbeat, and the list
        w.link().execute();
        w.link().deliver(w.now);
        w.settle();
    }
    w.cut_all();
    const auto result = w.core.inspection()->next_result();
    BOOST_REQUIRE(result);
    BOOST_TEST((result->reason == errc::no_reply));
    BOOST_TEST(result->tag == 1u);
    w.pass(200ms);
    BOOST_TEST(!w.core.inspection()->next_result());
}

BOOST_AUTO_TEST_CASE(a_question_ends_when_nobody_answers)
{
    zk_world w;
    w.serve();
    w.silent = true;
    w.core.inspection()->begin({.task = inspection_task::inspect, .tag = 1, .name = "a"}, w.now);
    w.pass(15s);
    const auto result = w.core.inspection()->next_result();
    BOOST_REQUIRE(result);
    BOOST_TEST((result->reason == errc::unreachable || result->reason == errc::no_reply));
}

BOOST_AUTO_TEST_CASE(the_nodes_of_a_locker_tell_whose_they_are)
{
    zk_world w;
    w.core.inspection()->introduce(
        {.host = "web-1", .program = "server", .pid = 42, .started = 99}, w.now);
    w.grant(1);
    const auto& node = w.data.nodes.at("/locks/a/" + w.queue().front());
    BOOST_TEST(node.data.starts_with("client 42@web-1 server "));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
