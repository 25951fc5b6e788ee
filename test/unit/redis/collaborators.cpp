// The collaborators of the Redlock core, each by itself: what it sends and what it finds out.
#include "redis/acquisition.hpp"
#include "redis/claim/attempt_outcome.hpp"
#include "redis/cleanup.hpp"
#include "redis/expiry_watch.hpp"
#include "redis/queue/fair_queue.hpp"
#include "redis/queue/key_owners.hpp"
#include "redis/queue/resource_hints.hpp"
#include "redis/queue/waiter_probe.hpp"
#include "redis/renewals.hpp"

#include "unit/redis/collaborator_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <optional>

using namespace holdfast::redis;
using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;
using key = claim_node::key;

namespace {

using judged = attempt_outcome::kind;

struct round_fixture : collaborator_fixture {
    round_fixture()
    {
        handle = [this](std::size_t node, const request& r, reply answer) {
            rounds.record(node, r, read_key_answer(r, answer), now);
        };
    }

    holdfast::core::claim_id hold(char token)
    {
        const auto id = begin(token);
        rounds.open(id, now);
        run();
        claims[id].stage = claim_stage::held;
        return id;
    }

    acquisition rounds{claims, pool, dialect};
};

std::string tokens(const std::vector<model_node>& nodes, holdfast::core::time_point now)
{
    std::string all;
    for (const model_node& n : nodes) {
        const std::string owner = n.owner("A", now);
        all += owner.empty() ? '-' : owner.front();
    }
    return all;
}

} // namespace

BOOST_AUTO_TEST_SUITE(redlock_collaborators)

BOOST_FIXTURE_TEST_CASE(a_round_is_granted_by_a_majority, round_fixture)
{
    take(2, "other");
    const auto id = begin('x');
    rounds.open(id, now);
    BOOST_TEST((judge_attempt(claims[id], now).is == judged::open));
    run();
    const auto o = judge_attempt(claims[id], now);
    BOOST_TEST((o.is == judged::granted));
    BOOST_TEST((o.valid_until == now + 10s));
    BOOST_TEST(tokens(nodes, now) == "xxo");
}

BOOST_FIXTURE_TEST_CASE(a_round_is_refused_where_others_block_a_majority, round_fixture)
{
    take(0, "other");
    take(1, "other");
    const auto id = begin('x');
    rounds.open(id, now);
    run();
    const auto o = judge_attempt(claims[id], now);
    BOOST_TEST((o.is == judged::refused));
    BOOST_TEST((o.reason == errc::contended));
}

BOOST_FIXTURE_TEST_CASE(silent_nodes_have_no_vote_after_the_timeout, round_fixture)
{
    nodes[0].silent = nodes[1].silent = true;
    const auto id = begin('x');
    rounds.open(id, now);
    run();
    BOOST_TEST((judge_attempt(claims[id], now).is == judged::open));
    rounds.time_out(id);
    const auto o = judge_attempt(claims[id], now);
    BOOST_TEST((o.is == judged::refused));
    BOOST_TEST((o.reason == errc::unreachable));
    BOOST_TEST(claims[id].keys.may_hold(0)); // they may have granted it
}

BOOST_FIXTURE_TEST_CASE(cleanup_deletes_keys_that_nodes_may_hold, round_fixture)
{
    take(2, "other");
    const auto id = begin('x');
    rounds.open(id, now);
    run();
    resource_hints hints;
    cleanup deletions(claims, pool, dialect, hints);
    handle = [&](std::size_t node, const request& r, reply answer) {
        deletions.on_reply(node, r, answer, now);
    };
    deletions.ask(id, true, now);
    BOOST_TEST(deletions.under_way() == 2u);
    BOOST_TEST(deletions.is_under_way(claims[id]));
    run();
    BOOST_TEST(deletions.under_way() == 0u);
    BOOST_TEST(!claims[id].keys.may_hold_any());
    BOOST_TEST(tokens(nodes, now) == "--o");
}

BOOST_FIXTURE_TEST_CASE(a_renewal_finds_and_repairs_a_lost_key, round_fixture)
{
    const auto id = hold('x');
    renewals kept(claims, pool, dialect);
    std::size_t reports = 0;
    handle = [&](std::size_t node, const request& r, reply answer) {
        if (r.kind == request_kind::repair)
            kept.on_repaired(node, r, vote_of(answer), now);
        else
            reports += kept.on_renewed(node, r, answer, now).size();
    };
    nodes[1].forget_keys();
    now += 1s;
    kept.renew({&id, 1}, false, now);
    run();
    BOOST_TEST(reports == 3u);
    BOOST_TEST((claims[id].keys[1].state == key::absent));
    BOOST_TEST((claims[id].keys.valid_until() == now + 10s));
    kept.renew({&id, 1}, false, now);
    run();
    BOOST_TEST((claims[id].keys[1].state == key::repaired));
    BOOST_TEST(tokens(nodes, now) == std::string(3, 'x'));
}

