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

constexpr redis::fence_settings usual{
    .quarantine = 10s, .ahead = 1s, .counter_lifetime = 24h, .first_deployment = true};

constexpr auto settings_for(bool first)
{
    redis::fence_settings s = usual;
    s.first_deployment = first;
    return s;
}

struct client : redlock_fixture<model_node> {
    explicit client(bool first) : redlock_fixture(3, 50ms, settings_for(first))
    {
        terms.others_follow = true;
    }
};

// Three nodes, and one client after the other. A later client knows nothing of the earlier ones.
struct fenced_nodes {
    fenced_nodes() { c->run(); }

    std::unique_ptr<client> c = std::make_unique<client>(true);
    std::uint64_t tag = 0;

    model_node& node(std::size_t i) { return c->nodes[i]; }

    // Replaces the client by a new one, after so long.
    void replace_client(core::duration later = 0ms)
    {
        auto next = std::make_unique<client>(false);
        for (std::size_t i = 0; i < 3; ++i)
            node(i).disconnect(*c->core->connections()[i], c->now);
        next->now = c->now + later;
        next->nodes = std::move(c->nodes);
        c = std::move(next);
        c->run();
    }

    // The outcome of an attempt; a lease is released at once.
    std::string outcome()
    {
        const auto id = c->ask(++tag);
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

    void restart_empty(std::size_t i)
    {
        model_node& n = node(i);
        n.disconnect(*c->core->connections()[i], c->now);
        n.server.restart(
            "again" + std::to_string(i), redis_model::data(n.server.contents().size()));
        c->pass(1s); // until it is connected again
    }

    void command(const std::vector<std::string>& words)
    {
        for (model_node& n : c->nodes)
            n.command(words, c->now);
    }

    std::uint64_t counter(std::size_t i) { return std::stoull(node(i).owner("hf:f:A", c->now)); }

    std::uint64_t clock() const
    {
        return static_cast<std::uint64_t>(c->now.time_since_epoch() / 1ms) * redis::tokens_in_ms;
    }

    std::string reason(std::size_t i) const { return c->core->nodes().stats()[i].reason; }

    std::uint64_t token = 0;
};

BOOST_FIXTURE_TEST_SUITE(redlock_fence_supply, fenced_nodes)

// 20,000 grants in two seconds, each with as many tokens as it may reserve for others. Then all
// nodes lose their data, one after the other.
BOOST_AUTO_TEST_CASE(tokens_grow_after_a_resource_was_granted_fast_and_nodes_forgot)
{
    const std::uint64_t last = hammer(20'000, 100us);
    BOOST_TEST(last < clock() + 1000 * redis::tokens_in_ms);
    for (std::size_t i = 0; i < 3; ++i) {
        restart_empty(i);
        c->pass(usual.quarantine);
    }
    replace_client();
    BOOST_TEST(acquire() > last);
}

// Another client holds two nodes. Each attempt takes tokens at the third. Large blocks would put
// its counter far ahead of its clock. Then it would refuse all clients.
BOOST_AUTO_TEST_CASE(attempts_without_success_do_not_use_up_the_tokens_of_a_node)
{
    for (std::size_t i = 1; i < 3; ++i)
        node(i).command({"SET", "hf:l:A", "another"}, c->now);
    for (int i = 0; i < 20'000; ++i) {
        BOOST_REQUIRE(outcome() == "refused: contended");
        c->pass(100us);
    }
    BOOST_TEST(counter(0) < clock() + 300 * redis::tokens_in_ms);
}

// The clock of one node was a day ahead and is corrected. The other nodes, whose clocks are right,
// are restarted empty, one at a time. Then the first goes down.
BOOST_AUTO_TEST_CASE(tokens_grow_after_a_clock_was_ahead_and_the_other_nodes_forgot)
{
    node(0).ahead = 24h;
    replace_client();
    const std::uint64_t last = hammer(10, 1ms);
    node(0).ahead = 0ms;
    for (std::size_t i = 1; i < 3; ++i) {
        restart_empty(i);
        c->pass(usual.quarantine);
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
    BOOST_TEST(reason(0) == "its clock, or what it grants, is too far ahead of the clocks of most "
                            "nodes");
    BOOST_REQUIRE(token > last);
    last = hammer(10, 1ms);
    node(0).ahead = 0ms;
    node(1).up = false;
    BOOST_TEST(acquire() > last); // it has not stored the token that was too far ahead
}

// Two clocks of three are a day ahead, and are corrected. Both have stored the tokens that were
// granted meanwhile. Until their clocks reach these, they grant nothing rather than less.
BOOST_AUTO_TEST_CASE(a_majority_whose_clocks_were_ahead_grants_nothing_smaller)
{
    node(0).ahead = node(1).ahead = 24h;
    replace_client();
    const std::uint64_t last = hammer(10, 1ms);
    BOOST_TEST(last > clock() + 86'000'000 * redis::tokens_in_ms);
    node(0).ahead = node(1).ahead = 0ms;
    replace_client();
    BOOST_TEST(outcome() == "refused: fencing_unavailable"); // too long to wait for
    BOOST_TEST(reason(0) == "the counter hf:f:A is too far ahead of the node's clock for another "
                            "86396 s");
    replace_client(24h);
    BOOST_TEST(acquire() > last);
}

// A counter near the largest token at one node does not affect the others.
BOOST_AUTO_TEST_CASE(a_counter_near_the_largest_token_affects_one_node)
{
    const std::uint64_t last = acquire();
    for (const char* const far : {"9007199253691391", "9007199253692414"}) {
        node(0).command({"SET", "hf:f:A", far}, c->now);
        BOOST_TEST(acquire() > last);
        BOOST_TEST(token < clock() + 1000 * redis::tokens_in_ms);
        BOOST_TEST(counter(1) < clock() + 1000 * redis::tokens_in_ms);
        BOOST_TEST(counter(2) == counter(1));
        BOOST_TEST(reason(0).starts_with("the counter hf:f:A is too far ahead"));
    }
    node(1).up = false;
    replace_client();
    BOOST_TEST(outcome() == "refused: unreachable");
}

// A counter that is just too far ahead is so only for a moment: the wait goes on, and ends with a
// lease.
BOOST_AUTO_TEST_CASE(a_counter_that_is_a_little_too_far_ahead_is_waited_for)
{
    acquire();
    const std::uint64_t most = clock() + 5000 * redis::tokens_in_ms;
    command({"SET", "hf:f:A", std::to_string(most + 4 * redis::tokens_in_ms)});
    BOOST_TEST(outcome() == "refused: fencing_unavailable, passes");
    BOOST_TEST(reason(0).ends_with("too far ahead of the node's clock for another 1 s"));
    c->pass(5ms);
    BOOST_TEST(outcome() == "refused: fencing_unavailable, passes"); // a grant that does not count
    c->pass(260ms);
    BOOST_TEST(acquire() > most + 4 * redis::tokens_in_ms);
    BOOST_TEST(reason(0) == "");
}

// A user deletes the counters. A client that was granted the resource before knows its tokens. For
// all others the clocks are soon as far.
BOOST_AUTO_TEST_CASE(tokens_grow_after_counters_were_deleted)
{
    std::uint64_t last = hammer(2000, 100us);
    command({"DEL", "hf:f:A"});
    BOOST_TEST(acquire() > last);
    last = hammer(2000, 100us);
    command({"DEL", "hf:f:A"});
    replace_client(20ms);
    BOOST_TEST(acquire() > last);

    // At one node, together with the record, as is recommended: whatever the node had stored.
    const std::uint64_t most = clock() + 4700 * redis::tokens_in_ms;
    command({"SET", "hf:f:A", std::to_string(most)});
    last = acquire();
    BOOST_TEST(last > most);
    for (std::size_t i = 0; i < 3; ++i) {
        node(i).command({"DEL", "hf:f:A", "hf:n"}, c->now);
        BOOST_TEST((i == 2 || outcome() == "granted"));
        last = token;
        replace_client(usual.quarantine);
        BOOST_TEST(acquire() > last);
    }
}

// Counters that were unused for their lifetime are gone, however far ahead they were.
BOOST_AUTO_TEST_CASE(tokens_grow_after_counters_have_expired)
{
    acquire();
    command({"SET", "hf:f:A", std::to_string(clock() + 4700 * redis::tokens_in_ms)});
    const std::uint64_t last = acquire();
    replace_client(usual.counter_lifetime + 1ms);
    BOOST_TEST(node(0).owner("hf:f:A", c->now) == "");
    BOOST_TEST(acquire() > last);
}

// A renewal does not restore a counter that is too far ahead for the node.
BOOST_AUTO_TEST_CASE(a_renewal_stores_nothing_that_is_too_far_ahead)
{
    const auto id = c->ask(++tag);
    c->run();
    const std::uint64_t last = counter(0);
    node(0).command({"DEL", "hf:f:A"}, c->now);
    node(1).command({"DEL", "hf:f:A"}, c->now);
    node(0).ahead = -24h;
    c->core->renew({&id, 1}, false, c->now);
    c->run();
    BOOST_TEST(node(0).owner("hf:f:A", c->now) == "");
    BOOST_TEST(counter(1) == last);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
