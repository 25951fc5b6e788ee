// What people are told about a lock that was given on as it was, and how it is taken away.
#include "redis/quorum/rendezvous.hpp"
#include "unit/redis/inspection_fixture.hpp"

#include <optional>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using core::inspection_task;
using words = told_node::words;

// Locker 7 has set the keys, and has given the lease to locker 8.
struct given_lock : connected_inspection {
    const std::string keys = token(7), holder = token(8, 's', wall + 5),
                      given = keys + holder + " 12";

    // Node 1 has the queue. `takes`: what a node answers when it is asked to delete; empty:
    // nothing.
    void tell(const std::string& takes_at_queue = number(1))
    {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const std::string seen = view(1, i == 1 ? given : keys, 1000);
            const std::string takes = i == 1 ? takes_at_queue : number(1);
            nodes[i].answer = [=](const words& w) -> std::string {
                if (w[0] == "clients") {
                    std::vector<std::string> all;
                    for (std::size_t k = 2; k < w.size(); ++k)
                        all.push_back(blob(record(w[k].substr(w[k].size() - 1), channel + w[k])));
                    return list_of(all);
                }
                if (w[0] == "view")
                    return seen;
                return w[0] == "PUBLISH" ? number(1) : takes;
            };
        }
    }
    std::string look() const
    {
        return "view 2 A A:holdfast:queue 999 512, clients 1 holdfast:client:00000008";
    }
    std::string notice() const
    {
        return std::string(", PUBLISH ") + channel + "holdfast:client:00000008 " + keys +
               " is taken away";
    }
};

BOOST_FIXTURE_TEST_SUITE(redlock_inspection_batons, given_lock)

BOOST_AUTO_TEST_CASE(the_parts_of_a_value)
{
    const auto is_whole = [](const std::string& value) {
        const redis::key_value parts = redis::split_value(value);
        return parts.lease == value && parts.holder == value;
    };
    const redis::key_value parts = redis::split_value(given);
    BOOST_TEST(parts.lease == keys);
    BOOST_TEST(parts.holder == holder);
    BOOST_TEST(redis::split_value(keys + holder + " 0").holder == holder);
    BOOST_TEST(redis::split_value(keys + holder + " 0 9007199254740991").holder == holder);
    for (const std::string& other :
        {std::string(), keys, keys + holder, keys + holder + ' ', keys + holder + "12",
            keys + holder + " 1x", keys + holder + " -1", keys + holder + " 1 ",
            keys + holder + " 1 2 3", keys + holder + "  1", std::string(32, '!') + holder + " 12",
            keys + std::string(32, '!') + " 12", keys + ' ' + holder + "12"})
        BOOST_TEST(is_whole(other), other);
}

BOOST_AUTO_TEST_CASE(the_holder_is_the_one_that_was_given_the_lock)
{
    tell();
    const auto [reason, r] = ask<resource_report>(inspection_task::inspect, "A");
    BOOST_TEST((reason == errc{}));
    BOOST_TEST(r.held);
    BOOST_TEST(r.having == 3u);
    BOOST_TEST((r.ttl_left == 1000ms));
    BOOST_REQUIRE(bool(r.owner));
    BOOST_TEST(r.owner->id == 8u);
    BOOST_TEST((r.owner->since.time_since_epoch() == std::chrono::seconds(wall + 5)));
    BOOST_TEST(r.owner->mark == holder.substr(0, 8));
    BOOST_TEST(r.owner->client.value().host == "8");
    for (const node_report& each : r.nodes)
        BOOST_TEST((each.key == key_state::owner));
}

// The copies with the same first token count, whichever of them comes first.
BOOST_AUTO_TEST_CASE(copies_of_two_leases)
{
    tell();
    nodes[2].answer = [&](const words& w) {
        return w[0] == "view" ? view(1, token(9) + holder + " 1", 1000) : number(0);
    };
    const auto r = ask<resource_report>(inspection_task::inspect, "A").second;
    BOOST_TEST(r.held);
    BOOST_TEST(r.having == 2u);
    BOOST_TEST(r.owner.value().id == 8u);
    BOOST_TEST((r.nodes[0].key == key_state::owner));
    BOOST_TEST((r.nodes[1].key == key_state::owner));
    BOOST_TEST((r.nodes[2].key == key_state::other));
}

BOOST_AUTO_TEST_CASE(a_list_names_the_holder)
{
    const auto step = [](const std::string& value) {
        return list_of({blob("0"), number(0), blob("A"), blob("500 " + value), blob("B"),
            blob("500 " + std::string(32, '!') + std::string(32, 's') + " 1")});
    };
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const std::string found = step(i == 1 ? given : keys);
        nodes[i].answer = [=](const words& w) {
            return w[0] == "scan" ? found : list_of({blob(""), blob(record("b"))});
        };
    }
    const auto [reason, all] = ask<lock_list>(inspection_task::list, "");
    BOOST_TEST((reason == errc{}));
    BOOST_REQUIRE(all.locks.size() == 1u); // the other has a value of someone else
    BOOST_TEST(all.locks[0].held);
    BOOST_TEST(all.locks[0].having == 3u);
    BOOST_TEST(all.locks[0].owner.value().id == 8u);
    BOOST_TEST(all.locks[0].owner->client.value().host == "b");
}

