#include "unit/zookeeper/world.hpp"

namespace holdfast::test {
namespace {

using core::event_kind;

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
    w.pass(100ms);
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
    w.now += 100ms;
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

// The server does not delete it at first. It would hold the resource as long as the session lives.
BOOST_AUTO_TEST_CASE(a_late_node_is_deleted_until_it_is_gone)
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
    old->execute();
    bool refuses = true;
    w.data.refuses = [&refuses](const wire::request& r) {
        return refuses && r.what == wire::operation::remove ? wire::code::throttled : 0;
    };
    w.pass(200s, 1s); // longer than late requests are waited for
    BOOST_TEST(w.queue().size() == 1u);
    refuses = false;
    w.pass(61s, 1s);
    BOOST_TEST(w.queue().empty());
}

// Another server grants less than the one that has begun the session.
BOOST_AUTO_TEST_CASE(holders_are_told_when_their_session_is_shortened)
{
    zk_world w(2);
    w.ask(1);
    w.serve();
    const auto granted = w.event();
    w.data.timeout_ms = 6'000;
    w.cut_all();
    w.serve();
    const auto told = w.event();
    BOOST_TEST((told.kind == event_kind::validity));
    BOOST_TEST(told.tag == 1u);
    BOOST_TEST((told.valid.ttl == 6s));
    BOOST_TEST((told.valid.until == w.now + 6s - 10ms));
    BOOST_TEST((told.valid.until < granted.valid.until));
    w.data.timeout_ms = 9'000; // a session is never longer than it was
    w.cut_all();
    w.serve();
    BOOST_TEST(w.take_events().empty());
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

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
