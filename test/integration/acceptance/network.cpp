// Rows 13 to 15 and 35: silent nodes, and connections that break at the worst moment.
#include "integration/acceptance/acceptance.hpp"
#include "support/call.hpp"
#include "support/fault_proxy.hpp"

#include <boost/test/data/test_case.hpp>

#include <ostream>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(acceptance_network)

// A way to make a node accept requests and not answer.
struct silence {
    const char* name;
    void (*begin)(redis_server&);
    void (*end)(redis_server&);
    friend std::ostream& operator<<(std::ostream& out, const silence& s) { return out << s.name; }
};

const std::vector<silence> silences{
    {"stopped", [](redis_server& node) { node.pause(); },
        [](redis_server& node) {
            node.resume();
        }},
    {"CLIENT PAUSE",
        [](redis_server& node) {
            node.command({"CLIENT", "PAUSE", "60000", "WRITE"});
        },
        [](redis_server& node) {
            node.command({"CLIENT", "UNPAUSE"});
        }},
    {"DEBUG SLEEP",
        [](redis_server& node) {
            // When this returns, the node sleeps.
            BOOST_CHECK_THROW(node.command({"DEBUG", "SLEEP", "4"}, 200ms), std::exception);
        },
        [](redis_server& node) {
            node.command({"PING"}, 20s);
        }},
};

task fail_in_silence(scene& s, cluster& c, const silence& how)
{
    co_await connect_all(s.locker());
    c.command({"CONFIG", "RESETSTAT"}); // the handshake tries commands
    how.begin(c.nodes[0]);
    how.begin(c.nodes[1]);
    const auto options = with_ttl(60s);
    const auto begin = steady::now();
    auto [ec, none] = co_await s.lock(0, options).try_acquire(no_throw);
    BOOST_TEST((steady::now() - begin < slack));
    BOOST_TEST(ec == errc::unreachable, ec.message());
    for (std::size_t i = 0; i < 2; ++i) {
        expect_blamed(s.locker().stats(), address_of(c.nodes[i]), "no answer in time");
        BOOST_TEST(s.locker().stats().nodes[i].timeouts == 1u);
        BOOST_TEST(s.locker().stats().nodes[i].connected); // silence does not end the connection
    }
    how.end(c.nodes[0]);
    how.end(c.nodes[1]);

    // The nodes execute the requests now: they grant, and delete right afterwards.
    for (auto& node : c.nodes) {
        const bool deleted = co_await becomes_true([&] { return calls_of(node, "evalsha") >= 1; });
        BOOST_TEST(deleted);
        BOOST_TEST(calls_of(node, "set") == 1);
        BOOST_TEST(!has_key(node, s.resource));
    }
    for (const auto& node : s.locker().stats().nodes)
        BOOST_TEST(node.connects == 1u); // all on the same connection
    co_await acquire_and_release(s.lock(0, options));
}

BOOST_DATA_TEST_CASE(row_13_nodes_that_accept_and_never_answer, silences, each)
{
    cluster c(3, {"--enable-debug-command", "yes"});
    redlock_options options;
    options.client_record = false; // it is set as well
    play(c.store(500ms, options), 1, [&](scene& s) { return fail_in_silence(s, c, each); });
    BOOST_TEST(c.empty_within(0s)); // the ttl is 60 s
}

task acquire_beside_silence(scene& s, cluster& c, const silence& how)
{
    co_await connect_all(s.locker(0));
    co_await connect_all(s.locker(1));
    how.begin(c.nodes[0]);
    co_await acquire_beside_a_fault(s);
    how.end(c.nodes[0]);
}

BOOST_DATA_TEST_CASE(row_13_a_minority_does_not_matter, silences, each)
{
    cluster c(3, {"--enable-debug-command", "yes"});
    play(c.store(), 2, [&](scene& s) { return acquire_beside_silence(s, c, each); });
    BOOST_TEST(c.empty_within(0s));
}

task receive_late_answers(scene& s, cluster& c)
{
    const lock free(s.locker(), "free"), taken(s.locker(), "taken");
    c.nodes[0].command({"SET", "taken", "another", "PX", "60000"});
    co_await connect_all(s.locker());
    c.nodes[0].pause();
    auto [ec, none] = co_await free.try_acquire(no_throw);
    BOOST_TEST(ec == errc::unreachable, ec.message());

    // Now the answers to the first attempt arrive: "yes" to its request, and "yes" to its deletion.
    call<lease> second;
    taken.try_acquire(second.token());
    c.nodes[0].resume();
    const bool answered = co_await becomes_true([&] { return second.done(); });
    BOOST_REQUIRE(answered);
    BOOST_TEST(!second.error(), second.error().message());
    BOOST_TEST(!second.result<lease>());
    BOOST_TEST(c.nodes[0].command({"GET", "taken"}) == "another");
    BOOST_TEST(c.copies("free") == 0u);

    lease third = co_await free.acquire();
    BOOST_TEST(third.held());
    BOOST_TEST(c.copies("free") == 1u);
    co_await third.release();
    BOOST_TEST(s.locker().stats().acquired == 1u);
    c.nodes[0].command({"DEL", "taken"});
}

