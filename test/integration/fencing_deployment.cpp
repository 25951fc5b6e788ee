// The statements of docs/fencing.md about the deployment of fenced mode, and about the visible
// signs of errors.
#include "support/cluster.hpp"

#include <stdexcept>
#include <string>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(fencing_deployment)

constexpr auto quarantine = 3s;

fencing_options old_nodes()
{
    fencing_options fence;
    fence.quarantine = quarantine;
    fence.ahead = 100ms;
    return fence;
}

fencing_options new_nodes()
{
    fencing_options fence = old_nodes();
    fence.first_deployment = true;
    return fence;
}

lock_options brief(std::chrono::milliseconds wait, std::chrono::milliseconds ttl = quarantine / 2)
{
    lock_options options;
    options.ttl = ttl;
    options.wait = wait;
    return options;
}

bool says(scene& s, const std::string& words, std::size_t which = 0)
{
    return describe_nodes(s.locker(which).stats()).find(words) != std::string::npos;
}

task acquire_once(scene& s, std::size_t which = 0)
{
    lease held = co_await s.lock(which, brief(10s)).acquire();
    BOOST_TEST(held.held());
    co_await held.release();
}

// The first start. Returns when every node has a record of fencing.
task deploy(scene& s, cluster& c)
{
    co_await acquire_once(s);
    const bool everywhere = co_await c.have_copies("hf:n", c.size(), 5s);
    BOOST_TEST(everywhere);
}

task wait_out_a_quarantine(scene& s)
{
    const auto asked = steady::now();
    auto [ec, none] = co_await s.lock(0, brief(1s)).acquire(no_throw);
    BOOST_TEST(ec == errc::fencing_unavailable, ec.message());
    BOOST_TEST((steady::now() - asked >= 990ms)); // at the end of the wait
    BOOST_TEST(says(s, "in quarantine for another "));

    co_await acquire_once(s);
    BOOST_TEST((steady::now() - asked >= quarantine - 100ms));
    BOOST_TEST((steady::now() - asked < quarantine + 5s));
    // The other nodes began their quarantine a moment later.
    while (says(s, "quarantine") && steady::now() - asked < quarantine + 5s)
        co_await acquire_once(s);
    BOOST_TEST(!says(s, "quarantine"));
}

BOOST_AUTO_TEST_CASE(new_nodes_are_in_quarantine_unless_declared_new)
{
    cluster c(3);
    play(c.fenced_store(old_nodes()), 1, wait_out_a_quarantine);
    cluster d(3);
    play(d.fenced_store(new_nodes()), 1, [](scene& s) { return acquire_once(s); });
}

task restart(scene& s, cluster& c, std::size_t count)
{
    co_await acquire_once(s);
    for (std::size_t i = 0; i < count; ++i)
        c.nodes[i].restart();
}

task live_with_a_restarted_node(scene& s, cluster& c)
{
    co_await restart(s, c, 1);
    const auto asked = steady::now();
    while (steady::now() < asked + 10s && !says(s, "in quarantine for another "))
        co_await acquire_once(s);
    BOOST_TEST(says(s, "in quarantine for another "));
}

// This is visible only in the statistics.
BOOST_AUTO_TEST_CASE(a_restarted_minority_is_in_quarantine_and_locks_are_granted)
{
    cluster c(3);
    play(c.fenced_store(new_nodes()), 1, [&](scene& s) { return deploy(s, c); });
    play(c.fenced_store(old_nodes()), 1,
        [&](scene& later) { return live_with_a_restarted_node(later, c); });
}

task wait_for_a_restarted_majority(scene& s, cluster& c)
{
    co_await restart(s, c, 2);
    co_await wait_out_a_quarantine(s);
}

BOOST_AUTO_TEST_CASE(a_restarted_majority_grants_nothing_for_a_quarantine)
{
    cluster c(3);
    play(c.fenced_store(new_nodes()), 1, [&](scene& s) { return deploy(s, c); });
    play(c.fenced_store(old_nodes()), 1,
        [&](scene& s) { return wait_for_a_restarted_majority(s, c); });
}

constexpr auto longer_quarantine = 2 * quarantine; // long enough to start three servers

