#include "redis/reply_router.hpp"

#include "unit/redis/collaborator_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <vector>

using namespace holdfast::redis;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;
namespace core = holdfast::core;
using core::event_kind;

namespace {

struct router_fixture : collaborator_fixture {
    router_fixture()
    {
        handle = [this](std::size_t node, const request& r, reply answer) {
            router.on_reply(node, r, answer, now);
        };
    }

    core::claim_id attempt()
    {
        core::owner_token token;
        token.text.fill('x');
        return life.begin(7, "A", token, {.ttl = 10s}, now);
    }

    core::claim_id hold()
    {
        const core::claim_id id = attempt();
        run();
        BOOST_REQUIRE(!events.empty());
        BOOST_REQUIRE((events.pop().kind == event_kind::granted));
        return id;
    }

    void lose(std::size_t node, core::claim_id id, request_kind kind)
    {
        router.on_orphaned(node, {.reference = id, .kind = kind, .sent = now}, now);
    }

    core::ring<core::backend_event> events;
    collaborators parts{pool, dialect, jitter};
    claim_ends ends{parts, events};
    life_cycle life{parts, ends, events};
    reply_router router{parts, life, ends, events};
};

} // namespace

BOOST_AUTO_TEST_SUITE(redlock_reply_router)

// The message that a person has taken a lock away: each node tells of its own key.
BOOST_FIXTURE_TEST_CASE(a_taken_lock_ends_its_claim, router_fixture)
{
    const auto say = [&](std::size_t node, const std::string& message) {
        using kind = holdfast::resp::value_kind;
        const std::vector<holdfast::resp::value> push{{.kind = kind::push, .count = 3, .text = {}},
            {.kind = kind::blob_string, .text = "message"},
            {.kind = kind::blob_string, .text = "holdfast:0"},
            {.kind = kind::blob_string, .text = message}};
        router.on_push(node, push, now);
    };
    const std::string token(32, 'x');
    const core::claim_id id = hold();
    for (std::size_t i = 0; i < 3; ++i) {
        say(i, std::string(32, 'y') + " is taken away");
        say(i, token + " is taken awaY");
        say(i, token);
    }
    for (int i = 0; i < 3; ++i)
        say(0, token + " is taken away"); // one node is no majority, however often it tells
    BOOST_TEST(events.empty());
    say(2, token + " is taken away");
    BOOST_REQUIRE(events.size() == 1u);
    const auto lost = events.pop();
    BOOST_TEST((lost.kind == event_kind::lost));
    BOOST_TEST(lost.tag == 7u);
    BOOST_TEST(!lost.keys_left); // nobody has to wait
    ends.release(id, now);       // the nodes that reported the loss may still have the keys
    run();
    for (model_node& n : nodes)
        BOOST_TEST(n.owner("A", now) == "");
}

// The key is still there: a renewal finds it, and proves nothing.
BOOST_FIXTURE_TEST_CASE(a_key_that_was_taken_does_not_count_again, router_fixture)
{
    const core::claim_id id = hold();
    life.on_taken_away(std::string(32, 'x'), 1, now);
    now += 1s;
    parts.kept.renew({&id, 1}, false, now);
    run();
    while (!events.empty())
        BOOST_TEST((events.pop().kind == event_kind::validity));
    parts.claims[id].granted(1, now); // nor does a late answer to its SET
    life.on_taken_away(std::string(32, 'x'), 0, now);
    BOOST_REQUIRE(events.size() == 1u);
    BOOST_TEST((events.pop().kind == event_kind::lost));
}

// Its votes are worth nothing any more: it must not become a lease.
BOOST_FIXTURE_TEST_CASE(a_taken_attempt_is_refused, router_fixture)
{
    const core::claim_id id = attempt();
    life.on_taken_away(std::string(32, 'x'), 0, now);
    BOOST_REQUIRE(events.size() == 1u);
    const auto refused = events.pop();
    BOOST_TEST((refused.kind == event_kind::refused));
    BOOST_TEST((refused.reason == errc::contended));
    run(); // its grants are deleted
    BOOST_TEST(events.empty());
    BOOST_TEST((parts.claims.find(id) == nullptr));
    for (model_node& n : nodes)
        BOOST_TEST(n.owner("A", now) == "");
}

// A lease that was given on as it was keeps the token of the keys, which the message names. The
// holders before are not hit: one has set the keys, one has got them by a baton, too.
BOOST_FIXTURE_TEST_CASE(only_the_last_holder_loses_a_given_lease, router_fixture)
{
    const auto token_of = [](char each) {
        core::owner_token t;
        t.text.fill(each);
        return t;
    };
    const auto get_baton = [&](std::uint64_t tag, char place) -> claim& {
        const core::claim_id id = parts.claims.all.take();
        claim& c = parts.claims[id];
        c.begin(tag, "A", token_of(place), {.ttl = 10s}, nodes.size());
        c.queue.enter(0, now);
        c.queue.ticket->entered = now;
        c.take_over(0, {.token = token_of('x'), .left = 9s}, now);
        c.stage = claim_stage::held;
        return c;
    };
    parts.claims[hold()].stage = claim_stage::cleaning; // as after its release
    get_baton(8, 'y').relinquish();
    claim& last = get_baton(9, 'z');
    for (std::size_t i = 0; i < nodes.size(); ++i)
        life.on_taken_away(std::string(32, 'z'), i, now);
    BOOST_TEST(events.empty());
    BOOST_TEST(last.keys.valid_until() > now);
    for (std::size_t i = 0; i < nodes.size(); ++i)
        life.on_taken_away(std::string(32, 'x'), i, now);
    BOOST_REQUIRE(!events.empty());
    while (!events.empty()) {
        const auto e = events.pop();
        BOOST_TEST(e.tag == 9u);
        BOOST_TEST((e.kind == event_kind::lost || e.kind == event_kind::validity));
    }
    BOOST_TEST(last.keys.valid_until() <= now);
}

