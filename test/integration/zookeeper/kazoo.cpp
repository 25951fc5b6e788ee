// kazoo, the usual client for Python, and holdfast on the same locks.
#include "integration/zookeeper/store.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(zookeeper_kazoo)

BOOST_AUTO_TEST_CASE(kazoo_is_excluded_and_excludes)
{
    const zookeeper_servers servers;
    scene s(store_in(servers), 2);
    run(s.io, [](scene& all, const zookeeper_servers& in) -> task {
        const auto wait_for_nodes = [&](std::size_t count) -> task {
            while (nodes_of(in, all.resource).size() < count)
                co_await pause(10ms);
        };
        lease held = co_await all.lock(0).acquire();
        const auto token = held.fence();
        child_process other(
            {HOLDFAST_PYTHON, HOLDFAST_KAZOO_LOCK, in.hosts(), "/holdfast/" + all.resource},
            child_options{.piped = child_options::pipes::input_and_output});
        BOOST_TEST(other.read_line() == "waits");
        co_await wait_for_nodes(2);
        call<lease> third;
        all.lock(1).acquire(forever, third.token());
        co_await wait_for_nodes(3);
        co_await pause(200ms);
        BOOST_TEST(!third.done());
        BOOST_TEST(held.held());
        co_await held.release();
        BOOST_TEST(other.read_line() == "held");
        lease refused = co_await all.lock(0).try_acquire();
        BOOST_TEST(!refused);
        BOOST_TEST(!third.done());
        other.write_line("release");
        while (!third.done())
            co_await pause(1ms);
        BOOST_TEST(!third.error(), third.error().message());
        BOOST_TEST((third.result<lease>().fence() > token));
        BOOST_TEST(other.wait() == 0);
    }(s, servers));
    s.finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