// Each node is asked for its own value, the one that names the holder first. The notice says the
// token that the holder's lease has.
BOOST_AUTO_TEST_CASE(a_lock_is_taken_from_the_one_that_was_given_it)
{
    tell("");
    begin(inspection_task::force_release, "A");
    run();
    for (const std::size_t i : {std::size_t(0), std::size_t(2)})
        BOOST_TEST(log(i) == look());
    BOOST_TEST(log(1) == look() + notice() + ", pass_on 2 A A:holdfast:queue " + given + " 500 ");
    told_node::give(*pool.connections()[1], number(1), now);
    run();
    for (const std::size_t i : {std::size_t(0), std::size_t(2)})
        BOOST_TEST(", " + log(i) == notice() + ", pass_on 2 A A:holdfast:queue " + keys + " 500 ");
    BOOST_TEST(log(1) == "");
    const auto [reason, done] = result<forced_release>();
    BOOST_TEST((reason == errc{}));
    BOOST_TEST(done.told);
    BOOST_TEST(done.deleted == 3u);
    BOOST_TEST(done.owner.value().id == 8u);
}

// The next holder relies on the keys of the other nodes, and is not told.
BOOST_AUTO_TEST_CASE(a_lock_that_was_given_on_meanwhile_stays)
{
    tell(number(0));
    const auto [reason, done] = ask<forced_release>(inspection_task::force_release, "A");
    BOOST_TEST((reason == errc{}));
    BOOST_TEST(done.deleted == 0u);
    tell("-NOPERM this user has no permissions\r\n");
    BOOST_TEST((
        ask<forced_release>(inspection_task::force_release, "A").first == errc::permission_denied));
    tell(""); // nor if that is not known
    begin(inspection_task::force_release, "A");
    pass(2s);
    BOOST_TEST((result<forced_release>().first == errc::unreachable));
    for (const std::size_t i : {std::size_t(0), std::size_t(2)})
        BOOST_TEST(log(i) == look() + ", " + look() + ", " + look());
}

// The same, before it is given for the first time: the node with the queue would know.
BOOST_AUTO_TEST_CASE(a_lock_that_somebody_waits_for_may_have_been_given)
{
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const std::string seen = view(1, keys, 10, i == 2 ? words{token(9)} : words{});
        nodes[i].answer = [=](const words& w) {
            return w[0] == "view" ? seen : w[0] == "clients" ? list_of({blob("")}) : number(0);
        };
    }
    const auto [reason, done] = ask<forced_release>(inspection_task::force_release, "A");
    BOOST_TEST((reason == errc{}));
    BOOST_TEST(done.deleted == 0u);
    BOOST_TEST(log(0).find("release") == std::string::npos);
    BOOST_TEST(log(2).ends_with(", pass_on 2 A A:holdfast:queue " + keys + " 500 "));
}

// Nodes of which one keeps the queue of A. Locker 7 has set the keys.
struct ranked_nodes : inspection_fixture {
    explicit ranked_nodes(bool fenced = false) : inspection_fixture(fenced)
    {
        for (std::size_t i = 0; i < nodes.size(); ++i)
            nodes[i].run_id = "ab" + std::to_string(i);
        const auto rank = [&](const told_node& node) {
            return redis::queue_node_rank(
                redis::hash_of(fenced ? "hf:l:A" : "A"), redis::hash_of(node.run_id));
        };
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (rank(nodes[i]) > rank(nodes[queue_node]))
                queue_node = i;
        }
        for (std::size_t i = 0; i < nodes.size(); ++i)
            tell(i, i == queue_node ? 0 : 1);
    }

    // What the node answers when it is asked to delete.
    void tell(std::size_t node, std::int64_t takes)
    {
        nodes[node].answer = [=, this](const words& w) -> std::string {
            if (w[0] == "clients")
                return list_of({blob(record("7"))});
            if (w[0] == "scan")
                return list_of({blob("0"), number(0), blob("A"), blob("500 " + keys)});
            return w[0] == "view" ? view(1, keys, 500) : number(w[0] == "PUBLISH" ? 1 : takes);
        };
    }
    std::size_t other() const { return (queue_node + 1) % nodes.size(); }
    // Without its copy.
    void forget(std::size_t node)
    {
        nodes[node].answer = [=](const words& w) {
            return w[0] == "view"      ? view(0, "", -2)
                   : w[0] == "clients" ? list_of({blob(record("7"))})
                   : w[0] == "scan"    ? list_of({blob("0"), number(0)})
                                       : number(0);
        };
    }
    // Whether it is certain that locker 7 has the lock.
    bool is_confirmed()
    {
        const auto r = ask<resource_report>(inspection_task::inspect, "A").second;
        BOOST_TEST(r.held);
        BOOST_TEST(r.owner.value().id == 7u);
        const auto all = ask<lock_list>(inspection_task::list, "").second;
        BOOST_TEST(all.locks.at(0).held);
        BOOST_TEST((all.locks[0].owner.value().client_confirmed == r.owner->client_confirmed));
        return r.owner->client_confirmed;
    }

    const std::string keys = token(7);
    std::size_t queue_node = 0;
};
struct ranked_fenced_nodes : ranked_nodes {
    ranked_fenced_nodes() : ranked_nodes(true) {}
};

