// Leases that live for several ttls.
#include "support/call.hpp"
#include "support/cluster.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(renewal)

lock_options with_ttl(std::chrono::milliseconds ttl)
{
    lock_options options;
    options.ttl = ttl;
    return options;
}

// A node that connects after the grant has no vote in the lease at first. These tests need all
// nodes, which have been connected to so many times.
task connect_all(holdfast::locker& locker, std::uint64_t times = 1)
{
    const auto connected = [times](const node_stats& node) {
        return node.connected && node.connects >= times;
    };
    for (const auto begin = steady::now(); steady::now() < begin + 10s;) {
        const auto nodes = locker.stats().nodes;
        if (std::all_of(nodes.begin(), nodes.end(), connected))
            co_return;
        co_await pause(1ms);
    }
    BOOST_FAIL("a node did not connect");
}

task survive_cut_connections(scene& s, cluster& c)
{
    const auto options = with_ttl(4s);
    co_await connect_all(s.locker());
    lease held = co_await s.lock(0, options).acquire();
    call<> lost;
    held.lost(lost.token());
    for (std::uint64_t i = 0; i < 4; ++i) {
        c.command({"CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes"});
        co_await pause(options.ttl / 2);
        co_await connect_all(s.locker(), i + 2);
        BOOST_TEST(held.held());
    }
    BOOST_TEST(!lost.done());
    const bool everywhere = co_await c.have_copies(s.resource, c.size(), 10s);
    BOOST_TEST(everywhere);
    for (const auto& node : s.locker().stats().nodes)
        BOOST_TEST(node.connects >= 5u);
    const release_outcome outcome = co_await held.release();
    BOOST_TEST(outcome == release_outcome::released);
}

BOOST_AUTO_TEST_CASE(a_lease_survives_the_loss_of_all_its_connections)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return survive_cut_connections(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

task repair_restarted_nodes(scene& s, cluster& c)
{
    const auto options = with_ttl(4s);
    co_await connect_all(s.locker());
    lease held = co_await s.lock(0, options).acquire();
    const bool everywhere = co_await c.have_copies(s.resource, 5, 10s); // late votes, too
    BOOST_TEST(everywhere);
    for (int round = 0; round < 2; ++round) {
        c.nodes[0].restart();
        c.nodes[1].restart();
        BOOST_TEST(c.copies(s.resource) == 3u);

        const auto restarted = steady::now();
        const bool repaired = co_await c.have_copies(s.resource, 5, 10s);
        BOOST_TEST(repaired);
        BOOST_TEST((steady::now() < restarted + 3 * options.ttl / 2)); // a renewal or two
        BOOST_TEST(held.held());
    }
    co_await pause(2 * options.ttl); // repaired votes are renewed too
    BOOST_TEST(held.held());
    BOOST_TEST(c.copies(s.resource) == 5u);
    const release_outcome outcome = co_await held.release();
    BOOST_TEST(outcome == release_outcome::released);
}

BOOST_AUTO_TEST_CASE(restarted_nodes_are_repaired)
{
    cluster c(5);
    play(c.store(), 1, [&](scene& s) { return repair_restarted_nodes(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

// Two of three nodes lose the key, one after the other. The first was repaired in between. A
// repaired key keeps other clients out, but does not count as a vote before the time is over for
// which the node had granted it. After that it does.
task forget_one_after_another(scene& s, cluster& c, bool soon)
{
    const auto options = with_ttl(6s);
    co_await connect_all(s.locker());
    lease held = co_await s.lock(0, options).acquire();
    const bool everywhere = co_await c.have_copies(s.resource, 3, 10s);
    BOOST_TEST(everywhere);
    c.nodes[0].command({"DEL", s.resource});
    const bool repaired = co_await c.have_copies(s.resource, 3, 2 * options.ttl);
    BOOST_TEST(repaired);
    if (!soon)
        co_await pause(2 * options.ttl);
    BOOST_TEST(held.held());
    c.nodes[1].command({"DEL", s.resource});
    if (soon) {
        auto [ec] = co_await held.lost(no_throw);
        BOOST_TEST(ec == errc::lease_lost);
        co_return;
    }
    const bool repaired_again = co_await c.have_copies(s.resource, 3, 2 * options.ttl);
    BOOST_TEST(repaired_again);
    BOOST_TEST(held.held());
    BOOST_TEST(s.locker().stats().lost == 0u);
    const release_outcome outcome = co_await held.release();
    BOOST_TEST(outcome == release_outcome::released);
}

BOOST_AUTO_TEST_CASE(repaired_keys_do_not_count_as_votes_at_once)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return forget_one_after_another(s, c, true); });
}

BOOST_AUTO_TEST_CASE(repaired_keys_count_as_votes_after_the_time_of_their_grant)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return forget_one_after_another(s, c, false); });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
