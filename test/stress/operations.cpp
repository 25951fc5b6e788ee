// Random operations and cancellations from many threads: each operation completes once, where it
// should, for a reason that there was, and nobody is inside a resource beside somebody else.
// HOLDFAST_STRESS_OPERATIONS says how many there are.
#include "stress/crowd.hpp"
#include "stress/echo_store.hpp"

#include "support/cluster.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(random_operations)

BOOST_AUTO_TEST_CASE(in_memory)
{
    run_crowd(memory(), {.operations = operations_wanted(40'000)});
}

// A tenth of them: here each goes over sockets.
BOOST_AUTO_TEST_CASE(on_real_nodes)
{
    const cluster nodes(3);
    run_crowd(nodes.store(2s), {.operations = operations_wanted(40'000) / 10,
                                   .may_fail = {errc::unreachable, errc::too_late}});
}

// The streams break all the time, and no store keeps the lockers from each other.
BOOST_AUTO_TEST_CASE(on_streams_that_break)
{
    echo_server server;
    run_crowd(echo_store(server.port()), {.operations = operations_wanted(40'000) / 10,
                                             .exclusive = false,
                                             .may_fail = {errc::unreachable}});
    BOOST_TEST(server.connections() > 1u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
