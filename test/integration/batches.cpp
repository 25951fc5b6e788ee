// A batcher whose lock fails fast, on real nodes.
#include "contract/doubler.hpp"
#include "support/cluster.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(batches_on_nodes)

task wait_until_connected(holdfast::locker& l, std::size_t count)
{
    for (;;) {
        std::size_t connected = 0;
        for (const auto& node : l.stats().nodes)
            connected += node.connected ? 1 : 0;
        if (connected == count)
            co_return;
        co_await pause(1ms);
    }
}

task fail_fast_and_recover(scene& s, cluster& c)
{
    lock_options options;
    options.fail_fast = true;
    options.wait = forever;
    lease held = co_await s.lock(0, options).acquire();
    diary d;
    doubler numbers_of(s.lock(0, options), doubling(d));
    std::vector<submitted> waiting(3);
    for (auto& each : waiting)
        numbers_of.submit(1, each.token());
    while (s.locker().stats().waiting != 1)
        co_await pause(1ms);
    c.nodes[0].kill();
    c.nodes[1].kill();
    co_await until_all_done(waiting);
    for (auto& each : waiting)
        BOOST_TEST(each.error() == errc::unreachable);
    const auto [ec, none] = co_await numbers_of.submit(1, no_throw); // at once
    BOOST_TEST(ec == errc::unreachable);
    BOOST_TEST(d.batches.empty());

    held = lease();
    c.nodes[0].restart();
    co_await wait_until_connected(s.locker(), 2);
    doubler after(holdfast::lock(s.locker(), unique_name(), options), doubling(d));
    const auto [good, reply] = co_await after.submit(2, no_throw);
    BOOST_TEST(!good, good.message());
    BOOST_TEST(reply == 4);
}

BOOST_AUTO_TEST_CASE(requests_fail_fast_without_a_majority)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return fail_fast_and_recover(s, c); });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
