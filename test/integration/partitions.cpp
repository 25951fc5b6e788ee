// Partitions of networks, made with network namespaces. Each node and each site of workers has its
// own namespace, and there is a cable between each site and each node. No packet leaves them.
#include "integration/namespaces.hpp"
#include "integration/scenarios.hpp"

#include <boost/test/tree/decorator.hpp>

namespace holdfast::test {
namespace {

using boost::test_tools::assertion_result;

// A network of three nodes and two sites.
class sites {
public:
    static constexpr std::size_t site_count = 2, node_count = 3;

    sites() : places_(site_count + node_count)
    {
        for (std::size_t n = 0; n < node_count; ++n) {
            for (std::size_t s = 0; s < site_count; ++s)
                lay_cable(s, n);
            const network_namespace::visit there(node(n));
            nodes.nodes.push_back(redis_server({"--bind", "0.0.0.0", "--protected-mode", "no"}));
        }
    }

    void add(std::size_t site, const job& work)
    {
        std::vector<std::string> urls;
        for (std::size_t n = 0; n < node_count; ++n)
            urls.push_back("redis://" + address(site, n, node_end) + ":" +
                           std::to_string(nodes.nodes[n].port()));
        const network_namespace::visit there(places_[site]);
        workers.add(work, urls);
    }

    // The first worker, which holds the lock with the votes of all nodes, is at site 0.
    void add_both_kinds()
    {
        add(0, long_job());
        workers.wait_for_holder();
        workers.wait_until("the key on all nodes", [&] { return nodes.copies("long") == 3; });
        add(1, long_job());
        for (const std::size_t site : {0u, 1u, 1u})
            add(site, {});
    }

    // Packets are lost in both directions. The site's end of the cable stays up.
    void cut(std::size_t s, std::size_t n) { node(n).ip("link set site" + number(s) + " down"); }
    void repair(std::size_t s, std::size_t n) { node(n).ip("link set site" + number(s) + " up"); }

    // One direction only: packets from the node to the site are lost, or those from the site to the
    // node.
    void route_replies(std::size_t s, std::size_t n, const std::string& add_or_delete)
    {
        node(n).ip("route " + add_or_delete + " blackhole " + address(s, n, site_end));
    }
    void route_requests(std::size_t s, std::size_t n, const std::string& add_or_delete)
    {
        places_[s].ip("route " + add_or_delete + " blackhole " + address(s, n, node_end));
    }

    void slow_down(std::size_t s, std::size_t n)
    {
        places_[s].run("tc qdisc add dev node" + number(n) + " root netem delay 20ms 10ms");
    }
    void speed_up(std::size_t s, std::size_t n)
    {
        places_[s].run("tc qdisc del dev node" + number(n) + " root");
    }

    // Between all sites and the first `count` nodes.
    template <class... Words>
    std::function<void()> all(std::size_t count,
        void (sites::*action)(std::size_t, std::size_t, const Words&...), const Words&... words)
    {
        return [=, this] {
            for (std::size_t s = 0; s < site_count; ++s) {
                for (std::size_t n = 0; n < count; ++n)
                    (this->*action)(s, n, words...);
            }
        };
    }

    void finish()
    {
        workers.finish();
        expect_nothing_left(nodes);
    }

    cluster nodes{0};
    team workers;

private:
    static constexpr int site_end = 1, node_end = 2;

    static std::string number(std::size_t i) { return std::to_string(i); }
    static std::string address(std::size_t s, std::size_t n, int end)
    {
        return "10." + number(s) + "." + number(n) + "." + std::to_string(end);
    }

    network_namespace& node(std::size_t n) { return places_[site_count + n]; }

    void lay_cable(std::size_t s, std::size_t n)
    {
        const std::string at_site = "node" + number(n), at_node = "site" + number(s);
        places_[s].ip(
            "link add " + at_site + " type veth peer name " + at_node + " netns " + node(n).path());
        places_[s].ip("addr add " + address(s, n, site_end) + "/30 dev " + at_site);
        places_[s].ip("link set " + at_site + " up");
        node(n).ip("addr add " + address(s, n, node_end) + "/30 dev " + at_node);
        node(n).ip("link set " + at_node + " up");
    }

