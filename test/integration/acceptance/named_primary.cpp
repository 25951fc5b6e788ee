// A primary whose host name comes from a sentinel, and changes.
#include "integration/acceptance/acceptance.hpp"
#include "integration/acceptance/scripted_node.hpp"
#include "support/name_service.hpp"

#include <atomic>
#include <string>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(named_primary)

std::string named(const std::string& host, unsigned port)
{
    const std::string digits = std::to_string(port);
    return "*2\r\n$" + std::to_string(host.size()) + "\r\n" + host + "\r\n$" +
           std::to_string(digits.size()) + "\r\n" + digits + "\r\n";
}

sentinel_options quick_sentinel_options()
{
    sentinel_options options;
    options.primary = quick_options();
    return options;
}

// The look-up of the first name is never answered. The second name does not wait for it.
BOOST_AUTO_TEST_CASE(a_new_name_while_the_old_one_is_looked_up)
{
    const silent_name_service silent;
    const named_addresses name("primary.holdfast.invalid", {"127.0.0.1"});
    redis_server node;
    std::atomic<int> asked = 0;
    const scripted_node sentinel([&](const scripted_node::words&) {
        return named(++asked == 1 ? "old.silent.invalid" : "primary.holdfast.invalid", node.port());
    });
    play(redis_sentinel({sentinel.url()}, "mymaster", quick_sentinel_options()), 1,
        [&](scene& s) { return acquire_and_release(s.lock(0)); });
    BOOST_TEST(silent.asked() == 1);
    BOOST_TEST(asked >= 2);
}

// Each answer names another host, or is no answer at all: every connection asks again, and no
// answer is used twice.
BOOST_AUTO_TEST_CASE(a_sentinel_that_is_often_wrong)
{
    redis_server node;
    std::atomic<int> asked = 0;
    const scripted_node sentinel([&](const scripted_node::words&) -> std::string {
        switch (++asked) {
        case 1:
            return "*2\r\n$99999999999\r\n";
        case 2:
            return "-ERR busy\r\n";
        case 3:
            return named("user:password@127.0.0.1", node.port());
        case 4:
            return named("nowhere.holdfast.invalid", node.port());
        case 5:
            return named("127.0.0.1", 1);
        default:
            return named("127.0.0.1", node.port());
        }
    });
    play(redis_sentinel({sentinel.url()}, "mymaster", quick_sentinel_options()), 1,
        [&](scene& s) -> task {
            const auto works = [&] {
                return s.locker().stats().nodes[0].connected;
            };
            const bool connected = co_await becomes_true(works);
            BOOST_TEST(connected, describe_nodes(s.locker().stats()));
            co_await acquire_and_release(s.lock(0));
        });
    BOOST_TEST(asked == 6);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
