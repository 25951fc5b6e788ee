// Rows 26 to 31 with fencing: nodes that lose data, restore old data, or whose clocks jump. Tokens
// only increase, and a node that may have lost data stays in quarantine.
#include "integration/acceptance/acceptance.hpp"
#include "integration/acceptance/stepping_cluster.hpp"

#include <algorithm>
#include <cstdint>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(acceptance_fenced_mode)

constexpr auto quarantine = 3s;

fencing_options settings(bool first_deployment)
{
    fencing_options fence;
    fence.quarantine = quarantine;
    fence.ahead = 500ms;
    fence.first_deployment = first_deployment;
    return fence;
}

lock_options patient()
{
    lock_options options;
    options.ttl = 2s;
    options.wait = 60s;
    return options;
}

// The same resource in all scenes.
holdfast::lock stock(scene& s, std::size_t locker, const lock_options& options = patient())
{
    return holdfast::lock(s.locker(locker), "stock", options);
}

// The data that the tokens protect.
struct guarded_register {
    std::uint64_t largest = 0;
    std::size_t writes = 0;
};

task write(scene& s, guarded_register& store, std::size_t times, std::size_t lockers = 1)
{
    for (std::size_t i = 0; i < times; ++i) {
        const holdfast::lock lock = stock(s, i % lockers);
        lease held = co_await lock.acquire();
        BOOST_REQUIRE(held.fence().has_value());
        BOOST_TEST(*held.fence() > store.largest);
        store.largest = std::max(store.largest, *held.fence());
        ++store.writes;
        co_await held.release();
    }
}

// The first start. Returns when every node has a record of fencing.
task deploy(scene& s, cluster& c, guarded_register& store)
{
    co_await write(s, store, 3);
    const bool everywhere = co_await c.have_copies("hf:n", c.size(), 5s);
    BOOST_TEST(everywhere);
}

// Node 0 votes again: a majority needs its vote, since node 1 is killed.
task write_by_its_vote(scene& s, cluster& c, guarded_register& store, steady::time_point not_before)
{
    c.nodes[1].kill();
    co_await write(s, store, 1);
    BOOST_TEST((steady::now() >= not_before));
    co_await write(s, store, 3);
}

BOOST_AUTO_TEST_CASE(row_28_a_node_that_was_restarted_empty_stays_away)
{
    cluster c(3);
    guarded_register store;
    play(c.fenced_store(settings(true)), 1, [&](scene& s) { return deploy(s, c, store); });
    c.nodes[0].kill();
    c.nodes[0].restart();
    const auto restarted = steady::now();
    play(c.fenced_store(settings(false)), 1,
        [&](scene& s) { return write_by_its_vote(s, c, store, restarted + quarantine); });
    BOOST_TEST(store.writes == 7u);
}

// The restart resets its registers and its record, and all tokens given since are lost.
BOOST_AUTO_TEST_CASE(row_29_tokens_grow_after_a_restart_from_an_old_snapshot)
{
    cluster c(3);
    guarded_register store;
    play(c.fenced_store(settings(true)), 1, [&](scene& s) { return deploy(s, c, store); });
    BOOST_TEST(c.nodes[0].command({"SAVE"}) == "OK");
    play(c.fenced_store(settings(false)), 2, [&](scene& s) { return write(s, store, 20, 2); });
    c.nodes[0].kill();
    c.nodes[0].restart();
    const auto restarted = steady::now();
    BOOST_TEST(c.nodes[0].command({"EXISTS", "hf:n"}) == "1");
    play(c.fenced_store(settings(false)), 2,
        [&](scene& s) { return write_by_its_vote(s, c, store, restarted + quarantine); });
    BOOST_TEST(store.writes == 27u);
}

// A node that syncs every write before it answers has lost nothing: it votes at once, with its old
// registers. If it were in quarantine, the wait would time out.
BOOST_AUTO_TEST_CASE(row_28_a_node_that_loses_nothing_votes_at_once)
{
    cluster c(3, {"--appendonly", "yes", "--appendfsync", "always"});
    guarded_register store;
    fencing_options fence = settings(true);
    fence.quarantine = 24h;
    play(c.fenced_store(fence), 1, [&](scene& s) { return deploy(s, c, store); });
    const auto record = [&] {
        return c.nodes[0].command({"GET", "hf:n"});
    };
    const std::string before = record();
    c.nodes[0].kill();
    c.nodes[0].restart();
    BOOST_TEST(record() == before);
    fence.first_deployment = false;
    fence.trusted_persistence = true;
    play(c.fenced_store(fence), 1,
        [&](scene& s) { return write_by_its_vote(s, c, store, steady::time_point::min()); });
    BOOST_TEST(store.writes == 7u);
}

task write_through_steps(scene& s, stepping_cluster& c, guarded_register& store)
{
    co_await write(s, store, 10, 2);
    c.clocks[0].step(1h);
    co_await write(s, store, 10, 2);
    c.clocks[1].step(-1h); // before its first use: it does not vote until then
    co_await write(s, store, 10, 2);
    c.clocks[0].step(-1h);
    co_await write(s, store, 10, 2);
    c.clocks[1].step(1h);
    co_await write(s, store, 10, 2);
}

// Two nodes of five: when the clock of a node is set back, its keys last longer by that time.
BOOST_AUTO_TEST_CASE(row_30_tokens_grow_while_clocks_of_nodes_are_set)
{
    stepping_cluster c(5);
    guarded_register store;
    play(c.fenced_store(settings(true)), 2,
        [&](scene& s) { return write_through_steps(s, c, store); });
    BOOST_TEST(store.writes == 50u);
}

// After a clock jump, nodes end a lease early: another client may get the resource meanwhile, with
// a larger token.
task meet_early_expiry(scene& s, stepping_cluster& c)
{
    const holdfast::lock first = stock(s, 0, unrenewed(10s)), second = stock(s, 1);
    lease old = co_await first.acquire();
    const bool everywhere = co_await c.have_copies("hf:l:stock", 3, 5s);
    BOOST_TEST(everywhere);
    c.clocks[0].step(1h);
    c.clocks[1].step(1h);
    lease next = co_await second.acquire();
    BOOST_TEST(old.held()); // as far as its locker knows
    BOOST_TEST(*next.fence() > *old.fence());
    co_await next.release();
    co_await old.release();
}

BOOST_AUTO_TEST_CASE(row_31_the_holder_of_a_lease_that_nodes_ended_early_has_a_smaller_token)
{
    stepping_cluster c(3);
    fencing_options fence = settings(true);
    fence.quarantine = 20s;
    play(c.fenced_store(fence), 2, [&](scene& s) { return meet_early_expiry(s, c); });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
