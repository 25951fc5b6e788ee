// How long leases are valid, and their extension.
#include "unit/zookeeper/world.hpp"

namespace holdfast::test {
namespace {

using core::event_kind;
using core::queueing;

BOOST_AUTO_TEST_SUITE(zookeeper_validity)

BOOST_AUTO_TEST_CASE(one_heartbeat_keeps_all_claims)
{
    zk_world w;
    constexpr std::size_t many = 1'000;
    std::vector<core::claim_id> all;
    for (std::size_t i = 0; i < many; ++i)
        all.push_back(w.ask(i, "r" + std::to_string(i)));
    w.serve();
    BOOST_TEST(w.take_events().size() == many);
    std::size_t heartbeats = 0, others = 0;
    for (int i = 0; i < 90; ++i) {
        w.now += 100ms;
        w.core.renew(all, false, w.now);
        w.settle();
        heartbeats += count_of(w.link(), wire::operation::set_data);
        others += w.link().requests.size();
        w.serve();
    }
    BOOST_TEST(heartbeats >= 2u);
    BOOST_TEST(heartbeats <= 4u); // in the time of the session's timeout
    BOOST_TEST(others == heartbeats);
    BOOST_TEST(w.take_events().size() >= many);
}

// What the leader knows is older than the answer: see heartbeats.
BOOST_AUTO_TEST_CASE(a_lease_is_never_valid_for_longer_than_the_heartbeat_before_the_last_allows)
{
    zk_world w;
    const auto id = w.grant(1);
    std::vector<core::time_point> sent;
    core::time_point until = w.now + 9s;
    for (int i = 0; i < 600; ++i) {
        w.now += 50ms;
        w.core.renew({&id, 1}, false, w.now);
        w.settle();
        if (count_of(w.link(), wire::operation::set_data) != 0)
            sent.push_back(w.now);
        w.serve();
        for (const auto& e : w.take_events()) {
            BOOST_TEST((e.kind == event_kind::validity));
            BOOST_REQUIRE(sent.size() >= 2u);
            BOOST_TEST((e.valid.until <= sent[sent.size() - 2] + 9s - 10ms));
            until = e.valid.until;
        }
        BOOST_REQUIRE((until > w.now + 2s)); // it is kept all the time
    }
    for (std::size_t i = 1; i < sent.size(); ++i)
        BOOST_TEST((sent[i] - sent[i - 1] >= 9s / 4));
}

BOOST_AUTO_TEST_CASE(an_extension_is_confirmed_within_the_patience)
{
    zk_world w;
    const auto id = w.grant(1);
    w.pass(4s);
    w.take_events();
    const auto asked = w.now;
    w.core.renew({&id, 1}, true, w.now);
    while (w.now < asked + w.core.patience(9s)) {
        w.pass(50ms);
        for (const auto& e : w.take_events()) {
            if (e.valid.asked >= asked)
                return;
        }
    }
    BOOST_ERROR("the extension was not confirmed");
}

// Servers grant at least two of their ticks, which is more than was asked for here.
BOOST_AUTO_TEST_CASE(an_extension_is_confirmed_in_a_session_that_is_longer_than_asked_for)
{
    zk_world w(1, [](zk::lock_settings& s) { s.ensemble.session_timeout = 1s; });
    w.data.timeout_ms = 4'000;
    const auto id = w.grant(1);
    for (core::duration at = 1s; at < 3s; at += 100ms) {
        w.pass(at);
        w.take_events();
        const auto asked = w.now;
        bool confirmed = false;
        w.core.renew({&id, 1}, true, w.now);
        while (!confirmed && w.now < asked + w.core.patience(9s)) {
            w.pass(50ms);
            for (const auto& e : w.take_events())
                confirmed = confirmed || e.valid.asked >= asked;
        }
        BOOST_TEST(confirmed);
    }
}

// Else the locker refuses such a ttl.
BOOST_AUTO_TEST_CASE(the_patience_is_shorter_than_any_ttl)
{
    zk_world w;
    w.serve();
    for (const core::duration ttl : {100ms, 1000ms, 9000ms, 60000ms})
        BOOST_TEST((w.core.patience(ttl) < ttl - ttl / 4));
}

// The session's validity covers it already.
BOOST_AUTO_TEST_CASE(a_short_lease_is_extended_at_once)
{
    zk_world w;
    const auto id = w.ask(1, "a", queueing::none, 1s);
    w.serve();
    w.take_events();
    w.pass(500ms);
    w.core.renew({&id, 1}, true, w.now);
    const auto e = w.core.next_event();
    BOOST_REQUIRE(e);
    BOOST_TEST((e->valid.asked == w.now));
    BOOST_TEST((e->valid.until == w.now + 1s - 10ms));
}

BOOST_AUTO_TEST_CASE(validity_is_told_only_to_those_who_ask)
{
    zk_world w;
    w.grant(1);
    w.pass(20s);
    BOOST_TEST(w.take_events().empty());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
