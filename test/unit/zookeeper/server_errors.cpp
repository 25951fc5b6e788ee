#include "unit/zookeeper/world.hpp"

namespace holdfast::test {
namespace {

using core::event_kind;

BOOST_AUTO_TEST_SUITE(zookeeper_server_errors)

BOOST_AUTO_TEST_CASE(servers_without_containers_are_served)
{
    zk_world w;
    w.data.refuses = [](const wire::request& r) {
        return r.what == wire::operation::create_container ? wire::code::unimplemented : 0;
    };
    w.data.nodes["/locks"];
    w.grant(1);
}

// The folders of the root, of the session's node, and of the resource.
BOOST_AUTO_TEST_CASE(without_containers_folders_are_plain_nodes)
{
    zk_world w(1, [](zk::lock_settings& s) { s.root = "/deep/down/locks"; });
    int containers = 0;
    w.data.refuses = [&containers](const wire::request& r) {
        if (r.what != wire::operation::create_container)
            return 0;
        ++containers;
        return wire::code::unimplemented;
    };
    const auto id = w.grant(1);
    BOOST_TEST(w.data.children("/deep/down/locks/a").size() == 1u);
    const int asked = containers;
    BOOST_TEST(asked > 0);
    w.core.release(id, w.now);
    w.serve();
    w.take_events();
    w.grant(2, "b"); // it knows now
    BOOST_TEST(containers == asked);
    w.core.cleanup().wind_up(w.now);
    for (const char* each : {"/deep", "/deep/down", "/deep/down/locks", "/deep/down/locks/a"}) {
        BOOST_REQUIRE(w.data.nodes.contains(each));
        BOOST_TEST(w.data.nodes.at(each).owner == 0);
    }
}

// All of them have asked for a container before the first answer.
BOOST_AUTO_TEST_CASE(without_containers_many_attempts_at_once_are_granted)
{
    zk_world w;
    w.data.refuses = [](const wire::request& r) {
        return r.what == wire::operation::create_container ? wire::code::unimplemented : 0;
    };
    for (std::uint64_t i = 1; i <= 10; ++i)
        w.ask(i, "r" + std::to_string(i));
    w.serve();
    const auto events = w.take_events();
    BOOST_TEST(events.size() == 10u);
    for (const auto& e : events)
        BOOST_TEST((e.kind == event_kind::granted));
}

BOOST_AUTO_TEST_CASE(errors_are_told)
{
    const std::pair<std::int32_t, errc> all[] = {
        {wire::code::no_auth, errc::permission_denied},
        {wire::code::throttled, errc::overloaded},
        {wire::code::quota_exceeded, errc::node_error},
        {wire::code::invalid_acl, errc::misconfigured_node},
        {-1, errc::node_error},
    };
    for (const auto& [code, wanted] : all) {
        zk_world w;
        w.serve();
        w.data.refuses = [code = code](const wire::request& r) {
            return r.what == wire::operation::create2 ? code : 0;
        };
        w.ask(1);
        w.serve();
        const auto refused = w.event();
        BOOST_TEST((refused.kind == event_kind::refused));
        BOOST_TEST((refused.reason == wanted), code);
        BOOST_TEST(w.core.cleanup().is_done());
    }
}

// Without it the session could not be confirmed.
BOOST_AUTO_TEST_CASE(a_session_without_its_node_is_of_no_use)
{
    zk_world w;
    w.data.refuses = [](const wire::request& r) {
        return r.what == wire::operation::create ? wire::code::no_auth : 0;
    };
    w.ask(1);
    w.serve();
    bool refused = false;
    for (const auto& e : w.take_events())
        refused = refused || (e.kind == event_kind::refused && e.reason == errc::permission_denied);
    BOOST_TEST(refused);
    BOOST_TEST((w.core.nodes().cut_off() == errc::permission_denied));
    BOOST_TEST(w.core.nodes().stats().front().reason.find("session's node") != std::string::npos);
}

// Each of them answers other requests, which does not make it useful.
BOOST_AUTO_TEST_CASE(servers_that_refuse_the_session_s_node_are_tried_seldom)
{
    zk_world w(2);
    w.data.nodes["/locks"];
    w.data.nodes["/locks/a"];
    w.data.refuses = [](const wire::request& r) {
        const bool of_session = r.path.starts_with("/locks/_s_");
        return of_session ? wire::code::no_auth : 0;
    };
    w.ask(1);
    w.pass(2s, 1ms);
    BOOST_REQUIRE(!w.events.empty());
    BOOST_TEST((w.events.front().reason == errc::permission_denied));
    std::uint64_t connects = 0;
    for (const node_stats& each : w.core.nodes().stats())
        connects += each.connects;
    BOOST_TEST(connects < 60u); // pauses grow to 100 ms
    BOOST_TEST(connects > 2u);
}

BOOST_AUTO_TEST_CASE(a_refused_login_is_told_without_the_password)
{
    zk_world w(1, [](zk::lock_settings& s) {
        s.ensemble.user = "app";
        s.ensemble.password = "secret";
    });
    w.data.refuses = [](const wire::request& r) {
        BOOST_TEST((r.what != wire::operation::authenticate || r.data == "app:secret"));
        return r.what == wire::operation::authenticate ? wire::code::auth_failed : 0;
    };
    w.ask(1);
    w.serve();
    BOOST_TEST((w.event().reason == errc::authentication_failed));
    BOOST_TEST(w.core.nodes().stats().front().reason.find("secret") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(without_servers_attempts_fail_soon)
{
    zk_world w(2);
    w.settle();
    w.ask(1);
    for (int i = 0; i < 3; ++i) {
        for (std::size_t k = 0; k < 2; ++k) {
            if (w.links[k])
                w.cut(k);
        }
        w.settle();
    }
    BOOST_TEST((w.event().reason == errc::unreachable));
    w.ask(2);
    BOOST_TEST(w.core.next_event().has_value());
}

BOOST_AUTO_TEST_CASE(a_server_that_can_only_be_read_is_not_used)
{
    zk_world w;
    w.settle();
    w.link().greeted = true;
    w.link().replies.push_back(wire::encode(wire::connect_reply{
        .timeout_ms = 9'000, .session = 5, .password = "p", .read_only = true}));
    w.link().deliver(w.now);
    BOOST_TEST((w.core.nodes().cut_off() == errc::unreachable));
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_answers_break_the_connection_alone)
{
    const std::string bad[] = {"HTTP/1.1 400 Bad Request\r\n\r\n",
        std::string("\x7f\xff\xff\xff", 4), std::string("\xff\xff\xff\xfe", 4),
        wire::framed("short"),
        wire::framed(wire::encode(wire::reply_header{.number = 4711, .zxid = 1})),
        wire::framed(std::string(16, '\xff')), "+PONG\r\n"};
    for (const std::string& bytes : bad) {
        zk_world w;
        const auto id = w.grant(1);
        w.link().send(bytes, w.now);
        w.now += 1s;
        w.serve();
        BOOST_TEST(w.core.nodes().stats().front().connects == 2u);
        BOOST_TEST(w.take_events().empty());
        w.core.release(id, w.now);
        w.serve();
        BOOST_TEST((w.event().outcome == release_outcome::released));

        zk_world fresh; // the same as the first bytes
        fresh.settle();
        fresh.link().greeted = true;
        fresh.link().send(bytes, fresh.now);
        fresh.pass(1s);
        fresh.grant(1);
    }
}

BOOST_AUTO_TEST_CASE(an_answer_of_another_kind_is_no_grant)
{
    for (const auto* const path : {"/locks/b/x-0000000000", "/locks/a", "", "/locks/a/none"}) {
        zk_world w;
        w.core.release(w.grant(1), w.now);
        w.serve();
        w.take_events();
        w.ask(2);
        w.settle();
        const auto number = w.link().requests.front().number;
        w.link().requests.clear();
        w.link().replies.push_back(wire::encode({.number = number, .zxid = 1},
            wire::operation::create2, {.path = path, .stat = {.created = 1}}));
        w.link().replies.push_back(wire::encode({.number = number + 1, .zxid = 1},
            wire::operation::get_children, {.children = {"x-0000000000"}}));
        while (!w.link().replies.empty())
            w.link().deliver(w.now);
        w.settle();
        for (const auto& e : w.take_events())
            BOOST_TEST((e.kind != event_kind::granted), path);
    }
}

BOOST_AUTO_TEST_CASE(a_lease_is_over_when_no_server_has_confirmed_the_session)
{
    zk_world w;
    const auto id = w.grant(1);
    w.pass(4s);
    w.take_events();
    w.silent = true;
    const auto last = w.now;
    core::time_point until = last;
    for (int i = 0; i < 100; ++i) {
        w.core.renew({&id, 1}, false, w.now);
        w.pass(100ms);
        for (const auto& e : w.take_events())
            until = std::max(until, e.valid.until);
    }
    BOOST_TEST((until < last + 9s));
}

BOOST_AUTO_TEST_CASE(a_late_grant_waits_for_the_session_to_be_confirmed)
{
    zk_world w;
    w.serve();
    w.silent = true; // heartbeats are not answered
    w.pass(1s);
    w.silent = false;
    w.serve();
    w.pass(2s);
    const auto id = w.grant(1);
    w.core.release(id, w.now);
    w.serve();
    BOOST_TEST((w.event().outcome == release_outcome::released));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
