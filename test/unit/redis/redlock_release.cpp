// Releases of the redlock core, its clean-up and its end, over model nodes.
#include "redis/redlock_core.hpp"

#include "support/model_cluster.hpp"

#include <boost/test/unit_test.hpp>

#include <map>
#include <random>

using namespace holdfast::test;
using namespace std::chrono_literals;
using holdfast::errc;
namespace core = holdfast::core;

BOOST_AUTO_TEST_SUITE(redlock_release)

// A release is sent to all nodes, and done when a majority has deleted the key.
BOOST_AUTO_TEST_CASE(releases)
{
    for (const std::size_t n : {1u, 2u, 3u, 5u}) {
        model_cluster c(n);
        c.run();
        const auto id = c.acquire(7);
        c.core->release(id, c.now);
        c.run();
        BOOST_TEST(c.events() == "7 released");
        BOOST_TEST(c.holders() == 0u);
        BOOST_TEST(c.core->cleanup().is_done());
        BOOST_TEST(c.is_idle());
    }
}

// A slow minority gets the deletion, too, but is not waited for.
BOOST_AUTO_TEST_CASE(a_majority_is_enough)
{
    model_cluster c(3);
    c.run();
    const auto id = c.acquire(7);
    c.nodes[2].silent = true;
    c.core->release(id, c.now);
    c.run();
    BOOST_TEST(c.events() == "7 released");
    BOOST_TEST(!c.core->cleanup().is_done());
    BOOST_TEST(c.nodes[2].commands() == "DELETE A");
}

// A lease that is no longer ours is reported as expired, and the keys of its new holder stay.
BOOST_AUTO_TEST_CASE(expired)
{
    model_cluster c(3);
    c.run();
    const auto id = c.acquire(7);
    c.pass(1s);
    for (std::size_t i = 0; i < 3; ++i)
        c.occupy(i);
    c.core->release(id, c.now);
    c.run();
    BOOST_TEST(c.events() == "7 expired");
    for (const model_node& n : c.nodes)
        BOOST_TEST(n.owner("A", c.now) == "another");
}

// Without answers a release is unconfirmed after the node timeout, and no sooner.
BOOST_AUTO_TEST_CASE(unconfirmed)
{
    model_cluster c(3);
    c.run();
    const auto id = c.acquire(7);
    c.nodes[1].silent = c.nodes[2].silent = true;
    c.core->release(id, c.now);
    c.pass(50ms - 1ns);
    BOOST_TEST(c.events() == "");
    c.pass(1ns);
    BOOST_TEST(c.events() == "7 unconfirmed");
}

// Without a reachable node there is nothing to wait for.
BOOST_AUTO_TEST_CASE(no_reachable_node)
{
    model_cluster c(3);
    c.run();
    const auto id = c.acquire(7);
    for (model_node& n : c.nodes)
        n.up = false;
    c.run();
    c.core->release(id, c.now);
    BOOST_TEST(c.events() == "7 unconfirmed");
}

// Deletion goes on in the background: a node that was away deletes the key when it is back, if the
// key has not expired by then. After that the claim is forgotten.
BOOST_AUTO_TEST_CASE(deletes_when_a_node_is_back)
{
    model_cluster c(3);
    c.run();
    c.pass(200ms);
    const auto id = c.acquire(7);
    c.nodes[2].disconnect(*c.core->connections()[2], c.now);
    c.core->release(id, c.now);
    BOOST_TEST(c.holders() == 3u);
    c.run();
    BOOST_TEST(c.events() == "7 released");
    BOOST_TEST(c.holders() == 0u);
    BOOST_TEST(c.is_idle());

    const auto again = c.acquire(8);
    c.nodes[2].up = false;
    c.run();
    c.core->release(again, c.now);
    c.pass(1s);
    c.nodes[2].up = true;
    c.nodes[2].commands();
    c.pass(5s);
    BOOST_TEST(c.core->nodes().stats()[2].connected);
    BOOST_TEST(c.nodes[2].commands() == "");
    BOOST_TEST(c.is_idle());
}

// A node that cannot delete is asked at most twice, with and without the queue, and the key is left
// to its ttl.
BOOST_AUTO_TEST_CASE(a_node_that_cannot_delete)
{
    model_cluster c(1);
    c.run();
    const auto id = c.acquire(7);
    c.nodes[0].errors["DELETE"] = c.nodes[0].errors["PASS"] =
        "MISCONF Redis is configured to save RDB snapshots";
    c.core->release(id, c.now);
    c.pass(2s);
    BOOST_TEST(c.events() == "7 unconfirmed");
    BOOST_TEST(c.nodes[0].commands() == "PASS A, DELETE A, PASS A, DELETE A");
    BOOST_TEST(c.is_idle());
}

