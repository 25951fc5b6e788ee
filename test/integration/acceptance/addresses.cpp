// Rows 7 to 12: the number of nodes, and their addresses.
#include "integration/acceptance/acceptance.hpp"
#include "integration/acceptance/black_hole.hpp"
#include "support/name_service.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(acceptance_addresses)

task lose_nodes_one_by_one(scene& s, cluster& c)
{
    for (std::size_t down = 0; c.size() - down >= c.majority(); ++down) {
        co_await acquire_and_release(s.lock(0));
        c.nodes[down].kill();
    }
    const error_code why = co_await fail_to_acquire(s.lock(0), 1s);
    BOOST_TEST(why == errc::unreachable, why.message());
}

// Half of the nodes is no majority, so with an even number one node more does not tolerate more
// failures. The documentation of redlock() says so; the library has no log for warnings.
BOOST_AUTO_TEST_CASE(row_7_an_even_number_needs_more_than_half)
{
    for (const std::size_t count : {2u, 4u}) {
        cluster c(count);
        BOOST_TEST(c.majority() == count / 2 + 1);
        play(c.store(), 1, [&](scene& s) { return lose_nodes_one_by_one(s, c); });
    }
}

BOOST_AUTO_TEST_CASE(row_7_one_node_uses_the_same_algorithm)
{
    cluster c(1);
    play(c.store(), 2, acquire_beside_a_fault);
    play(c.store(), 1, [&](scene& s) { return lose_nodes_one_by_one(s, c); });
}

task expect_the_same_server(scene& s, std::string address)
{
    co_await acquire_beside_a_fault(s);
    const bool found = co_await becomes_true([&] {
        return describe_nodes(s.locker().stats()).find("the same server as") != std::string::npos;
    });
    BOOST_TEST(found);
    // Which of the two names is refused depends on which connection was first.
    BOOST_TEST(describe_nodes(s.locker().stats()).find(address) != std::string::npos);
}

task find_no_false_majority(scene& s)
{
    const error_code why = co_await fail_to_acquire(s.lock(0), 1s);
    BOOST_TEST(why == errc::unreachable, why.message());
    BOOST_TEST(s.locker().stats().acquired == 0u);
}

task expect_misconfigured(scene& s)
{
    const error_code why = co_await fail_at_once(s.lock(0));
    BOOST_TEST(why == errc::misconfigured_node, why.message());
    BOOST_TEST(why == condition::misconfigured);
}

BOOST_AUTO_TEST_CASE(row_8_one_server_under_two_names_votes_once)
{
    cluster c(2);
    const auto port = ":" + std::to_string(c.nodes[0].port());
    const auto name = "redis://127.0.0.1" + port, other_name = "redis://localhost" + port;
    const std::vector<endpoint> nodes{name, other_name, c.nodes[1].url()};
    play(redlock(nodes, quick_options()), 2,
        [&](scene& s) { return expect_the_same_server(s, port); });
    play(redlock({name, other_name}, quick_options()), 1, expect_misconfigured);
    c.nodes[1].kill(); // two of three names answer, but are the same server
    play(redlock(nodes, quick_options()), 1, find_no_false_majority);
    BOOST_TEST(c.nodes[0].command({"DBSIZE"}) == "0");
}

task acquire_and_blame(scene& s, std::string address, std::string cause)
{
    co_await acquire_beside_a_fault(s);
    co_await expect_blamed_soon(s.locker(), address, cause);
}

task fail_and_blame(scene& s, std::vector<std::string> addresses, std::string cause)
{
    const error_code why = co_await fail_to_acquire(s.lock(0), 2s);
    BOOST_TEST(why == errc::unreachable, why.message());
    BOOST_TEST(why == condition::unavailable);
    for (const auto& each : addresses)
        expect_blamed(s.locker().stats(), each, cause);
}

// One bad address with two good nodes, then two bad addresses with one good node.
void expect_bad_addresses(cluster& c, const std::vector<std::string>& bad, const std::string& cause)
{
    std::vector<std::string> addresses;
    for (const auto& url : bad)
        addresses.push_back(endpoint(url).address());
    play(redlock({bad[0], c.nodes[0].url(), c.nodes[1].url()}, quick_options()), 2,
        [&](scene& s) { return acquire_and_blame(s, addresses[0], cause); });
    BOOST_TEST(c.empty_within(0s));
    auto options = quick_options();
    options.client_record = false; // it is set as well
    play(redlock({bad[0], bad[1], c.nodes[0].url()}, options), 1,
        [&](scene& s) { return fail_and_blame(s, addresses, cause); });
    BOOST_TEST(calls_of(c.nodes[0], "set") > 0);
    BOOST_TEST(c.empty_within(0s)); // the grant of the good node was deleted
}

BOOST_AUTO_TEST_CASE(row_9_a_host_that_cannot_be_resolved)
{
    cluster c(2);
    expect_bad_addresses(
        c, {"redis://one.holdfast.invalid", "redis://two.holdfast.invalid"}, "Host not found");
}

