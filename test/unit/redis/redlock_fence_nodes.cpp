// Tokens and clocks, over modelled nodes: nodes lose data, and their clocks change in between.
#include "redis/node/fence_scripts.hpp"
#include "support/model_node.hpp"
#include "support/redlock_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <vector>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

constexpr redis::fence_settings usual{.quarantine = 10s, .ahead = 1s};
constexpr std::uint64_t tokens_in_ms =
    redis::tokens_in_ballot * static_cast<std::uint64_t>(redis::ballots_in_ms);
const std::string register_of_a = "8865"; // by the hash of hf:l:A

struct client : redlock_fixture<model_node> {
    explicit client(const redis::fence_settings& fence) : redlock_fixture(3, 50ms, fence) {}
};

// Three nodes, and one client after the other. A later client knows nothing of the earlier ones.
struct fenced_nodes {
    fenced_nodes()
    {
        redis::fence_settings first = usual;
        first.first_deployment = true;
        c = std::make_unique<client>(first);
        c->run();
        replace_client(); // otherwise a node that is emptied would be taken for a new one
    }

    std::unique_ptr<client> c;
    std::uint64_t tag = 0;

    model_node& node(std::size_t i) { return c->nodes[i]; }

    // Replaces the client by a new one, after so long.
    void replace_client(core::duration later = 0ms, const redis::fence_settings& terms = usual)
    {
        auto next = std::make_unique<client>(terms);
        for (std::size_t i = 0; i < 3; ++i)
            node(i).disconnect(*c->core->connections()[i], c->now);
        next->now = c->now + later;
        next->nodes = std::move(c->nodes);
        c = std::move(next);
        c->run();
    }

    // The outcome of an attempt; a lease is released at once.
    std::string outcome(std::string_view resource = "A")
    {
        const auto id = c->ask(++tag, 'x', resource);
        c->run();
        auto e = c->core->next_event();
        if (!e) {
            c->pass(50ms);
            e = c->core->next_event();
        }
        BOOST_REQUIRE(e.has_value());
        if (e->kind != core::event_kind::granted)
            return c->in_words(*e).substr(std::to_string(tag).size() + 1);
        token = e->fence.value();
        c->core->release(id, c->now);
        c->run();
        while (c->core->next_event()) {
        }
        return "granted";
    }

    std::uint64_t acquire()
    {
        BOOST_REQUIRE(outcome() == "granted");
        return token;
    }

    // One resource is granted so many times.
    std::uint64_t hammer(int times, core::duration each)
    {
        std::uint64_t last = 0;
        for (int i = 0; i < times; ++i) {
            BOOST_REQUIRE(acquire() > last);
            last = token;
            c->pass(each);
        }
        return last;
    }

    // Until it is connected again. `keeps`: it has its data.
    void restart(std::size_t i, bool keeps = false)
    {
        model_node& n = node(i);
        n.disconnect(*c->core->connections()[i], c->now);
        n.server.restart("again" + std::to_string(++restarts),
            keeps ? n.server.contents() : redis_model::data(n.server.contents().size()));
        c->pass(1s);
    }

    void command(const std::vector<std::string>& words)
    {
        for (model_node& n : c->nodes)
            n.command(words, c->now);
    }
    void set_register(std::size_t i, std::uint64_t ballot)
    {
        node(i).command({"ZADD", "hf:f", std::to_string(ballot), register_of_a}, c->now);
    }

    std::uint64_t clock_ms() const
    {
        return static_cast<std::uint64_t>(c->now.time_since_epoch() / 1ms);
    }
    std::uint64_t clock() const { return clock_ms() * tokens_in_ms; }

    std::string reason(std::size_t i) const { return c->core->nodes().stats()[i].reason; }

    std::uint64_t token = 0;
    int restarts = 0;
};

BOOST_FIXTURE_TEST_SUITE(redlock_fence_nodes, fenced_nodes)

