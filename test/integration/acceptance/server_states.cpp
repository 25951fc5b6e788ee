// Rows 20 to 22: servers that are loading, lack memory, disk or replicas, or lose scripts.
#include "integration/acceptance/acceptance.hpp"

#include <boost/test/data/test_case.hpp>

#include <filesystem>
#include <ostream>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(acceptance_server_states)

const std::vector<std::string> slow_to_load{"--enable-debug-command", "yes", "--key-load-delay",
    "2000", "--loading-process-events-interval-bytes", "1024"};

bool is_loading(redis_server& node)
{
    return node.command({"PING"}).find("LOADING") != std::string::npos;
}

// Makes the node reload its data, which takes six seconds.
void begin_to_load(redis_server& node)
{
    node.command({"DEBUG", "POPULATE", "3000", "key", "1000"});
    BOOST_CHECK_THROW(node.command({"DEBUG", "RELOAD"}, 1ms), std::exception); // does not answer
    const auto deadline = steady::now() + 5s;
    while (!is_loading(node))
        BOOST_REQUIRE((steady::now() < deadline));
}

task work_beside_one_that_loads(scene& s, cluster& c)
{
    co_await connect_all(s.locker());
    begin_to_load(c.nodes[0]);
    co_await acquire_and_release(s.lock(0));
    BOOST_TEST(is_loading(c.nodes[0]));
    const auto address = address_of(c.nodes[0]);
    co_await expect_blamed_soon(s.locker(), address, "LOADING");
}

// Without fencing a node that has loaded its data votes again at once. For quarantine see
// fenced_mode.cpp.
BOOST_AUTO_TEST_CASE(row_20_a_node_that_loads_votes_again_when_it_is_done)
{
    cluster c(3, slow_to_load);
    play(c.store(), 1, [&](scene& s) { return work_beside_one_that_loads(s, c); });
}

task wait_for_the_end_of_loading(scene& s, redis_server& node)
{
    const error_code why = co_await fail_to_acquire(s.lock(0), 200ms);
    BOOST_TEST(why == errc::unreachable, why.message());
    const auto address = address_of(node);
    co_await expect_blamed_soon(s.locker(), address, "LOADING");
    BOOST_TEST(is_loading(node));
    lease held = co_await s.lock(0).acquire(30s);
    BOOST_TEST(held.held());
    BOOST_TEST(!is_loading(node));
    BOOST_TEST(describe_nodes(s.locker().stats()) == "");
    co_await held.release();
}

BOOST_AUTO_TEST_CASE(row_20_a_waiter_is_served_when_a_node_has_loaded)
{
    redis_server node(slow_to_load);
    begin_to_load(node);
    play(redlock({node.url()}, quick_options()), 1,
        [&](scene& s) { return wait_for_the_end_of_loading(s, node); });
}

// Each error code has a line in INFO, and any client can create one.
BOOST_AUTO_TEST_CASE(row_20_a_node_with_a_long_info_is_used)
{
    redis_server node;
    for (int i = 0; i < 2500; ++i)
        node.command({"EVAL", "return redis.error_reply('E" + std::to_string(i) + " x')", "0"});
    BOOST_REQUIRE(node.command({"INFO"}).size() > 64u * 1024u);
    play(redlock({node.url()}, quick_options()), 2, acquire_beside_a_fault);
}

// A state in which a server refuses to write.
struct state {
    const char* name;
    void (*enter)(redis_server&);
    bool deletes; // whether it still renews and deletes
    friend std::ostream& operator<<(std::ostream& out, const state& s) { return out << s.name; }
};

// Saving fails because there is a directory in place of the file. From then on writes are refused.
void break_saving(redis_server& node)
{
    const auto directory = node.command({"CONFIG", "GET", "dir"}).substr(4); // after "dir\n"
    std::filesystem::create_directory(directory + "/dump.rdb");
    node.command({"CONFIG", "SET", "save", "3600 1"});
    node.command({"BGSAVE"});
    const auto deadline = steady::now() + 10s;
    while (node.command({"SET", "probe", "x", "XX"}).find("MISCONF") == std::string::npos)
        BOOST_REQUIRE((steady::now() < deadline));
}

const std::vector<state> states{
    {"OOM",
        [](redis_server& node) {
            node.command({"CONFIG", "SET", "maxmemory", "1"});
        },
        true},
    {"MISCONF", break_saving, false},
    {"NOREPLICAS",
        [](redis_server& node) {
            node.command({"CONFIG", "SET", "min-replicas-to-write", "1"});
        },
        false},
};

task fail_for_lack_of_writes(scene& s, cluster& c, const state& what)
{
    const error_code why = co_await fail_to_acquire(s.lock(0), 1s);
    BOOST_TEST(why == errc::unreachable, why.message());
    BOOST_TEST(why == condition::unavailable);
    for (std::size_t i = 0; i < 2; ++i) {
        expect_blamed(s.locker().stats(), address_of(c.nodes[i]), what.name);
        BOOST_TEST(s.locker().stats().nodes[i].connected); // the node is alive
    }
}

