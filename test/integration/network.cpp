// Network faults, caused by a proxy in front of each node: on a minority, on a majority and on all
// nodes, while processes contend.
#include "integration/scenarios.hpp"
#include "support/fault_proxy.hpp"

#include <boost/test/data/test_case.hpp>

#include <ostream>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(network)

struct proxied_cluster : contended_cluster {
    proxied_cluster()
    {
        nodes.emplace(3);
        for (auto& node : nodes->nodes)
            addresses.push_back(proxies.emplace_back(node.port()).url());
    }

    std::function<void()> set(std::size_t count, const link_faults& faults)
    {
        return [=, this] {
            for (std::size_t i = 0; i < count; ++i)
                proxies[i].set(faults);
        };
    }

    std::function<void()> each(std::size_t count, void (fault_proxy::*what)())
    {
        return [=, this] {
            for (std::size_t i = 0; i < count; ++i)
                (proxies[i].*what)();
        };
    }

    std::deque<fault_proxy> proxies;
    std::vector<std::string> addresses;
};

struct behind_proxies : proxied_cluster {
    behind_proxies() { workers.add_both_kinds(*nodes, addresses); }
};

struct fault {
    const char* name;
    link_faults faults;
    bool cuts;    // resets the open connections at the beginning
    errc failure; // of waiters while a majority has the fault
    friend std::ostream& operator<<(std::ostream& out, const fault& f) { return out << f.name; }
};

// Each of these makes a node useless.
const std::vector<fault> all_faults{
    {"no request arrives", {.to_server = {.held = true}}, false, errc::unreachable},
    {"no reply arrives", {.to_client = {.held = true}}, false, errc::unreachable},
    {"requests are lost", {.to_server = {.lost = true}}, false, errc::unreachable},
    {"replies are lost", {.to_client = {.lost = true}}, false, errc::unreachable},
    {"replies come too late", {.to_client = {.delay = 3s}}, false, errc::unreachable},
    {"connections are refused", {.new_connections = newcomers::refused}, true, errc::unreachable},
    {"new connections are ignored", {.new_connections = newcomers::ignored}, true,
        errc::unreachable},
    {"cut in every reply", {.to_client = {.reset_after = 2}}, false, errc::unreachable},
    {"cut before every reply", {.to_client = {.reset_after = 0}}, false, errc::unreachable},
    {"one byte in 100 ms", {.to_client = {.bytes_per_second = 10}}, false, errc::unreachable},
    {"wrong replies", {.to_client = {.instead = "$-7\r\n"}}, false, errc::protocol_error},
    {"errors for replies", {.to_client = {.instead = "-ERR no\r\n"}}, false, errc::unreachable},
};

BOOST_DATA_TEST_CASE_F(behind_proxies, a_minority_does_not_matter, all_faults, one)
{
    const auto begin = [&] {
        set(1, one.faults)();
        if (one.cuts)
            each(1, &fault_proxy::reset)();
    };
    expect_no_harm(workers, {begin, set(1, {})});
    finish();
}

BOOST_DATA_TEST_CASE_F(behind_proxies, a_majority_ends_leases_in_time_and_recovers, all_faults, one)
{
    const auto begin = [&] {
        set(2, one.faults)();
        if (one.cuts)
            each(2, &fault_proxy::reset)();
    };
    expect_standstill(workers, {begin, set(2, {})}, one.failure);
    finish();
}

// Each of these makes all nodes slow, but usable.
const std::vector<fault> slow{
    {"40 ms late", {.to_server = {.delay = 20ms}, .to_client = {.delay = 20ms}}, false, {}},
    {"5 kB a second", {.to_client = {.bytes_per_second = 5000}}, false, {}},
};

BOOST_DATA_TEST_CASE_F(behind_proxies, slow_nodes_are_used, slow, one)
{
    expect_no_harm(workers, {set(3, one.faults), set(3, {})});
    finish();
}

// Nodes renew the lease when they get the request. If the holder counted the validity from the late
// reply, it would still rely on the lease when the next holder has it.
BOOST_FIXTURE_TEST_CASE(a_lease_counts_from_the_request_and_not_from_a_late_reply, proxied_cluster)
{
    const auto ttl = 3s;
    constexpr auto late = 1200ms; // longer than the guard, shorter than the time for a renewal
    job attentive = long_job(ttl);
    attentive.guard = 300ms;
    workers.add(attentive, addresses);
    worker& holder = workers.wait_for_holder();
    workers.add(long_job(ttl), urls(nodes->nodes)); // not through the proxies

    set(3, {.to_client = {.delay = late}})();
    workers.wait_for_renewals(holder, ttl);
    set(3, {.to_server = {.held = true}, .to_client = {.delay = late}})();
    const auto end = workers.wait_for_end(holder);
    BOOST_TEST(end.why == "lost");
    worker& next = workers.wait_for_holder("long", &holder);
    BOOST_TEST((next.read().holds.back().from >= end.valid_until));
    set(3, {})();
    workers.finish();
    expect_nothing_left(*nodes);
}

BOOST_FIXTURE_TEST_CASE(resets_of_all_connections_do_not_matter, behind_proxies)
{
    const auto reset = each(3, &fault_proxy::reset);
    expect_no_harm(workers, {reset, reset, reset});
    finish();
}

BOOST_FIXTURE_TEST_CASE(closing_all_connections_does_not_matter, behind_proxies)
{
    const auto close = each(3, &fault_proxy::close);
    expect_no_harm(workers, {close, close, close});
    finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