    std::vector<network_namespace> places_; // the sites, then the nodes
};

assertion_result possible(const std::string& what, const std::function<void()>& attempt)
{
    try {
        attempt();
        return true;
    } catch (const std::exception& e) {
        assertion_result no(false);
        no.message() << what << " are not available here: " << e.what();
        return no;
    }
}

assertion_result namespaces_work(boost::unit_test::test_unit_id)
{
    return possible("network namespaces", [] {
        network_namespace one, other;
        one.ip("link add one type veth peer name other netns " + other.path());
    });
}

assertion_result delays_work(boost::unit_test::test_unit_id)
{
    return possible("delays (netem)", [] {
        network_namespace one;
        one.run("tc qdisc add dev lo root netem delay 1ms");
    });
}

BOOST_AUTO_TEST_SUITE(partitions, *boost::unit_test::precondition(namespaces_work))

BOOST_FIXTURE_TEST_CASE(a_minority_that_is_cut_off_does_not_matter, sites)
{
    add_both_kinds();
    expect_no_harm(workers, {all(1, &sites::cut), all(1, &sites::repair)});
    finish();
}

BOOST_FIXTURE_TEST_CASE(a_majority_that_is_cut_off_ends_leases_in_time_and_recovers, sites)
{
    add_both_kinds();
    expect_standstill(workers, {all(2, &sites::cut), all(2, &sites::repair)}, errc::unreachable);
    finish();
}

// The nodes get all requests, grant, and renew, but their replies are lost.
BOOST_FIXTURE_TEST_CASE(lost_replies_of_a_majority_end_leases_in_time_and_it_recovers, sites)
{
    add_both_kinds();
    const std::string add = "add", del = "del";
    expect_standstill(workers,
        {all(2, &sites::route_replies, add), all(2, &sites::route_replies, del)},
        errc::unreachable);
    finish();
}

BOOST_FIXTURE_TEST_CASE(lost_requests_to_a_majority_end_leases_in_time_and_it_recovers, sites)
{
    add_both_kinds();
    const std::string add = "add", del = "del";
    expect_standstill(workers,
        {all(2, &sites::route_requests, add), all(2, &sites::route_requests, del)},
        errc::unreachable);
    finish();
}

BOOST_FIXTURE_TEST_CASE(the_side_with_the_majority_takes_over_when_the_lease_has_ended, sites)
{
    add_both_kinds();
    worker& holder = workers.wait_for_holder();
    BOOST_REQUIRE(&holder == &workers.workers.front()); // at site 0, which keeps node 0
    cut(0, 1);
    cut(0, 2);
    cut(1, 0);
    const auto end = workers.wait_for_end(holder);
    BOOST_TEST(end.why == "lost");
    BOOST_TEST((*end.over < end.valid_until));
    worker& next = workers.wait_for_holder("long", &holder);
    workers.wait_for_renewals(next, 3 * job{}.ttl / 2);
    workers.wait_for_failure(errc::unreachable, "long");
    workers.wait_for_failure(errc::unreachable, "short");
    workers.wait_for_holds(5);
    repair(0, 1);
    repair(0, 2);
    repair(1, 0);
    workers.wait_for_renewals(next, 3 * job{}.ttl / 2);
    workers.wait_for_holds(5);
    finish();
}

BOOST_FIXTURE_TEST_CASE(each_side_may_lack_another_node, sites)
{
    add_both_kinds();
    const auto cut_both = [&] {
        cut(0, 1);
        cut(1, 2);
    };
    const auto repair_both = [&] {
        repair(0, 1);
        repair(1, 2);
    };
    expect_no_harm(workers, {cut_both, repair_both});
    finish();
}

BOOST_FIXTURE_TEST_CASE(delays_do_not_matter, sites, *boost::unit_test::precondition(delays_work))
{
    add_both_kinds();
    expect_no_harm(workers, {all(3, &sites::slow_down), all(3, &sites::speed_up)});
    finish();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
