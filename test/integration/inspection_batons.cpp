// Who holds a lease that was given on as it was, and how it is taken away: real servers.
#include "support/call.hpp"
#include "support/cluster.hpp"

#include <algorithm>
#include <array>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(inspection)

lock_options slow()
{
    lock_options options;
    options.ttl = 30s;
    return options;
}

// How many nodes have a value that names the client to which the lease was given as it was.
std::size_t given(cluster& c, const std::string& resource)
{
    return static_cast<std::size_t>(
        std::count_if(c.nodes.begin(), c.nodes.end(), [&](redis_server& node) {
            return std::stoi(node.command({"STRLEN", resource})) > 65;
        }));
}

task await_queue(holdfast::locker& looking, const std::string& resource)
{
    for (bool queued = false; !queued;) {
        const resource_report r = co_await looking.inspect(resource, asio::use_awaitable);
        queued = r.queue.has_value();
    }
}

// The first two lockers take turns until one has given its lease to the other. A turn may be left
// to clients that poll, so it is not always the second one.
task give_a_lease(scene& s, cluster& c, std::array<lease, 2>& held, std::size_t& holder)
{
    held[0] = co_await s.lock(0, slow()).acquire();
    for (std::size_t turn = 0; given(c, s.resource) == 0; ++turn) {
        BOOST_REQUIRE(turn < 20u);
        call<lease> waiting;
        s.lock(1 - holder, slow()).acquire(30s, waiting.token());
        co_await await_queue(s.locker(2), s.resource);
        co_await held[holder].release();
        while (!waiting.done())
            co_await pause(1ms);
        BOOST_REQUIRE(!waiting.error());
        holder = 1 - holder;
        held[holder] = std::move(waiting.result<lease>());
    }
}

task take_a_given_lease(scene& s, cluster& c)
{
    std::array<std::uint32_t, 2> ids{};
    for (std::size_t i = 0; i < 2; ++i) {
        lease ordinary = co_await s.lock(i, slow()).acquire();
        const auto r = co_await s.locker(2).inspect(s.resource, asio::use_awaitable);
        ids.at(i) = r.owner.value().id;
        co_await ordinary.release();
    }
    std::array<lease, 2> held;
    std::size_t holder = 0;
    co_await give_a_lease(s, c, held, holder);
    BOOST_TEST(given(c, s.resource) == 1u);

    const resource_report r = co_await s.locker(2).inspect(s.resource, asio::use_awaitable);
    BOOST_TEST(r.held);
    BOOST_TEST(r.having == 3u);
    BOOST_TEST(r.owner.value().id == ids.at(holder));
    BOOST_TEST(r.owner->client.has_value());
    for (const node_report& each : r.nodes)
        BOOST_TEST((each.key == key_state::owner));
    const lock_list all = co_await s.locker(2).list(s.resource, asio::use_awaitable);
    BOOST_REQUIRE(all.locks.size() == 1u);
    BOOST_TEST(all.locks[0].having == 3u);
    BOOST_TEST(all.locks[0].owner.value().id == ids.at(holder));

    // The one that had set the keys has given the lease away: it only waits for its next turn.
    call<lease> waiting;
    s.lock(1 - holder, slow()).acquire(30s, waiting.token());
    co_await await_queue(s.locker(2), s.resource);
    const auto taken = steady::now();
    const forced_release done = co_await s.locker(2).force_release(s.resource, asio::use_awaitable);
    BOOST_TEST(done.told);
    BOOST_TEST(done.deleted >= 1u);
    BOOST_TEST(done.owner.value().id == ids.at(holder));
    while (held.at(holder).held() || !waiting.done())
        co_await pause(1ms);
    BOOST_TEST((steady::now() - taken < 5s)); // a renewal would be due in 10 s
    BOOST_TEST(!waiting.error(), waiting.error().message());
    BOOST_TEST(given(c, s.resource) == 0u);
    co_await waiting.result<lease>().release();

    // Nobody waits: nothing is left.
    co_await give_a_lease(s, c, held, holder = 0);
    co_await s.locker(2).force_release(s.resource, asio::use_awaitable);
    while (held.at(holder).held())
        co_await pause(1ms);
    const bool gone = co_await c.have_copies(s.resource, 0, 5s);
    BOOST_TEST(gone);
}

BOOST_AUTO_TEST_CASE(a_lease_that_was_given_is_shown_and_taken)
{
    cluster c(3);
    play(c.store(), 3, [&](scene& s) { return take_a_given_lease(s, c); });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
