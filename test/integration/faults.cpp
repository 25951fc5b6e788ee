// Nodes that are down, refuse requests, or are silent.
#include "support/cluster.hpp"

#include <boost/test/data/test_case.hpp>

#include <algorithm>
#include <ostream>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(faults)

struct fault {
    const char* name;
    void (*make)(redis_server&);
    const char* reason; // what the statistics must contain for such a node; empty: anything
    friend std::ostream& operator<<(std::ostream& out, const fault& f) { return out << f.name; }
};

const std::vector<fault> all_faults{
    {"killed", [](redis_server& node) { node.kill(); }, "refused"},
    {"silent", [](redis_server& node) { node.pause(); }, ""},
    {"wants a password",
        [](redis_server& node) {
            node.command({"CONFIG", "SET", "requirepass", "secret"});
        },
        "NOAUTH"},
    {"out of memory",
        [](redis_server& node) {
            node.command({"CONFIG", "SET", "maxmemory", "1"});
        },
        "OOM"},
};

void repair(cluster& c, const fault& f)
{
    for (auto& node : c.nodes) {
        if (std::string_view(f.name) == "silent")
            node.resume();
        else if (std::string_view(f.name) == "wants a password")
            node.command({"AUTH", "secret"});
    }
}

void bring_down(cluster& c, const fault& f, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i)
        f.make(c.nodes[i]);
}

// Expects that no faulty node keeps one of our keys for longer than its ttl.
void expect_no_keys(cluster& c, const fault& f, std::chrono::milliseconds ttl)
{
    if (std::string_view(f.name) == "killed") {
        for (auto& node : c.nodes) {
            if (!node.running())
                node.restart();
        }
    }
    BOOST_TEST(c.empty_within(ttl));
}

task acquire_despite_faults(scene& s)
{
    for (int i = 0; i < 3; ++i) {
        const auto begin = steady::now();
        lease held = co_await s.lock(0).acquire();
        BOOST_TEST((steady::now() - begin < 7s));
        BOOST_TEST(held.held());
        lease none = co_await s.lock(1).try_acquire();
        BOOST_TEST(!none);
        co_await held.extend();
        const release_outcome outcome = co_await held.release();
        BOOST_TEST(outcome == release_outcome::released);
    }
}

BOOST_DATA_TEST_CASE(a_minority_with_a_fault_from_the_start_does_not_matter, all_faults, each)
{
    cluster c(5);
    bring_down(c, each, 2);
    play(c.store(), 2, acquire_despite_faults);
    repair(c, each);
    expect_no_keys(c, each, 10s);
}

task acquire_before_and_after(scene& s, cluster& c, const fault& f)
{
    co_await acquire_despite_faults(s);
    bring_down(c, f, 2);
    co_await acquire_despite_faults(s);
}

BOOST_DATA_TEST_CASE(a_minority_with_a_later_fault_does_not_matter, all_faults, each)
{
    cluster c(5);
    play(c.store(), 2, [&](scene& s) { return acquire_before_and_after(s, c, each); });
    repair(c, each);
    expect_no_keys(c, each, 10s);
}

task fail_for_lack_of_nodes(scene& s, const fault& f)
{
    lock_options options;
    options.ttl = 2s;
    options.wait = 1500ms;
    const auto begin = steady::now();
    auto [ec, held] = co_await s.lock(0, options).acquire(no_throw);
    BOOST_TEST((steady::now() - begin < 7s));
    BOOST_TEST(!held);
    const bool forbidden = std::string_view(f.reason) == "NOAUTH";
    BOOST_TEST(ec == (forbidden ? errc::authentication_failed : errc::unreachable));

    const auto stats = s.locker().stats();
    const auto text = describe_nodes(stats);
    BOOST_REQUIRE(stats.nodes.size() == 5u);
    for (std::size_t i = 0; i < 3; ++i) {
        const auto& node = stats.nodes[i];
        BOOST_TEST(
            (node.last_error || !node.connected)); // the handshake may not have been completed
        BOOST_TEST(!node.reason.empty());
        BOOST_TEST(node.reason.find(f.reason) != std::string::npos, node.reason);
        BOOST_TEST(text.find(node.address) != std::string::npos, text);
    }
    for (std::size_t i = 3; i < 5; ++i)
        BOOST_TEST(!stats.nodes[i].last_error, stats.nodes[i].reason);
}

BOOST_DATA_TEST_CASE(
    a_majority_with_a_fault_is_unreachable_and_the_reason_is_reported, all_faults, each)
{
    cluster c(5);
    bring_down(c, each, 3);
    play(c.store(), 1, [&](scene& s) { return fail_for_lack_of_nodes(s, each); });
    repair(c, each);
    expect_no_keys(c, each, 2s);
}

task all_connected(scene& s)
{
    const auto deadline = steady::now() + 5s;
    for (bool all = false; !all;) {
        const auto stats = s.locker().stats();
        all = std::all_of(stats.nodes.begin(), stats.nodes.end(),
            [](const node_stats& node) { return node.connected; });
        BOOST_REQUIRE(steady::now() < deadline);
        co_await pause(1ms);
    }
}

task fail_after_a_success(scene& s, cluster& c, const fault& f)
{
    lease held = co_await s.lock(0).acquire();
    co_await held.release();
    co_await all_connected(s); // until here a majority was enough
    bring_down(c, f, 3);
    lock_options options;
    options.ttl = 2s;
    options.wait = 1500ms;
    auto [ec, none] = co_await s.lock(0, options).acquire(no_throw);
    BOOST_TEST(!none);
    const auto stats = s.locker().stats();
    BOOST_TEST(ec == errc::unreachable);
    for (std::size_t i = 0; i < 3; ++i) {
        BOOST_TEST(bool(stats.nodes[i].last_error), stats.nodes[i].address);
        BOOST_TEST(stats.nodes[i].reason.find(f.reason) != std::string::npos);
    }
}

// A password that is set later does not affect connections that are logged in.
const std::vector<fault> sudden_faults{all_faults[0], all_faults[1], all_faults[3]};

BOOST_DATA_TEST_CASE(a_majority_with_a_later_fault_is_unreachable, sudden_faults, each)
{
    cluster c(5);
    play(c.store(), 1, [&](scene& s) { return fail_after_a_success(s, c, each); });
    repair(c, each);
    expect_no_keys(c, each, 2s);
}

BOOST_AUTO_TEST_CASE(nodes_that_come_back_are_used_again)
{
    cluster c(3);
    bring_down(c, all_faults[0], 2);
    scene s(c.store());
    run(s.io, [](scene& all) -> task {
        auto [ec, none] = co_await all.lock(0).acquire(1s, no_throw);
        BOOST_TEST(ec == errc::unreachable);
    }(s));
    c.nodes[0].restart();
    run(s.io, [](scene& all) -> task {
        const auto back = steady::now();
        lease held = co_await all.lock(0).acquire();
        BOOST_TEST((steady::now() - back < 7s));
    }(s));
    s.finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
