// Random operations and cancellations from many threads. Each operation completes once, on the
// right executor, with a plausible result, and no two holders use one resource at the same time.
// HOLDFAST_STRESS_OPERATIONS sets the number of operations.
#include "integration/stress/crowd.hpp"
#include "integration/stress/echo_store.hpp"

#include "support/cluster.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(random_operations)

BOOST_AUTO_TEST_CASE(in_memory)
{
    run_crowd(memory(), {.operations = operations_wanted(40'000)});
}

// A tenth of the operations, since each one uses sockets.
BOOST_AUTO_TEST_CASE(on_real_nodes)
{
    const cluster nodes(3);
    run_crowd(nodes.store(2s), {.operations = operations_wanted(40'000) / 10,
                                   .may_fail = {errc::unreachable, errc::too_late,
                                       errc::overloaded}}); // on a busy machine
}

// The streams break often, and the store does not exclude the lockers from each other.
BOOST_AUTO_TEST_CASE(on_streams_that_break)
{
    echo_server server;
    run_crowd(echo_store(server.address()),
        {.operations = operations_wanted(40'000) / 10,
            .exclusive = false,
            .may_fail = {errc::unreachable, errc::overloaded}}); // as above
    BOOST_TEST(server.connections() > 1u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
