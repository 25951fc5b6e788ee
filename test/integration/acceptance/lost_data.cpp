// Rows 26 to 29: nodes that lose keys, or restore old ones. Without fencing a node that has lost
// its data grants again at once. Quarantine and the order of tokens, with fencing, are tested in
// fenced_mode.cpp.
#include "integration/acceptance/acceptance.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(acceptance_lost_data)

task go_on_without_one(scene& s, cluster& c)
{
    const auto options = with_ttl(3s);
    co_await connect_all(s.locker(0));
    co_await connect_all(s.locker(1));
    lease held = co_await s.lock(0, options).acquire();
    const bool everywhere = co_await c.have_copies(s.resource, 3, 5s);
    BOOST_TEST(everywhere);
    for (int round = 0; round < 2; ++round) {
        c.nodes[0].command({"FLUSHALL"});
        const auto renewals = s.locker().stats().renewals;
        lease none = co_await s.lock(1).try_acquire(); // can get one vote, but needs two
        BOOST_TEST(!none);
        const bool renewed =
            co_await becomes_true([&] { return s.locker().stats().renewals >= renewals + 4; });
        BOOST_TEST(renewed);
        BOOST_TEST(held.held());
        const bool repaired = co_await c.have_copies(s.resource, 3, 5s);
        BOOST_TEST(repaired);
    }
    BOOST_TEST(s.locker().stats().lost == 0u);
    const release_outcome outcome = co_await held.release();
    BOOST_TEST(outcome == release_outcome::released);
}

BOOST_AUTO_TEST_CASE(row_26_flushall_on_one_node_during_a_lease)
{
    cluster c(3);
    play(c.store(), 2, [&](scene& s) { return go_on_without_one(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

// A lost lease stays lost, even if the same keys are set again.
task expect_it_stays_lost(scene& s, cluster& c, lease& held, std::string token)
{
    c.command({"SET", s.resource, token, "PX", "60000"});
    auto [extended] = co_await held.extend(no_throw);
    BOOST_TEST(extended == errc::lease_lost, extended.message());
    auto [again] = co_await held.lost(no_throw);
    BOOST_TEST(again == errc::lease_lost, again.message());
    BOOST_TEST(!held.held());
    BOOST_TEST((held.valid_until() < steady::now()));
    BOOST_TEST(
        std::stol(c.nodes[0].command({"PTTL", s.resource})) > 50'000); // not renewed any more

    c.command({"DEL", s.resource});
    lease next = co_await s.lock(1).acquire();
    auto [late, outcome] = co_await held.release(no_throw);
    BOOST_TEST(!late, late.message());
    BOOST_TEST(outcome == release_outcome::expired);
    BOOST_TEST(next.held());
    BOOST_TEST(c.copies(s.resource) >= c.majority());
}

task lose_to_lost_keys(scene& s, cluster& c)
{
    const auto options = with_ttl(4s);
    co_await connect_all(s.locker());
    lease held = co_await s.lock(0, options).acquire();
    const bool everywhere = co_await c.have_copies(s.resource, 5, 5s);
    BOOST_TEST(everywhere);
    const auto token = c.nodes[0].command({"GET", s.resource});
    BOOST_TEST(shows_a_token(token));

    const auto flushed = steady::now();
    c.command({"FLUSHALL"}, c.majority());
    auto [ec] = co_await held.lost(no_throw);
    BOOST_TEST(ec == errc::lease_lost, ec.message());
    BOOST_TEST((steady::now() < flushed + options.ttl)); // noticed by the next renewal
    BOOST_TEST(!held.held());
    BOOST_TEST(s.locker().stats().lost == 1u);
    co_await expect_it_stays_lost(s, c, held, token);
}

BOOST_AUTO_TEST_CASE(row_27_flushall_on_a_majority_during_a_lease)
{
    cluster c(5);
    play(c.store(), 2, [&](scene& s) { return lose_to_lost_keys(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

task keep_others_out(scene& s, cluster& c)
{
    const auto options = with_ttl(4s);
    co_await connect_all(s.locker(0));
    co_await connect_all(s.locker(1));
    lease held = co_await s.lock(0, options).acquire();
    const bool everywhere = co_await c.have_copies(s.resource, 3, 5s);
    BOOST_TEST(everywhere);
    c.nodes[0].restart();
    BOOST_TEST(c.copies(s.resource) == 2u); // the node has lost the key

    const auto renewals = s.locker().stats().renewals;
    const auto enough = [&] {
        return s.locker().stats().renewals >= renewals + 4;
    };
    for (const auto deadline = steady::now() + 10s; !enough() && steady::now() < deadline;) {
        lease none = co_await s.lock(1).try_acquire();
        BOOST_TEST(!none);
        BOOST_TEST(held.held());
        co_await pause(5ms);
    }
    BOOST_TEST(enough());
    const bool repaired = co_await c.have_copies(s.resource, 3, 5s);
    BOOST_TEST(repaired);
    const release_outcome outcome = co_await held.release();
    BOOST_TEST(outcome == release_outcome::released);
    co_await acquire_and_release(s.lock(1));
}

// While the lease is on all nodes, the loss of one node's data cannot lead to a second holder. A
// lease on a bare majority has no spare node; that is the purpose of quarantine.
BOOST_AUTO_TEST_CASE(row_28_kill_and_instant_restart_of_one_node_without_persistence)
{
    cluster c(3);
    play(c.store(), 2, [&](scene& s) { return keep_others_out(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

task meet_an_old_key(scene& s, cluster& c)
{
    const auto ttl = 8s;
    co_await connect_all(s.locker(0));
    co_await connect_all(s.locker(1));
    const auto begin = steady::now();
    lease old = co_await s.lock(0, unrenewed(ttl)).acquire();
    const bool everywhere = co_await c.have_copies(s.resource, 3, 5s);
    BOOST_TEST(everywhere);
    const auto old_token = c.nodes[0].command({"GET", s.resource});
    BOOST_TEST(c.nodes[0].command({"SAVE"}) == "OK");
    co_await old.release();
    c.nodes[0].restart();
    const auto back = c.nodes[0].command({"GET", s.resource});
    BOOST_REQUIRE_MESSAGE(
        back == old_token, "the restart took " << (steady::now() - begin) / 1ms << " ms");

    lease held = co_await s.lock(0, with_ttl(3s)).acquire(); // by the other two nodes
    lease none = co_await s.lock(1).try_acquire();
    BOOST_TEST(!none);
    const auto still = c.nodes[0].command({"GET", s.resource});
    BOOST_TEST((still == old_token || steady::now() > begin + ttl)); // not our key, so not changed
    const bool ended = co_await becomes_true([&] {
        return c.nodes[0].command({"GET", s.resource}) != old_token;
    });
    BOOST_TEST(ended); // by its own ttl, which kept running
    BOOST_TEST(held.held());
    const release_outcome outcome = co_await held.release();
    BOOST_TEST(outcome == release_outcome::released);
}

// See fenced_mode.cpp for counters that have gone back, while tokens still increase.
BOOST_AUTO_TEST_CASE(row_29_restart_from_an_old_snapshot)
{
    cluster c(3);
    play(c.store(), 2, [&](scene& s) { return meet_an_old_key(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