BOOST_FIXTURE_TEST_CASE(a_watch_reports_when_a_majority_will_be_free, collaborator_fixture)
{
    expiry_watch watch(pool, dialect);
    std::optional<holdfast::core::backend_event> told;
    handle = [&](std::size_t node, const request& r, reply answer) {
        if (const auto event = watch.on_reply(node, r, answer, now))
            told = event;
    };
    nodes[0].command({"SET", "A", "other", "PX", "3000"}, now);
    nodes[1].command({"SET", "A", "other", "PX", "5000"}, now);
    nodes[2].command({"SET", "A", "other", "PX", "7000"}, now);
    watch.watch(9, "A", now);
    run();
    BOOST_REQUIRE(told.has_value());
    BOOST_TEST(told->tag == 9u);
    BOOST_TEST((told->free_at <= now + 5s && told->free_at > now + 4s));
}

BOOST_FIXTURE_TEST_CASE(a_probe_ends_when_all_nodes_have_no_waiters, round_fixture)
{
    const auto id = hold('x');
    waiter_probe probe(claims, pool, dialect.common());
    int none_waits = 0;
    handle = [&](std::size_t node, const request& r, reply answer) {
        none_waits += probe.on_reply(node, r.reference, answer) ? 1 : 0;
    };
    probe.probe_waiters(id, now);
    BOOST_TEST(probe.is_probing(id));
    run();
    BOOST_TEST(!probe.is_probing(id));
    BOOST_TEST(none_waits == 1);
    nodes[1].command({"ZADD", "A:holdfast:queue", "1", "someone"}, now);
    probe.probe_waiters(id, now);
    run();
    BOOST_TEST(none_waits == 1);
}

BOOST_FIXTURE_TEST_CASE(owners_of_a_key_are_found_on_all_nodes, collaborator_fixture)
{
    take(0, "dead");
    take(1, "holder");
    take(2, "holder");
    const auto id = begin('x', claim_stage::queued);
    claims[id].queue.ticket = std::make_unique<queue_ticket>();
    claims[id].queue.node = 0;
    key_owners owners(claims, pool, dialect.common());
    handle = [&](std::size_t node, const request& r, reply answer) {
        BOOST_TEST(owners.on_reply(node, r, answer) == id);
    };
    owners.ask(id, now);
    run();
    const owner_survey* const found = owners.find(claims[id]);
    BOOST_REQUIRE(found != nullptr);
    BOOST_TEST(found->is_minority(0));
    BOOST_TEST((found->judge(0) == owner_survey::finding::elsewhere));
    owners.end(claims[id]);
    BOOST_TEST(owners.find(claims[id]) == nullptr);
}

BOOST_FIXTURE_TEST_CASE(a_queued_claim_gets_a_free_key_or_waits, collaborator_fixture)
{
    resource_hints hints;
    fair_queue queue(claims, pool, dialect, hints, jitter);
    fair_queue::outcome last;
    handle = [&](std::size_t node, const request& r, reply answer) {
        const auto o = queue.on_reply(node, r, answer, now);
        if (r.kind == request_kind::enqueue)
            last = o;
    };
    const auto first = begin('x', claim_stage::queued);
    const std::size_t node = pool.queue_node_of(claims[first], now);
    BOOST_REQUIRE(node != max_nodes);
    queue.join(first, node, now);
    run();
    BOOST_TEST((last.then == fair_queue::outcome::kind::round));
    BOOST_TEST(claims[first].queue.handed_over);

    const auto second = begin('y', claim_stage::queued);
    queue.join(second, node, now);
    run();
    BOOST_TEST((last.then == fair_queue::outcome::kind::nothing));
    BOOST_TEST(last.began_to_wait);
    BOOST_TEST(claims[second].queue.has_waited);
}

BOOST_FIXTURE_TEST_CASE(a_node_in_quarantine_keeps_no_queue, collaborator_fixture)
{
    const auto id = begin('x');
    const std::size_t usual = pool.queue_node_of(claims[id], now);
    BOOST_REQUIRE(usual != max_nodes);
    pool.set_quarantine(usual, now + 60s);
    const std::size_t other = pool.queue_node_of(claims[id], now);
    BOOST_TEST(other != usual);
    BOOST_TEST(other != max_nodes);
    pool.set_quarantine(usual, holdfast::core::long_ago);
    BOOST_TEST(pool.queue_node_of(claims[id], now) == usual);
}

BOOST_AUTO_TEST_SUITE_END()
