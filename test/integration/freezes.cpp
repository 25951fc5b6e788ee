// Workers that are stopped (SIGSTOP) and continue later, as in a debugger or on a machine that is
// out of memory. Frozen nodes are tested in server_states.cpp.
#include "integration/scenarios.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(freezes)

BOOST_FIXTURE_TEST_CASE(a_frozen_holder_is_succeeded_when_its_lease_has_ended, contended_cluster)
{
    start();
    worker& holder = workers.wait_for_holder();
    holder.freeze();
    const auto last = holder.read().holds.back();
    worker& next = workers.wait_for_holder("long", &holder);
    BOOST_TEST((next.read().holds.back().from >= last.valid_until));

    const auto thawed = steady::now();
    holder.thaw();
    const auto end = workers.wait_for_end(holder);
    BOOST_TEST((*end.over > thawed));
    BOOST_TEST((end.why == "lost" || end.why == "expired"));
    BOOST_TEST((end.valid_until == last.valid_until)); // it never assumed a longer validity
    BOOST_TEST(holder.read().numbers.empty());         // it did not write
    workers.wait_for_renewals(
        next, 3 * job{}.ttl / 2); // it did not touch the key of the next holder
    finish();
}

BOOST_FIXTURE_TEST_CASE(a_freeze_much_shorter_than_the_ttl_does_not_matter, contended_cluster)
{
    const auto ttl = 3s;
    start({}, long_job(ttl));
    worker& holder = workers.wait_for_holder();
    for (int i = 0; i < 5; ++i) {
        holder.freeze();
        std::this_thread::sleep_for(ttl / 20);
        holder.thaw();
        workers.wait_for_holds(1);
    }
    workers.wait_for_renewals(holder, ttl);
    workers.finish();
    expect_nothing_left(*nodes);
}

BOOST_FIXTURE_TEST_CASE(workers_frozen_at_any_moment_never_hold_the_same_lock, contended_cluster)
{
    start();
    workers.wait_for_holds(5);
    for (std::size_t i = 0; i < 6; ++i) {
        worker& frozen = workers.workers.at(i % workers.workers.size());
        frozen.freeze();
        wait_for_a_ttl_since(steady::now());
        workers.wait_for_holds(1);
        frozen.thaw();
        workers.wait_for_holds(1);
    }
    finish();
}

BOOST_FIXTURE_TEST_CASE(work_goes_on_after_all_workers_were_frozen, contended_cluster)
{
    start();
    workers.wait_for_holds(5);
    for (auto& each : workers.workers)
        each.freeze();
    wait_for_a_ttl_since(steady::now());
    for (auto& each : workers.workers)
        each.thaw();
    workers.wait_for_holds(5);
    workers.wait_for_holder();
    finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
