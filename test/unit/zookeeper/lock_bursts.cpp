#include "unit/zookeeper/world.hpp"

#include <algorithm>

namespace holdfast::test {
namespace {

using core::event_kind;
using std::chrono::milliseconds;

BOOST_AUTO_TEST_SUITE(zookeeper_lock_bursts)

std::vector<core::claim_id> grant_many(zk_world& w, std::size_t many)
{
    std::vector<core::claim_id> all;
    for (std::size_t i = 0; i < many; ++i)
        all.push_back(w.ask(i, "r" + std::to_string(i)));
    w.serve();
    BOOST_TEST(w.take_events().size() == many);
    return all;
}

// Otherwise a heartbeat would wait behind all of them, and the other leases would end.
BOOST_AUTO_TEST_CASE(a_burst_of_releases_keeps_other_requests_waiting_behind_few)
{
    constexpr std::size_t many = 5'000;
    zk_world w;
    const auto all = grant_many(w, many);
    w.silent = true;
    for (const core::claim_id id : all)
        w.core.release(id, w.now);
    w.settle();
    const auto& requests = w.link().requests;
    const auto removals = std::count_if(requests.begin(), requests.end(),
        [](const wire::request& each) { return each.what == wire::operation::remove; });
    BOOST_TEST(removals == zk::removals::most_under_way);
    w.silent = false;
    w.serve();
    std::size_t released = 0;
    for (const auto& e : w.take_events())
        released += e.outcome == release_outcome::released ? 1 : 0;
    BOOST_TEST(released == many);
    BOOST_TEST(w.core.cleanup().is_done());
}

// It answers one request after another. Only a pause between two answers is silence.
BOOST_AUTO_TEST_CASE(a_server_that_needs_long_for_a_burst_is_not_silent)
{
    zk_world w;
    const auto all = grant_many(w, 50);
    w.silent = true;
    for (const core::claim_id id : all)
        w.core.release(id, w.now);
    w.settle();
    for (int i = 0; i < 50; ++i) { // 15 s in all; a server may be silent for 1.5 s
        w.now += milliseconds(300);
        w.link().execute();
        w.link().deliver(w.now);
        w.settle();
    }
    BOOST_TEST(w.core.nodes().stats()[0].timeouts == 0u);
    w.silent = false;
    w.serve();
    BOOST_TEST(w.core.cleanup().is_done());
}

// The locker closes connections when this number has not fallen for a while.
BOOST_AUTO_TEST_CASE(winding_up_tells_how_much_is_left)
{
    zk_world w;
    const auto all = grant_many(w, 20);
    w.silent = true;
    for (const core::claim_id id : all)
        w.core.release(id, w.now);
    w.core.cleanup().wind_up(w.now);
    w.settle();
    std::size_t left = w.core.cleanup().under_way();
    BOOST_TEST(left == 21u); // and the session
    while (!w.link().requests.empty() && left != 1) {
        w.link().execute();
        w.link().deliver(w.now);
        w.settle();
        BOOST_TEST(w.core.cleanup().under_way() <= left);
        left = w.core.cleanup().under_way();
    }
    BOOST_TEST(left == 1u);
    w.silent = false;
    w.serve();
    BOOST_TEST(w.core.cleanup().is_done());
    BOOST_TEST(w.data.sessions.empty());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
