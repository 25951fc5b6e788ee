// Workers that give their leases to each other as they are.
#include "integration/scenarios.hpp"

#include <set>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(baton_workers)

// Waits until so many more leases have been given. The key at the queue node names the new holder.
void wait_for_given_leases(contended_cluster& all, std::size_t count)
{
    constexpr std::size_t two_tokens = 64;
    std::set<std::string> seen;
    all.workers.wait_until("given leases", [&] {
        for (auto& node : all.nodes->nodes) {
            const std::string value = node.command({"GET", "short"});
            if (value.size() > two_tokens)
                seen.insert(value);
        }
        return seen.size() >= count;
    });
}

BOOST_FIXTURE_TEST_CASE(workers_that_give_their_leases_exclude_each_other, contended_cluster)
{
    start();
    wait_for_given_leases(*this, 20);
    for (worker& each : workers.workers) {
        if (each.resource() != "short")
            continue;
        each.freeze();
        wait_for_given_leases(*this, 5);
        each.thaw();
    }
    workers.workers.back().kill();
    wait_for_given_leases(*this, 20);
    finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