BOOST_DATA_TEST_CASE(row_21_a_node_that_refuses_to_write_gives_no_vote, states, each)
{
    cluster c(3);
    each.enter(c.nodes[0]);
    play(c.store(), 2, acquire_beside_a_fault);
    each.enter(c.nodes[1]);
    play(c.store(), 1, [&](scene& s) { return fail_for_lack_of_writes(s, c, each); });
    BOOST_TEST(c.empty_within(0s));
}

task release_in_that_state(scene& s, cluster& c, const state& what)
{
    co_await connect_all(s.locker());
    lease held = co_await s.lock(0, unrenewed(6s)).acquire(); // long enough to enter the state
    const bool everywhere = co_await c.have_copies(s.resource, 3, 5s);
    BOOST_TEST(everywhere);
    for (std::size_t i = 0; i < 2; ++i)
        what.enter(c.nodes[i]);
    const release_outcome outcome = co_await held.release();
    BOOST_TEST(
        outcome == (what.deletes ? release_outcome::released : release_outcome::unconfirmed));
    const bool as_expected = co_await c.have_copies(s.resource, what.deletes ? 0 : 2, 5s);
    BOOST_TEST(as_expected);
    if (!what.deletes)
        expect_blamed(s.locker().stats(), address_of(c.nodes[1]), what.name);
}

BOOST_DATA_TEST_CASE(row_21_a_release_in_such_a_state_is_not_confirmed, states, each)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return release_in_that_state(s, c, each); });
    BOOST_TEST(c.empty_within(6s));
}

task renew_in_that_state(scene& s, cluster& c, const state& what)
{
    co_await connect_all(s.locker());
    lease held = co_await s.lock(0, well_guarded(6s)).acquire();
    for (std::size_t i = 0; i < 2; ++i)
        what.enter(c.nodes[i]);
    if (what.deletes) {
        const auto renewals = s.locker().stats().renewals;
        const auto enough = [&s, renewals] {
            return s.locker().stats().renewals >= renewals + 4;
        };
        const bool renewed = co_await becomes_true(enough, 30s);
        BOOST_TEST(renewed);
        BOOST_TEST(held.held());
        co_return;
    }
    auto [ec] = co_await held.lost(no_throw);
    BOOST_TEST(ec == errc::lease_lost, ec.message());
    BOOST_TEST((steady::now() < held.valid_until()));
    expect_blamed(s.locker().stats(), address_of(c.nodes[0]), what.name);
}

BOOST_DATA_TEST_CASE(row_21_a_lease_in_such_a_state_goes_on_or_ends_in_time, states, each)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return renew_in_that_state(s, c, each); });
    BOOST_TEST(c.empty_within(6s));
}

// Runs one operation on nodes that have just lost their scripts.
template <class Operation>
task use_after_flush(cluster& c, Operation operation)
{
    c.command({"SCRIPT", "FLUSH"});
    c.command({"CONFIG", "RESETSTAT"});
    co_await operation();
    const bool once_each = co_await becomes_true([&] {
        return std::all_of(c.nodes.begin(), c.nodes.end(), [](redis_server& node) {
            return calls_of(node, "evalsha") == 1 && calls_of(node, "eval") == 1;
        });
    });
    BOOST_TEST(once_each); // exactly one more round trip
}

task use_flushed_scripts(scene& s, cluster& c)
{
    co_await connect_all(s.locker());
    lease held = co_await s.lock(0, unrenewed(60s)).acquire();
    const bool everywhere = co_await c.have_copies(s.resource, 3, 5s);
    BOOST_TEST(everywhere);
    co_await use_after_flush(c, [&]() -> task { co_await held.extend(); });
    co_await use_after_flush(c, [&]() -> task {
        const release_outcome outcome = co_await held.release();
        BOOST_TEST(outcome == release_outcome::released);
    });
    BOOST_TEST(describe_nodes(s.locker().stats()) == "");

    const auto options = with_ttl(3s);
    held = co_await s.lock(0, options).acquire();
    for (const auto end = steady::now() + 2 * options.ttl; steady::now() < end;) {
        c.command({"SCRIPT", "FLUSH"});
        co_await pause(options.ttl / 15);
        BOOST_TEST(held.held());
    }
}

BOOST_AUTO_TEST_CASE(row_22_lost_scripts_are_sent_again)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return use_flushed_scripts(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

task use_a_restarted_node(scene& s, redis_server& node)
{
    co_await connect_all(s.locker());
    co_await acquire_and_release(s.lock(0));
    node.restart();
    co_await acquire_and_release(s.lock(0));
    BOOST_TEST(s.locker().stats().nodes[0].connects == 2u);
}

BOOST_AUTO_TEST_CASE(row_22_a_restarted_node_gets_its_scripts_again)
{
    cluster c(1);
    play(c.store(), 1, [&](scene& s) { return use_a_restarted_node(s, c.nodes[0]); });
    BOOST_TEST(c.empty_within(0s));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