// It may be given to a client that has begun to wait since. The queue node knows.
BOOST_FIXTURE_TEST_CASE(a_lock_that_nobody_waited_for_may_have_been_given, ranked_nodes)
{
    run();
    const auto [reason, done] = ask<forced_release>(inspection_task::force_release, "A");
    BOOST_TEST((reason == errc{}));
    BOOST_TEST(done.deleted == 0u);
    BOOST_TEST(log(queue_node).find("pass_on") != std::string::npos);
    for (std::size_t i = 0; i < nodes.size(); ++i)
        BOOST_TEST(log(i).find("pass_on") == std::string::npos);
    tell(queue_node, 1);
    BOOST_TEST(ask<forced_release>(inspection_task::force_release, "A").second.deleted == 3u);
}
// Waiters that have waited in vain, or have crashed, are in other queues as well.
BOOST_FIXTURE_TEST_CASE(the_queue_node_is_asked_first_of_two_queues, ranked_nodes)
{
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        nodes[i].answer = [this, i, before = nodes[i].answer](const words& w) {
            words waiters{token(9)};
            if (i != queue_node)
                waiters.push_back(token(8));
            return w[0] == "view" ? view(1, keys, 500, waiters) : before(w);
        };
    }
    run();
    const auto [reason, done] = ask<forced_release>(inspection_task::force_release, "A");
    BOOST_TEST((reason == errc{}));
    BOOST_TEST(done.deleted == 0u);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const std::string all = log(i);
        const bool took =
            all.find("release") != std::string::npos || all.find("pass_on") != std::string::npos;
        BOOST_TEST(took == (i == queue_node));
    }
}

// The message has gone to the holder before.
BOOST_FIXTURE_TEST_CASE(the_holder_of_a_lock_that_was_given_on_is_not_told, ranked_nodes)
{
    run();
    const auto [reason, done] = ask<forced_release>(inspection_task::force_release, "A");
    BOOST_TEST((reason == errc{}));
    BOOST_TEST(log(queue_node).find("PUBLISH") != std::string::npos);
    BOOST_TEST(done.deleted == 0u);
    BOOST_TEST(!done.told);
    BOOST_TEST(!done.owner.value().client_confirmed);
}
BOOST_FIXTURE_TEST_CASE(a_lock_of_fenced_mode_may_have_been_given, ranked_fenced_nodes)
{
    run();
    BOOST_TEST(ask<forced_release>(inspection_task::force_release, "A").second.deleted == 0u);
    log(queue_node);
    for (std::size_t i = 0; i < nodes.size(); ++i)
        BOOST_TEST(log(i).find("pass_on") == std::string::npos);
}

// If the queue node does not say it, the first holder may have given the lock on.
BOOST_FIXTURE_TEST_CASE(a_holder_that_may_have_given_the_lock_on, ranked_nodes)
{
    run();
    BOOST_TEST(is_confirmed());
    forget(other());
    BOOST_TEST(is_confirmed());
    forget(queue_node);
    tell(other(), 1);
    BOOST_TEST(!is_confirmed());
    const auto [reason, done] = ask<forced_release>(inspection_task::force_release, "A");
    BOOST_TEST((reason == errc{}));
    BOOST_TEST(done.deleted == 2u);
    BOOST_TEST(!done.told); // although the first holder has heard it
    BOOST_TEST(!done.owner.value().client_confirmed);
}
BOOST_FIXTURE_TEST_CASE(a_node_that_was_never_reached_may_be_the_queue_node, ranked_nodes)
{
    nodes[other()].up = false;
    begin(inspection_task::inspect, "A");
    pass(2s);
    const auto [reason, r] = result<resource_report>();
    BOOST_TEST((reason == errc{}));
    BOOST_TEST(r.held);
    BOOST_TEST(!r.owner.value().client_confirmed);
}

// A node without the key may have been given it since: not the value that names the holder.
BOOST_AUTO_TEST_CASE(a_node_that_had_no_key)
{
    tell();
    nodes[0].answer = [&](const words& w) -> std::string {
        return w[0] == "view"      ? view(0, "", -2)
               : w[0] == "clients" ? list_of({blob("")})
                                   : number(0);
    };
    const auto [reason, done] = ask<forced_release>(inspection_task::force_release, "A");
    BOOST_TEST((reason == errc{}));
    BOOST_TEST(done.deleted == 2u);
    BOOST_TEST(log(0).ends_with("pass_on 2 A A:holdfast:queue " + keys + " 500 "));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
