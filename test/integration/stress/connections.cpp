// Connections whose purpose ends before they are open.
#include "integration/stress/echo_store.hpp"

#include "support/run.hpp"
#include "support/temporary_folder.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/local/stream_protocol.hpp>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(connections)

// connect() on a unix socket succeeds at once, so the locker's turn queues its completion. The call
// comes before that completion, and its own turn after it.
BOOST_AUTO_TEST_CASE(a_connection_completed_after_close_is_not_reported_as_open)
{
    const temporary_folder folder("stress");
    const core::address server{.host = {}, .path = folder.path() + "/socket"};
    asio::io_context io;
    asio::local::stream_protocol::acceptor acceptor(
        io, asio::local::stream_protocol::endpoint(server.path));
    locker locks(io.get_executor(), echo_store(server));
    BOOST_TEST_REQUIRE(io.poll_one() == 1u);
    bool closed = false;
    locks.close([&](error_code ec) { closed = !ec; });
    BOOST_CHECK_NO_THROW(io.run());
    BOOST_TEST(closed);
    acceptor.non_blocking(true);
    BOOST_CHECK_NO_THROW(acceptor.accept()); // the locker had connected
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