// Grants, a renewal, a probe and deletions: each answer reaches the one that has asked.
BOOST_FIXTURE_TEST_CASE(answers_reach_those_who_have_asked, router_fixture)
{
    const core::claim_id id = hold();
    now += 1s;
    parts.kept.renew({&id, 1}, false, now);
    parts.probe.probe_waiters(id, now);
    run();
    std::vector<event_kind> kinds;
    while (!events.empty())
        kinds.push_back(events.pop().kind);
    const auto told = [&kinds](event_kind kind) {
        return std::count(kinds.begin(), kinds.end(), kind);
    };
    BOOST_TEST(told(event_kind::validity) > 0);
    BOOST_TEST(told(event_kind::no_remote_waiters) == 1);
    ends.release(id, now);
    run();
    BOOST_REQUIRE(!events.empty());
    BOOST_TEST((events.pop().kind == event_kind::released));
    BOOST_TEST(parts.claims.find(id) == nullptr);
}

BOOST_FIXTURE_TEST_CASE(a_watch_reports_to_the_locker, router_fixture)
{
    for (std::size_t i = 0; i < 3; ++i)
        take(i, "other");
    parts.watch.watch(9, "A", now);
    run();
    BOOST_REQUIRE(!events.empty());
    BOOST_TEST((events.pop().kind == event_kind::free_hint));
}

// An attempt ends when so many answers will never come that no majority is possible.
BOOST_FIXTURE_TEST_CASE(lost_answers_end_an_attempt, router_fixture)
{
    for (model_node& n : nodes)
        n.silent = true;
    const core::claim_id id = attempt();
    lose(0, id, request_kind::acquire);
    BOOST_TEST(events.empty());
    lose(1, id, request_kind::acquire);
    BOOST_REQUIRE(!events.empty());
    const core::backend_event e = events.pop();
    BOOST_TEST((e.kind == event_kind::refused));
    BOOST_TEST((e.reason == errc::unreachable));
    lose(2, id, request_kind::acquire);
    BOOST_TEST(events.empty());
}

// A release is over when no answer is still to come.
BOOST_FIXTURE_TEST_CASE(lost_answers_end_a_release, router_fixture)
{
    const core::claim_id id = hold();
    for (model_node& n : nodes)
        n.silent = true;
    ends.release(id, now);
    const auto deletion = [&](std::size_t i) {
        return parts.claims[id].keys[i].deleting;
    };
    for (std::size_t i = 0; i < 3; ++i) {
        BOOST_TEST(deletion(i));
        BOOST_TEST(events.empty());
        lose(i, id, request_kind::remove);
    }
    BOOST_REQUIRE(!events.empty());
    const core::backend_event e = events.pop();
    BOOST_TEST((e.kind == event_kind::released));
    BOOST_TEST((e.outcome == holdfast::release_outcome::unconfirmed));
}

// Only a request that calls a script, of a claim that still exists, is said again.
BOOST_FIXTURE_TEST_CASE(what_is_said_again, router_fixture)
{
    const core::claim_id id = hold();
    const auto again = [&](core::claim_id about, request_kind kind) {
        return router.say_again(0, {.reference = about, .kind = kind, .sent = now}, now);
    };
    BOOST_TEST(!again(id, request_kind::look));
    BOOST_TEST(!again(id, request_kind::acquire)); // no script in plain mode
    BOOST_TEST(again(id, request_kind::confirm));
    BOOST_TEST(again(id, request_kind::remove));
    BOOST_TEST(!again(0, request_kind::hand_off));
    BOOST_TEST(!again(id, request_kind::enqueue)); // it no longer waits
}

// What is stored late stays longer; what stores nothing changes nothing.
BOOST_FIXTURE_TEST_CASE(requests_that_were_sent_late, router_fixture)
{
    const core::claim_id id = hold();
    const core::time_point gone_at = parts.claims[id].keys.gone_at();
    const auto late = [&](request_kind kind) {
        router.on_sent_late(0, {.reference = id, .kind = kind, .sent = now + 1s}, now + 1s);
    };
    late(request_kind::owner);
    late(request_kind::type);
    BOOST_TEST((parts.claims[id].keys.gone_at() == gone_at));
    late(request_kind::repair);
    BOOST_TEST((parts.claims[id].keys.gone_at() > gone_at));
}

BOOST_AUTO_TEST_SUITE_END()