// 20,000 grants in two seconds, faster than ballots grow with the clock. Then all nodes lose their
// data, one after the other.
BOOST_AUTO_TEST_CASE(tokens_grow_after_a_resource_was_granted_fast_and_nodes_forgot)
{
    const std::uint64_t last = hammer(20'000, 100us);
    BOOST_TEST(last > clock() + 400 * tokens_in_ms);
    BOOST_TEST(last < clock() + 1000 * tokens_in_ms);
    for (std::size_t i = 0; i < 3; ++i) {
        restart(i);
        c->pass(usual.pause());
    }
    replace_client();
    BOOST_TEST(acquire() > last);
}

// Clients that follow each other at once, each with a clock of its own.
BOOST_AUTO_TEST_CASE(tokens_grow_from_client_to_client)
{
    std::uint64_t last = 0;
    for (int i = 0; i < 20; ++i) {
        replace_client();
        BOOST_TEST(acquire() > last);
        last = token;
    }
}

// FLUSHALL needs no new connection: the next attempt finds it out.
BOOST_AUTO_TEST_CASE(tokens_grow_after_nodes_were_flushed)
{
    std::uint64_t last = hammer(10, 1ms);
    node(0).command({"FLUSHALL"}, c->now);
    BOOST_TEST(acquire() > last); // by the others
    BOOST_TEST(reason(0).starts_with("in quarantine for another 12 s"));
    last = token;
    node(1).command({"FLUSHALL"}, c->now);
    BOOST_TEST(outcome() == "refused: fencing_unavailable, passes");
    BOOST_TEST(outcome() == "refused: fencing_unavailable, passes");
    c->pass(usual.pause());
    BOOST_TEST(acquire() > last);
    BOOST_TEST(reason(0) == "");
}

// A client that knows of no flush meets registers that stand at the end of the quarantine.
BOOST_AUTO_TEST_CASE(a_quarantine_binds_clients_that_do_not_know_of_it)
{
    acquire();
    for (std::size_t i = 0; i < 2; ++i) {
        node(i).command({"FLUSHALL"}, c->now);
        node(i).disconnect(*c->core->connections()[i], c->now);
    }
    const std::uint64_t end = clock_ms() + 12'000;
    c->pass(1s); // opens them again
    BOOST_TEST(reason(0).starts_with("in quarantine"));
    for (std::size_t i = 0; i < 2; ++i)
        BOOST_TEST(node(i).command(
                       {"ZADD", "hf:f", "XX", "GT", "CH", std::to_string(end * 8), register_of_a},
                       c->now) == ":0\r\n");
}

// The clock of one node was a day ahead and is corrected. The other nodes, whose clocks are right,
// are restarted empty, one at a time. Then the first goes down.
BOOST_AUTO_TEST_CASE(tokens_grow_after_a_clock_was_ahead_and_the_other_nodes_forgot)
{
    node(0).ahead = 24h;
    replace_client();
    const std::uint64_t last = hammer(10, 1ms);
    BOOST_TEST(last < clock() + 1000 * tokens_in_ms); // nobody follows it
    node(0).ahead = 0ms;
    for (std::size_t i = 1; i < 3; ++i) {
        restart(i);
        c->pass(usual.pause());
    }
    node(0).up = false;
    replace_client();
    BOOST_TEST(acquire() > last);
}

// The same if the clock is set later, so that nodes are asked before the change is known.
BOOST_AUTO_TEST_CASE(tokens_grow_although_a_clock_was_set_forward_and_back)
{
    std::uint64_t last = hammer(10, 1ms);
    node(0).ahead = 24h;
    BOOST_TEST(outcome() == "granted");
    BOOST_REQUIRE(token > last);
    last = hammer(2000, 1ms);
    BOOST_TEST(last < clock() + 1000 * tokens_in_ms);
    node(0).ahead = 0ms;
    node(1).up = false;
    BOOST_TEST(acquire() > last);
}

// Two clocks of three are a day ahead, and are corrected. Both have stored the ballots that were
// granted meanwhile. Until the clocks reach these, they grant nothing rather than less.
BOOST_AUTO_TEST_CASE(a_majority_whose_clocks_were_ahead_grants_nothing_smaller)
{
    node(0).ahead = node(1).ahead = 24h;
    replace_client();
    const std::uint64_t last = hammer(10, 1ms);
    BOOST_TEST(last > clock() + 86'000'000 * tokens_in_ms);
    node(0).ahead = node(1).ahead = 0ms;
    replace_client();
    BOOST_TEST(outcome() == "refused: fencing_unavailable"); // too long to wait for
    BOOST_TEST(reason(0) == "a register in hf:f is too far ahead of the clocks of the nodes for "
                            "another 86399 s");
    BOOST_TEST(outcome("B") == "granted"); // of another register
    replace_client(24h);
    BOOST_TEST(acquire() > last);
}

// A register near the largest number at one node does not affect the others.
BOOST_AUTO_TEST_CASE(a_register_near_the_largest_number_affects_one_node)
{
    const std::uint64_t last = acquire();
    for (const std::uint64_t far : {9'007'199'254'740'991u / 128, 8'999'999'999'999'999u}) {
        set_register(0, far);
        BOOST_TEST(acquire() > last);
        BOOST_TEST(token < clock() + 1000 * tokens_in_ms);
        BOOST_TEST(reason(0).starts_with("a register in hf:f is too far ahead"));
    }
    node(1).up = false;
    replace_client();
    BOOST_TEST(outcome() == "refused: unreachable");
}

// Registers that are just too far ahead are so only for a moment: the wait goes on, and ends with a
// lease.
BOOST_AUTO_TEST_CASE(registers_that_are_a_little_too_far_ahead_are_waited_for)
{
    acquire();
    const std::uint64_t most = (clock_ms() + 1000) * redis::ballots_in_ms;
    for (std::size_t i = 0; i < 3; ++i)
        set_register(i, most + 32);
    BOOST_TEST(outcome() == "refused: fencing_unavailable, passes");
    BOOST_TEST(reason(0).ends_with("for another 1 s"));
    c->pass(6ms);
    BOOST_TEST(acquire() > (most + 32) * redis::tokens_in_ballot);
    BOOST_TEST(reason(0) == "");
}

// A user deletes the registers, or the record, or both.
BOOST_AUTO_TEST_CASE(tokens_grow_after_keys_were_deleted)
{
    for (const std::vector<std::string>& deletion :
        {std::vector<std::string>{"DEL", "hf:f"}, {"DEL", "hf:n"}, {"DEL", "hf:f", "hf:n"}}) {
        const std::uint64_t last = hammer(2000, 100us);
        command(deletion);
        replace_client();
        BOOST_TEST(outcome() == "refused: fencing_unavailable, passes");
        c->pass(usual.pause());
        BOOST_TEST(acquire() > last);
    }
}

// A single member can be lost only by a command. It is not noticed until its resource is wanted.
BOOST_AUTO_TEST_CASE(tokens_grow_after_one_register_was_deleted)
{
    const std::uint64_t last = hammer(10, 1ms);
    command({"ZREM", "hf:f", register_of_a});
    BOOST_TEST(outcome() == "refused: fencing_unavailable, passes");
    c->pass(usual.pause());
    BOOST_TEST(acquire() > last);
}

// A node that was restarted may have lost its last second of data. Only a user can say that it
// keeps everything.
BOOST_AUTO_TEST_CASE(a_restart_with_data)
{
    const std::uint64_t last = hammer(10, 1ms);
    redis::fence_settings kept = usual;
    kept.trusted_persistence = true;
    replace_client(0ms, kept);
    for (std::size_t i = 0; i < 3; ++i)
        restart(i, true);
    BOOST_TEST(acquire() > last);
    replace_client();
    for (std::size_t i = 0; i < 2; ++i)
        restart(i, true);
    BOOST_TEST(outcome() == "refused: fencing_unavailable, passes");
}

// A node whose clock is behind begins its quarantine by the clocks of the others: otherwise it
// would accept ballots before leases have ended that it has forgotten.
BOOST_AUTO_TEST_CASE(a_quarantine_of_a_node_whose_clock_is_behind)
{
    const std::uint64_t last = hammer(10, 1ms);
    node(0).ahead = -24h;
    restart(0);
    node(1).up = false;
    BOOST_TEST(outcome() != "granted");
    c->pass(usual.pause() - 2s);
    BOOST_TEST(outcome() != "granted");
    const std::uint64_t before_its_end = (clock_ms() + 900) * redis::ballots_in_ms;
    BOOST_TEST(before_its_end * redis::tokens_in_ballot > last);
    BOOST_TEST(node(0).command({"ZADD", "hf:f", "XX", "GT", "CH", std::to_string(before_its_end),
                                   register_of_a},
                   c->now) == ":0\r\n");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
