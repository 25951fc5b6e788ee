// What people are told about a lock that was given on as it was, and how it is taken away.
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
