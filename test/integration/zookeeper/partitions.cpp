// A server that is cut off from its leader goes on answering pings of its clients, while the leader
// ends their sessions. Holdfast does not believe it.
#include "integration/zookeeper/store.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(zookeeper_partitions)

constexpr auto session_time = 6s; // the machine is busy: it runs three servers

struct cut {
    steady::time_point at{}, node_gone{}, pinged_last{}, valid_until{};
};

// One holder over a follower alone. Pings of another client go to the same server.
cut cut_off_a_follower(steady::duration life)
{
    // The server that is cut off serves for 14 s, longer than the session lasts.
    zookeeper_servers servers(
        {.servers = 3, .tick_ms = 500, .sync_ticks = 28, .can_be_isolated = true});
    const std::size_t leader = servers.leader(), follower = (leader + 1) % 3;
    zookeeper_client observer(servers.port(leader));
    scene s(zookeeper("zookeeper://127.0.0.1:" + std::to_string(servers.port(follower)),
        {.session_timeout = session_time, .reconnect_max = 100ms}));
    cut found;
    run(s.io,
        [](scene& all, zookeeper_servers& in, zookeeper_client& other, std::size_t which,
            steady::duration before, cut& to) -> task {
            lease held = co_await all.lock(0, lasting(session_time)).acquire();
            zookeeper_client pinger(in.port(which));
            co_await pause(before);
            BOOST_TEST(held.held());
            in.isolate(which);
            to.at = steady::now();
            const std::string folder = "/holdfast/" + all.resource;
            while (held.held() || to.node_gone == steady::time_point()) {
                if (held.held())
                    to.valid_until = held.valid_until();
                if (to.node_gone == steady::time_point() && other.children(folder).empty())
                    to.node_gone = steady::now();
                else if (to.node_gone == steady::time_point() && in.mode(which) == "follower")
                    to.pinged_last = steady::now(); // it still serves
                co_await pause(5ms);
            }
            in.reconnect(which);
        }(s, servers, observer, follower, life, found));
    s.finish();
    return found;
}

BOOST_AUTO_TEST_CASE(a_lease_ends_before_the_leader_ends_the_session)
{
    for (const auto life : {0ms, 1700ms, 4300ms}) {
        const cut found = cut_off_a_follower(life);
        BOOST_TEST((found.valid_until < found.node_gone));
        // The follower would have answered pings beyond the end of the lease: without that, the
        // test shows nothing.
        BOOST_TEST((found.pinged_last > found.at + 1s));
        const auto ms = [&](steady::time_point t) {
            return std::chrono::duration_cast<std::chrono::milliseconds>(t - found.at).count();
        };
        BOOST_TEST_MESSAGE("after the cut: valid until "
                           << ms(found.valid_until) << " ms, the node is gone at "
                           << ms(found.node_gone) << " ms, the server served until "
                           << ms(found.pinged_last) << " ms");
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
