// The keys on the nodes: their owners, and changes by other programs.
#include "support/cluster.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(keys)

task lose_to_a_thief(scene& s, cluster& c)
{
    lease held = co_await s.lock(0).acquire();
    BOOST_TEST(c.copies(s.resource) >= c.majority());
    c.command({"SET", s.resource, "thief"});
    auto [ec, outcome] = co_await held.release(no_throw);
    BOOST_TEST(!ec, ec.message());
    BOOST_TEST(outcome == release_outcome::expired);
    for (auto& node : c.nodes)
        BOOST_TEST(node.command({"GET", s.resource}) == "thief");
}

BOOST_AUTO_TEST_CASE(a_release_does_not_delete_the_key_of_another_client)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return lose_to_a_thief(s, c); });
}

task drop_beside_a_thief(scene& s, cluster& c)
{
    lease held = co_await s.lock(0).acquire();
    c.command({"SET", s.resource, "thief"});
    held = lease();
}

BOOST_AUTO_TEST_CASE(the_destructor_does_not_delete_the_key_of_another_client)
{
    cluster c(3);
    scene s(c.store());
    run(s.io, drop_beside_a_thief(s, c));
    s.finish();
    BOOST_TEST(c.copies(s.resource) == 3u);
}

// Before that, `try_acquire()` may fail with `errc::unreachable`.
task connect_all(holdfast::locker& locker)
{
    const auto connected = [](const node_stats& node) {
        return node.connected;
    };
    for (const auto end = steady::now() + 10s; steady::now() < end;) {
        const auto nodes = locker.stats().nodes;
        if (std::all_of(nodes.begin(), nodes.end(), connected))
            co_return;
        co_await pause(1ms);
    }
    BOOST_FAIL("a node did not connect");
}

task meet_a_foreign_client(scene& s, cluster& c)
{
    co_await connect_all(s.locker());
    const std::vector<std::string> theirs{"SET", s.resource, "foreign", "NX", "PX", "3000"};
    const auto set = steady::now();
    c.command(theirs, 2);
    lease none = co_await s.lock(0).try_acquire();
    BOOST_TEST(!none);
    const bool given_back = co_await c.have_copies(s.resource, 2, 2s);
    BOOST_TEST(given_back); // the grant of the third node

    lease ours = co_await s.lock(0).acquire();
    BOOST_TEST((steady::now() > set + 2950ms)); // the other client had it for its ttl
    BOOST_TEST((steady::now() < set + 8s));
    const auto refuses_them = [&](auto& node) {
        return node.command(theirs) == "(nil)";
    };
    const auto refusals = std::count_if(c.nodes.begin(), c.nodes.end(), refuses_them);
    BOOST_TEST(refusals >= 2); // a majority
    co_await ours.release();
    const bool gone_everywhere = co_await c.have_copies(s.resource, 0, 5s);
    BOOST_TEST(gone_everywhere);
    BOOST_TEST(!refuses_them(c.nodes[0]));
}

BOOST_AUTO_TEST_CASE(foreign_redlock_clients_exclude_us_and_we_exclude_them)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return meet_a_foreign_client(s, c); });
}

// The first holder keeps the resource until the second one waits in the queue.
task contend(scene& s, cluster& c, std::string queue)
{
    holdfast::lock first_lock = s.lock(0), second_lock = s.lock(1);
    lease first = co_await first_lock.acquire();
    co_await first.extend();
    std::optional<error_code> result;
    lease second;
    second_lock.acquire(30s, [&](error_code ec, lease granted) {
        result = ec;
        second = std::move(granted);
    });
    for (const auto end = steady::now() + 20s; c.copies(queue) == 0 && steady::now() < end;)
        co_await pause(2ms);
    BOOST_TEST(c.copies(queue) != 0u, describe_nodes(s.locker(1).stats()));
    const release_outcome outcome = co_await first.release();
    BOOST_TEST(outcome == release_outcome::released);
    while (!result)
        co_await pause(2ms);
    BOOST_TEST(!*result, result->message());
    BOOST_TEST(second.held());
}

// The user of the nodes may use no other keys than those with the prefix, and asks for no other.
void use_prefix(fencing mode, const std::string& queue_begin, const std::string& queue_end)
{
    cluster c(3);
    c.command({"ACL", "SETUSER", "worker", "on", ">secret", "~shop:*", "&holdfast:*", "+@all"});
    redlock_options options;
    options.key_prefix = "shop:";
    options.fencing = mode;
    options.fence.first_deployment = true;
    options.credentials = [](const endpoint&) {
        return credentials{.user = "worker", .password = "secret"};
    };
    play(c.store(500ms, options), 2,
        [&](scene& s) { return contend(s, c, queue_begin + s.resource + queue_end); });
    for (auto& node : c.nodes)
        BOOST_TEST(node.command({"ACL", "LOG"}) == "");
}

BOOST_AUTO_TEST_CASE(every_key_has_the_prefix)
{
    use_prefix(fencing::off, "shop:", ":holdfast:queue");
    use_prefix(fencing::on, "shop:hf:q:", "");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