BOOST_AUTO_TEST_CASE(row_14_a_late_reply_belongs_to_its_own_request)
{
    cluster c(1);
    // Long enough that the second request does not time out too, and short enough that the node
    // does not count as overloaded yet.
    play(c.store(400ms), 1, [&](scene& s) { return receive_late_answers(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

task lose_the_answer(scene& s, cluster& c, fault_proxy& way)
{
    co_await connect_all(s.locker());
    way.set({.to_client = {.held = true}});
    call<lease> attempt;
    s.lock(0, with_ttl(60s)).try_acquire(attempt.token());
    const bool granted = co_await becomes_true([&] { return has_key(c.nodes[0], s.resource); });
    BOOST_TEST(granted);
    const auto token = c.nodes[0].command({"GET", s.resource});
    way.reset(); // the reply with the grant is lost
    way.set({});

    const bool ended = co_await becomes_true([&] { return attempt.done(); });
    BOOST_REQUIRE(ended);
    BOOST_TEST(attempt.error() == errc::unreachable, attempt.error().message());
    BOOST_TEST(!attempt.result<lease>());
    const bool deleted = co_await c.have_copies(s.resource, 0, 10s);
    BOOST_TEST(deleted);                          // over the next connection
    BOOST_TEST(calls_of(c.nodes[0], "set") == 1); // asked once
    BOOST_TEST(s.locker().stats().nodes[0].connects == 2u);
    BOOST_TEST(s.locker().stats().attempts == 1u);

    lease held = co_await s.lock(0, with_ttl(60s)).acquire();
    BOOST_TEST(c.nodes[0].command({"GET", s.resource}) != token); // each attempt has a new token
    co_await held.release();
}

BOOST_AUTO_TEST_CASE(row_15_connection_reset_between_write_and_reply)
{
    cluster c(1);
    fault_proxy way(c.nodes[0].port());
    auto options = quick_options();
    options.node_timeout = 20s;    // the reset must end the attempt
    options.client_record = false; // it is set as well
    play(redlock({way.url()}, options), 1, [&](scene& s) { return lose_the_answer(s, c, way); });
    BOOST_TEST(c.empty_within(0s)); // the ttl is 60 s
}

task blame_the_reset(scene& s, fault_proxy& way)
{
    co_await connect_all(s.locker());
    way.set({.new_connections = newcomers::refused});
    way.reset();
    const error_code why = co_await fail_to_acquire(s.lock(0), 1s);
    BOOST_TEST(why == errc::unreachable, why.message());
    expect_blamed(
        s.locker().stats(), endpoint(way.url()).address(), "onnection re"); // "reset" or "refused"
}

BOOST_AUTO_TEST_CASE(row_15_the_message_names_the_node_whose_connection_broke)
{
    cluster c(1);
    fault_proxy way(c.nodes[0].port());
    play(redlock({way.url()}, quick_options()), 1,
        [&](scene& s) { return blame_the_reset(s, way); });
}

task recover_in_time(scene& s, cluster& c)
{
    const auto options = with_ttl(3s);
    co_await connect_all(s.locker());
    lease held = co_await s.lock(0, options).acquire();
    call<> lost;
    held.lost(lost.token());
    const auto until = held.valid_until();
    const auto commands = s.locker().stats().nodes[0].commands;
    c.nodes[0].pause();
    c.nodes[1].pause();
    const bool tried =
        co_await becomes_true([&] { return s.locker().stats().nodes[0].commands > commands; });
    BOOST_TEST(tried); // with a renewal that is not answered
    const auto renewals = s.locker().stats().renewals;
    c.nodes[0].resume();
    c.nodes[1].resume();
    const bool renewed =
        co_await becomes_true([&] { return s.locker().stats().renewals >= renewals + 2; });
    BOOST_TEST(renewed);
    BOOST_TEST((held.valid_until() > until));
    BOOST_TEST(!lost.done());
    BOOST_TEST(held.held());
    const release_outcome outcome = co_await held.release();
    BOOST_TEST(outcome == release_outcome::released);
}

BOOST_AUTO_TEST_CASE(row_35_a_majority_that_comes_back_before_the_guard_time_does_not_matter)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return recover_in_time(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

task stop_before_the_end_of_the_lease(scene& s, cluster& c)
{
    const auto options = well_guarded(6s);
    co_await connect_all(s.locker());
    lease held = co_await s.lock(0, options).acquire();
    const auto paused = steady::now();
    c.nodes[0].pause();
    c.nodes[1].pause();
    auto [ec] = co_await held.lost(no_throw);
    const auto told = steady::now(), until = held.valid_until();
    BOOST_TEST(ec == errc::lease_lost, ec.message());
    BOOST_TEST((told < until));                    // in the guard time, still held
    BOOST_TEST((told > paused + options.ttl / 3)); // silence alone does not end a lease
    BOOST_TEST(held.held());

    // The network recovers in the guard time or later: too late.
    c.nodes[0].resume();
    c.nodes[1].resume();
    auto [extended] = co_await held.extend(no_throw);
    BOOST_TEST(extended == errc::lease_lost, extended.message());
    const bool ended = co_await becomes_true([&] { return !held.held(); });
    BOOST_TEST(ended);
    BOOST_TEST((steady::now() >= until));
    const bool counted = co_await becomes_true([&] { return s.locker().stats().lost == 1u; });
    BOOST_TEST(counted);
}

BOOST_AUTO_TEST_CASE(row_35_a_majority_that_stays_away_ends_the_work_before_the_lease)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return stop_before_the_end_of_the_lease(s, c); });
    BOOST_TEST(c.empty_within(6s));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