BOOST_AUTO_TEST_CASE(row_9_a_name_service_that_never_answers)
{
    cluster c(2);
    silent_name_service names;
    expect_bad_addresses(c, {"redis://one.silent.invalid", "redis://two.silent.invalid"},
        "no connection within the connect timeout");
    BOOST_TEST(names.asked() >= 3);
}

// All connection attempts of a node wait for the same look-up: there is at most one thread per
// node.
BOOST_AUTO_TEST_CASE(row_9_one_look_up_at_a_time)
{
    silent_name_service names;
    std::vector<endpoint> nodes;
    for (const char* const each : {"a", "b", "c", "d", "e"})
        nodes.emplace_back("redis://" + std::string(each) + ".silent.invalid");
    auto options = quick_options();
    options.connect_timeout = 20ms;
    options.reconnect_min = options.reconnect_max = 1ms;
    play(redlock(nodes, options), 1, [&](scene& s) -> task {
        const error_code why = co_await fail_to_acquire(s.lock(0), 1s); // 50 attempts
        BOOST_TEST(why == errc::unreachable, why.message());
        BOOST_TEST(names.asked() == 5);
    });
}

// A host may have several addresses, some of which do not answer, for example if IPv6 is broken.
BOOST_AUTO_TEST_CASE(row_9_a_host_whose_first_address_is_silent)
{
    redis_server node;
    black_hole first(2, node.port()), second(3, node.port());
    named_addresses name("many.holdfast.invalid", {first.host(), second.host(), "127.0.0.1"});
    const std::string address = "many.holdfast.invalid:" + std::to_string(node.port());
    play(redlock({"redis://" + address}, quick_options()), 2, [&](scene& s) -> task {
        co_await acquire_beside_a_fault(s);
        node.command({"CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes"});
        co_await acquire_beside_a_fault(s);
    });

    named_addresses none("none.holdfast.invalid", {first.host(), second.host()});
    const std::string nowhere = "none.holdfast.invalid:" + std::to_string(node.port());
    play(redlock({"redis://" + nowhere}, quick_options()), 1, [&](scene& s) -> task {
        const error_code why = co_await fail_to_acquire(s.lock(0), 1s);
        BOOST_TEST(why == errc::unreachable, why.message());
        expect_blamed(s.locker().stats(), nowhere, "connect timeout");
    });
}

// An address that accepts a connection and then is silent is tried last the next time.
BOOST_AUTO_TEST_CASE(row_9_a_host_whose_first_address_accepts_connections_and_is_silent)
{
    redis_server node;
    asio::io_context io;
    using tcp = asio::ip::tcp;
    tcp::acceptor mute(io, {asio::ip::make_address("127.0.0.2"), node.port()});
    named_addresses name("mute.holdfast.invalid", {"127.0.0.2", "127.0.0.1"});
    play(redlock({"redis://mute.holdfast.invalid:" + std::to_string(node.port())}, quick_options()),
        1, [&](scene& s) { return acquire_and_release(s.lock(0)); });
}

BOOST_AUTO_TEST_CASE(row_10_a_minority_that_refuses_connections)
{
    cluster c(5);
    c.nodes[0].kill();
    c.nodes[1].kill();
    const auto first = address_of(c.nodes[0]), second = address_of(c.nodes[1]);
    play(c.store(), 2, [&](scene& s) { return acquire_and_blame(s, first, "refused"); });
    play(c.store(), 2, [&](scene& s) { return acquire_and_blame(s, second, "refused"); });
    for (std::size_t i = 2; i < 5; ++i)
        BOOST_TEST(c.nodes[i].command({"DBSIZE"}) == "0");
}

BOOST_AUTO_TEST_CASE(row_11_a_majority_that_refuses_connections)
{
    cluster c(5);
    std::vector<std::string> addresses;
    for (std::size_t i = 0; i < 3; ++i) {
        c.nodes[i].kill();
        addresses.push_back(address_of(c.nodes[i]));
    }
    redlock_options options;
    options.client_record = false; // it is set as well
    play(c.store(500ms, options), 1,
        [&](scene& s) { return fail_and_blame(s, addresses, "refused"); });
    for (std::size_t i = 3; i < 5; ++i) {
        BOOST_TEST(calls_of(c.nodes[i], "set") > 0); // it had granted the lock
        BOOST_TEST(c.nodes[i].command({"DBSIZE"}) == "0");
    }
}

task give_up_within_the_connect_timeout(scene& s)
{
    const auto begin = steady::now();
    auto [ec, none] = co_await s.lock(0).try_acquire(no_throw);
    BOOST_TEST(ec == errc::unreachable, ec.message());
    BOOST_TEST((steady::now() - begin < slack)); // the kernel would try for two minutes
}

BOOST_AUTO_TEST_CASE(row_12_connection_attempts_without_an_answer)
{
    cluster c(2);
    black_hole one, two;
    expect_bad_addresses(c, {one.url(), two.url()}, "no connection within the connect timeout");
    play(redlock({one.url()}, quick_options()), 1, give_up_within_the_connect_timeout);
    BOOST_TEST(!one.connects()); // it was a black hole until the end
    BOOST_TEST(!two.connects());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