task keep_through_a_restart(scene& s, cluster& c)
{
    lease held = co_await s.lock(0, brief(10s, longer_quarantine)).acquire();
    for (auto& node : c.nodes)
        node.restart();
    // The request of another locker begins the quarantine.
    const holdfast::lock other(s.locker(1), "other", brief(1s));
    auto [ec, none] = co_await other.acquire(no_throw);
    BOOST_TEST(ec == errc::fencing_unavailable, ec.message());
    co_await pause(longer_quarantine + 100ms); // longer than the ttl
    BOOST_TEST(held.held());
    auto [failed, outcome] = co_await held.release(no_throw);
    BOOST_TEST(!failed, failed.message());
    BOOST_TEST(outcome == release_outcome::released);
}

BOOST_AUTO_TEST_CASE(leases_that_nodes_have_kept_are_renewed_and_released_in_quarantine)
{
    cluster c(3, {"--appendonly", "yes", "--appendfsync", "always"});
    fencing_options fence = new_nodes();
    fence.quarantine = longer_quarantine;
    play(c.fenced_store(fence), 2, [&](scene& s) { return keep_through_a_restart(s, c); });
}

task meet_other_settings(scene& s)
{
    const auto asked = steady::now();
    auto [ec, none] = co_await s.lock(0, brief(10s)).acquire(no_throw);
    BOOST_TEST(ec == errc::misconfigured_node, ec.message());
    BOOST_TEST((steady::now() - asked < 5s)); // at once
    BOOST_TEST(says(s, "other clients have other settings of fencing"));
}

BOOST_AUTO_TEST_CASE(other_settings_are_refused_until_the_records_are_deleted)
{
    cluster c(3);
    play(c.fenced_store(new_nodes()), 1, [&](scene& s) { return deploy(s, c); });
    auto other = old_nodes();
    other.quarantine += 500ms;
    play(c.fenced_store(other), 1, meet_other_settings);
    c.command({"DEL", "hf:n"});
    play(c.fenced_store(other), 1, wait_out_a_quarantine);
    play(c.fenced_store(other), 1, [](scene& s) { return acquire_once(s); });
}

task meet_spoilt_registers(scene& s, cluster& c)
{
    co_await acquire_once(s);
    c.command({"SET", "hf:f", "spoilt"}, 2);
    const auto asked = steady::now();
    auto [ec, none] = co_await s.lock(0, brief(10s)).acquire(no_throw);
    BOOST_TEST(ec == errc::key_conflict, ec.message());
    BOOST_TEST((steady::now() - asked < 5s)); // at once
    BOOST_TEST(says(s, "WRONGTYPE"));
    c.command({"DEL", "hf:f"}, 2);
    co_await wait_out_a_quarantine(s);
}

BOOST_AUTO_TEST_CASE(spoilt_registers_are_reported_and_can_be_deleted)
{
    cluster c(3);
    play(c.fenced_store(new_nodes()), 1, [&](scene& s) { return meet_spoilt_registers(s, c); });
}

BOOST_AUTO_TEST_CASE(a_ttl_beyond_the_quarantine_is_refused_when_the_lock_is_made)
{
    cluster c(1);
    scene s(c.fenced_store(new_nodes()));
    lock_options options;
    options.ttl = quarantine + 1ms;
    BOOST_CHECK_THROW(s.lock(0, options), std::invalid_argument);
    options.ttl = quarantine;
    BOOST_CHECK_NO_THROW(s.lock(0, options));
    s.finish();
}

task hold_beside_each_other(scene& plain, scene& fenced)
{
    const holdfast::lock without(plain.locker(), "both"), with(fenced.locker(), "both", brief(10s));
    lease one = co_await without.acquire();
    lease two = co_await with.acquire();
    BOOST_TEST(one.held());
    BOOST_TEST(two.held());
    BOOST_TEST(!one.fence());
    BOOST_TEST(two.fence().has_value());
    co_await one.release();
    co_await two.release();
}

// This is why all clients must use the same mode.
BOOST_AUTO_TEST_CASE(clients_with_and_without_fencing_do_not_exclude_each_other)
{
    cluster c(3);
    scene plain(c.store()), fenced(c.fenced_store(new_nodes()));
    bool done = false;
    asio::co_spawn(
        plain.io, hold_beside_each_other(plain, fenced), [&](const std::exception_ptr& error) {
            BOOST_TEST(!error);
            done = true;
        });
    while (!done) {
        plain.io.run_for(1ms);
        plain.io.restart();
        fenced.io.run_for(1ms);
        fenced.io.restart();
    }
    plain.finish();
    fenced.finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
