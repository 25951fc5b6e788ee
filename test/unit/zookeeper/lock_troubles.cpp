#include "unit/zookeeper/world.hpp"

namespace holdfast::test {
namespace {

using core::event_kind;
using core::queueing;

BOOST_AUTO_TEST_SUITE(zookeeper_lock_troubles)

BOOST_AUTO_TEST_CASE(a_lease_outlives_its_connection)
{
    zk_world w(2);
    const auto id = w.grant(1);
    for (std::size_t i = 0; i < 2; ++i) {
        if (w.links[i])
            w.cut(i);
    }
    w.serve();
    BOOST_TEST(w.data.sessions.size() == 1u); // resumed
    BOOST_TEST(w.take_events().empty());
    w.core.release(id, w.now);
    w.serve();
    BOOST_TEST((w.event().outcome == release_outcome::released));
    BOOST_TEST(w.queue().empty());
}

BOOST_AUTO_TEST_CASE(leases_are_lost_with_their_session)
{
    zk_world w;
    const auto id = w.grant(1);
    w.ask(2);
    w.serve();
    w.take_events();
    w.data.end_session(w.link().session);
    w.cut();
    w.serve();
    const auto events = w.take_events();
    BOOST_REQUIRE(events.size() == 2u);
    BOOST_TEST((events[0].kind == event_kind::lost));
    BOOST_TEST(events[0].tag == 1u);
    BOOST_TEST((events[1].kind == event_kind::granted)); // under a new session
    BOOST_TEST(events[1].tag == 2u);
    w.core.release(id, w.now);
    w.serve();
    BOOST_TEST((w.event().outcome == release_outcome::expired));
    BOOST_TEST(w.queue().size() == 1u);
}

// As some servers do. What the old session had is not believed to be there.
BOOST_AUTO_TEST_CASE(another_session_than_ours_is_an_expired_one)
{
    zk_world w;
    w.grant(1);
    const std::int64_t old = w.link().session;
    w.cut();
    w.settle();
    w.link().greeted = true;
    w.link().session = w.data.begin_session();
    w.link().replies.push_back(wire::encode(
        wire::connect_reply{.timeout_ms = 9'000, .session = w.link().session, .password = "q"}));
    w.serve();
    BOOST_TEST((w.event().kind == event_kind::lost));
    BOOST_TEST(w.link().session != old);
    w.ask(2, "b");
    w.serve();
    BOOST_TEST((w.event().kind == event_kind::granted));
    BOOST_TEST(w.data.nodes.at("/locks/b/" + w.queue("b").front()).owner == w.link().session);
}

BOOST_AUTO_TEST_CASE(an_error_that_tells_of_the_end_of_the_session_is_heard)
{
    zk_world w;
    w.grant(1);
    w.data.end_session(w.link().session);
    w.ask(2, "b");
    w.serve();
    const auto events = w.take_events();
    BOOST_REQUIRE(events.size() == 2u);
    BOOST_TEST((events[0].kind == event_kind::lost));
    BOOST_TEST((events[1].kind == event_kind::granted));
}

// Every point at which the connection can break, executed or not.
BOOST_AUTO_TEST_CASE(an_attempt_is_granted_once_wherever_the_connection_breaks)
{
    for (int executed = 0; executed < 8; ++executed) {
        for (int delivered = 0; delivered <= executed; ++delivered) {
            zk_world w(2);
            w.core.release(w.grant(1), w.now);
            w.serve();
            w.take_events();
            const auto id = w.ask(2);
            w.settle();
            for (int i = 0; i < executed; ++i)
                w.link().execute();
            for (int i = 0; i < delivered && !w.link().replies.empty(); ++i)
                w.link().deliver(w.now);
            const auto before = w.take_events();
            for (std::size_t i = 0; i < 2; ++i) {
                if (w.links[i])
                    w.cut(i);
            }
            w.serve();
            auto events = w.take_events();
            events.insert(events.begin(), before.begin(), before.end());
            const auto grants = std::count_if(events.begin(), events.end(),
                [](const auto& e) { return e.kind == event_kind::granted; });
            BOOST_TEST(grants == 1);
            BOOST_TEST(w.queue().size() == 1u);
            w.core.release(id, w.now);
            w.serve();
            BOOST_TEST(w.queue().empty());
        }
    }
}

// The server was slow: it carries out a request of the old connection when the session is back.
BOOST_AUTO_TEST_CASE(a_late_request_leaves_no_node_behind)
{
    zk_world w(2);
    w.core.release(w.grant(1), w.now);
    w.serve();
    w.take_events();
    const auto id = w.ask(2);
    w.settle();
    std::unique_ptr<zk_link> old;
    for (std::size_t i = 0; i < 2; ++i) {
        if (w.links[i])
            old = w.cut(i);
    }
    w.serve();
    BOOST_TEST((w.event().kind == event_kind::granted)); // under another name
    w.pass(3s);
    old->execute();
    BOOST_TEST(w.queue().size() == 2u);
    w.pass(6s);
    BOOST_TEST(w.queue().size() == 1u);
    w.core.release(id, w.now);
    w.serve();
    w.take_events();
    w.ask(3);
    w.serve();
    BOOST_TEST((w.event().kind == event_kind::granted));
}

BOOST_AUTO_TEST_CASE(a_late_request_of_an_attempt_that_was_given_up_leaves_no_node_behind)
{
    zk_world w(2);
    w.core.release(w.grant(1), w.now);
    w.serve();
    w.take_events();
    const auto id = w.ask(2);
    w.settle();
    w.core.abandon(id, w.now);
    std::unique_ptr<zk_link> old;
    for (std::size_t i = 0; i < 2; ++i) {
        if (w.links[i])
            old = w.cut(i);
    }
    w.serve();
    BOOST_TEST(w.core.cleanup().is_done());
    old->execute();
    BOOST_TEST(w.queue().size() == 1u);
    w.pass(2s);
    BOOST_TEST(w.queue().empty());
}

BOOST_AUTO_TEST_CASE(a_waiter_waits_on_after_its_connection_was_lost)
{
    zk_world w(2);
    const auto first = w.grant(1);
    w.ask(2);
    w.serve();
    w.take_events();
    for (std::size_t i = 0; i < 2; ++i) {
        if (w.links[i])
            w.cut(i);
    }
    w.core.release(first, w.now); // while nothing is connected
    w.serve();
    const auto events = w.take_events();
    BOOST_REQUIRE(events.size() == 2u);
    BOOST_TEST((events[0].outcome == release_outcome::released));
    BOOST_TEST((events[1].kind == event_kind::granted));
}

BOOST_AUTO_TEST_CASE(a_release_without_an_answer_is_told_and_repeated)
{
    zk_world w;
    const auto id = w.grant(1);
    w.silent = true;
    w.core.release(id, w.now);
    w.pass(7s);
    BOOST_TEST((w.event().outcome == release_outcome::unconfirmed));
    BOOST_TEST(w.core.cleanup().under_way() == 1u);
    w.silent = false;
    w.pass(2s);
    BOOST_TEST(w.queue().empty());
    BOOST_TEST(w.core.cleanup().is_done());
}

BOOST_AUTO_TEST_CASE(the_next_server_is_asked_when_one_is_silent)
{
    zk_world w(2);
    w.grant(1);
    zk_link* const used = &w.link();
    w.silent = true;
    w.ask(2, "b");
    w.pass(1600ms);
    w.silent = false;
    w.serve();
    BOOST_TEST((&w.link() != used));
    BOOST_TEST((w.event().kind == event_kind::granted));
    BOOST_TEST(w.data.sessions.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_node_that_was_deleted_by_hand_is_created_again)
{
    zk_world w;
    const auto first = w.grant(1);
    w.ask(2);
    w.ask(3);
    w.serve();
    w.take_events();
    // That of the second. The third one waits for it, and looks again; so does the second one when
    // it is its turn.
    w.data.remove("/locks/a/" + w.queue()[1]);
    w.core.release(first, w.now);
    w.serve();
    std::vector<std::uint64_t> granted;
    for (const auto& e : w.take_events()) {
        if (e.kind == event_kind::granted)
            granted.push_back(e.tag);
    }
    BOOST_TEST(!granted.empty());
}

BOOST_AUTO_TEST_CASE(folders_that_vanish_are_created_again)
{
    zk_world w;
    w.core.release(w.grant(1), w.now);
    w.serve();
    w.take_events();
    w.data.remove("/locks/a");
    w.ask(2);
    w.serve();
    BOOST_TEST((w.event().kind == event_kind::granted));
}

BOOST_AUTO_TEST_CASE(the_session_s_node_is_created_again)
{
    zk_world w;
    w.grant(1);
    for (const auto& name : w.data.children("/locks")) {
        if (name.starts_with("_s_"))
            w.data.remove("/locks/" + name);
    }
    w.pass(10s);
    const auto id = w.ask(2, "b");
    w.serve();
    BOOST_TEST((w.event().kind == event_kind::granted));
    BOOST_TEST(id != 0u);
}

BOOST_AUTO_TEST_CASE(servers_without_containers_are_served)
{
    zk_world w;
    w.data.refuses = [](const wire::request& r) {
        return r.what == wire::operation::create_container ? wire::code::unimplemented : 0;
    };
    w.data.nodes["/locks"];
    w.grant(1);
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
        fresh.now += 1s;
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