// A release and the next attempt of another claim go in order over the same connections.
BOOST_AUTO_TEST_CASE(a_release_and_the_next_attempt_in_order)
{
    model_cluster c(5);
    c.run();
    const auto id = c.acquire(7, 'x');
    c.core->release(id, c.now);
    c.ask(8, 'y');
    c.run();
    BOOST_TEST(c.events() == "7 released, 8 granted for 988");
    std::size_t queue_nodes = 0;
    for (model_node& n : c.nodes) {
        const std::string commands = n.commands();
        const bool queue_node = commands == "PASS A, SET A";
        BOOST_TEST((queue_node || commands == "DELETE A, SET A"), commands);
        queue_nodes += queue_node ? 1u : 0u;
    }
    BOOST_TEST(queue_nodes == 1u);
}

// close() ends every connection, and everything that was waited for.
BOOST_AUTO_TEST_CASE(closes)
{
    model_cluster c(3);
    c.run();
    const auto id = c.acquire(7);
    for (model_node& n : c.nodes)
        n.silent = true;
    c.core->release(id, c.now);
    c.run();
    c.core->close(c.now);
    BOOST_TEST(c.events() == "7 unconfirmed");
    for (core::connection* const each : c.core->connections())
        BOOST_TEST(!each->wants_open());
    c.pass(10s);
    BOOST_TEST(c.is_idle());
}

// With calls and failures in any order: every attempt ends once unless it was abandoned, every
// release ends once, nothing is reported about a claim that has ended, and finally nothing is left
// to clean up.
BOOST_AUTO_TEST_CASE(any_order_of_events)
{
    for (unsigned seed = 1; seed <= 300; ++seed) {
        BOOST_TEST_CONTEXT("seed " << seed)
        {
            std::mt19937 dice(seed);
            const auto roll = [&](unsigned limit) {
                return static_cast<unsigned>(dice() % limit);
            };
            model_cluster c(1 + roll(5));
            enum class stage { asking, held, lost, releasing, over };
            std::map<std::uint64_t, std::pair<core::claim_id, stage>> claims;
            std::uint64_t last = 0;
            const auto note = [&] {
                while (const auto e = c.core->next_event()) {
                    stage& s = claims.at(e->tag).second;
                    switch (e->kind) {
                    case core::event_kind::granted:
                    case core::event_kind::refused:
                        BOOST_REQUIRE(s == stage::asking);
                        s = e->kind == core::event_kind::granted ? stage::held : stage::over;
                        break;
                    case core::event_kind::validity:
                        BOOST_REQUIRE(s != stage::asking);
                        break;
                    case core::event_kind::lost:
                        BOOST_REQUIRE((s == stage::held || s == stage::lost));
                        s = stage::lost;
                        break;
                    case core::event_kind::released:
                        BOOST_REQUIRE(s == stage::releasing);
                        s = stage::over;
                        break;
                    case core::event_kind::queued:
                    case core::event_kind::no_remote_waiters:
                    case core::event_kind::remote_waiters:
                    case core::event_kind::free_hint:
                        break;
                    }
                }
            };
            for (int step = 0; step < 120; ++step) {
                model_node& n = c.nodes[roll(static_cast<unsigned>(c.nodes.size()))];
                const auto index = static_cast<std::size_t>(&n - c.nodes.data());
                switch (roll(10)) {
                case 0:
                case 1:
                case 2: {
                    const std::uint64_t tag = ++last;
                    claims[tag] = {0, stage::asking};
                    claims[tag].first =
                        c.ask(tag, static_cast<char>('!' + tag % 90), roll(2) ? "A" : "B");
                    break;
                }
                case 3:
                    n.silent = !n.silent;
                    break;
                case 4:
                    n.up = roll(3) != 0;
                    break;
                case 5:
                    n.disconnect(*c.core->connections()[index], c.now);
                    break;
                case 6:
                    roll(2) ? n.forget_keys() : n.server.forget_scripts();
                    break;
                case 7:
                    c.pass(1ms * int(roll(400)));
                    break;
                default:
                    for (auto& [tag, each] : claims) {
                        if (each.second == stage::asking && roll(8) == 0) {
                            c.core->abandon(each.first, c.now);
                            each.second = stage::over;
                        } else if (each.second == stage::held && roll(2) == 0) {
                            c.renew(each.first, roll(2) == 0);
                        } else if ((each.second == stage::held || each.second == stage::lost) &&
                                   roll(3) == 0) {
                            each.second = stage::releasing;
                            c.core->release(each.first, c.now);
                        }
                        note();
                    }
                }
                note();
                if (roll(2) == 0)
                    c.run();
                note();
            }
            for (model_node& n : c.nodes)
                n.silent = !(n.up = true);
            c.pass(15s);
            note();
            for (const auto& [tag, each] : claims)
                BOOST_REQUIRE((each.second != stage::asking && each.second != stage::releasing));
            for (auto& [tag, each] : claims) {
                if (each.second == stage::over)
                    continue;
                each.second = stage::releasing;
                c.core->release(each.first, c.now);
                c.run();
                note();
            }
            c.pass(2s);
            note();
            for (const auto& [tag, each] : claims)
                BOOST_REQUIRE(each.second == stage::over);
            BOOST_REQUIRE(c.core->cleanup().is_done());
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
