// What errors say about their cause, on real nodes; and calls that fail fast.
#include "support/call.hpp"
#include "support/cluster.hpp"

#include <algorithm>
#include <string>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(explanations)

bool contains(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

std::string address_of(const redis_server& node)
{
    return "127.0.0.1:" + std::to_string(node.port());
}

task do_nothing(lease&)
{
    co_return;
}

task wait_until_connected(holdfast::locker& l, std::size_t count)
{
    for (;;) {
        const auto nodes = l.stats().nodes;
        const auto connected = [](const node_stats& node) {
            return node.connected;
        };
        if (static_cast<std::size_t>(std::count_if(nodes.begin(), nodes.end(), connected)) == count)
            co_return;
        co_await pause(1ms);
    }
}

asio::awaitable<std::string> what_of_hold(holdfast::lock lock, errc expected)
{
    std::string what;
    try {
        co_await lock.hold(do_nothing);
    } catch (const boost::system::system_error& e) {
        BOOST_TEST(e.code() == expected);
        what = e.what();
    }
    co_return what;
}

task hold_without_nodes(scene& s, cluster& c)
{
    co_await wait_until_connected(s.locker(), 3);
    c.nodes[0].kill();
    c.nodes[2].kill();
    lock_options options;
    options.wait = 200ms;
    const std::string what = co_await what_of_hold(s.lock(0, options), errc::unreachable);
    BOOST_TEST(what.starts_with(s.resource + ": "), what);
    BOOST_TEST(contains(what, address_of(c.nodes[0]) + ": "), what);
    BOOST_TEST(contains(what, address_of(c.nodes[2]) + ": "), what);
    BOOST_TEST(!contains(what, address_of(c.nodes[1])), what);
    BOOST_TEST(contains(what, error_code(errc::unreachable).message()), what);
}

BOOST_AUTO_TEST_CASE(an_exception_of_hold_names_the_nodes_in_trouble)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return hold_without_nodes(s, c); });
}

// The key of a SET by hand, without PX. With a queue and without one.
task hold_beside_a_key_without_a_ttl(scene& s, cluster& c)
{
    co_await wait_until_connected(s.locker(), 3);
    c.command({"SET", s.resource, "by hand"});
    lock_options options;
    options.wait = 2s;
    const std::string what = co_await what_of_hold(s.lock(0, options), errc::contended);
    BOOST_TEST(contains(what, "the key " + s.resource + " was found without a ttl"), what);
    BOOST_TEST(contains(describe_nodes(s.locker().stats()), "without a ttl"));
    c.command({"DEL", s.resource});
    lease held = co_await s.lock(0).acquire();
    BOOST_TEST(held.held());
    co_await held.release();
    const bool forgotten = !contains(describe_nodes(s.locker().stats()), "without a ttl");
    BOOST_TEST(forgotten);
}

BOOST_AUTO_TEST_CASE(a_key_without_a_ttl_is_named)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return hold_beside_a_key_without_a_ttl(s, c); });
}

BOOST_AUTO_TEST_CASE(a_node_that_evicts_keys_is_named_as_such)
{
    cluster c(3, {"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"});
    play(c.store(), 1, [](scene& s) -> task {
        const std::string what = co_await what_of_hold(s.lock(0), errc::misconfigured_node);
        BOOST_TEST(contains(what, "maxmemory-policy allkeys-lru"), what);
    });
}

task fail_fast_and_recover(scene& s, cluster& c)
{
    lock_options options;
    options.fail_fast = true;
    options.wait = forever;
    lease held = co_await s.lock(0, options).acquire(); // the first connect is waited for
    call<lease> waiting;
    s.lock(0, options).acquire(waiting.token());
    c.nodes[0].kill();
    c.nodes[1].kill();
    while (!waiting.done())
        co_await pause(1ms);
    BOOST_TEST(waiting.error() == errc::unreachable);
    auto [refused, none] = co_await s.lock(0, options).acquire(no_throw);
    BOOST_TEST(refused == errc::unreachable);
    held = lease();
    auto [once, nothing] = co_await s.lock(0, options).try_acquire(no_throw);
    BOOST_TEST(once == errc::unreachable); // by its own attempt
    c.nodes[0].restart();
    co_await wait_until_connected(s.locker(), 2);
    lease again = co_await holdfast::lock(s.locker(), unique_name(), options).acquire();
    BOOST_TEST(again.held());
}

BOOST_AUTO_TEST_CASE(calls_fail_fast_without_a_majority)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return fail_fast_and_recover(s, c); });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
