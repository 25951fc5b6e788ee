#include "integration/scenarios.hpp"

namespace holdfast::test {

void expect_no_harm(team& t, const trouble& what)
{
    t.wait_for_holds(5);
    worker& holder = t.wait_for_holder();
    what.begin();
    t.meanwhile = what.meanwhile;
    t.wait_for_holds(5);
    t.wait_for_renewals(holder, 3 * job{}.ttl / 2);
    t.wait_for_holds(5);
    t.meanwhile = nullptr;
    what.end();
    t.wait_for_holds(5);
    t.wait_for_renewals(holder, 3 * job{}.ttl / 2);
}

void expect_standstill(team& t, const trouble& what, errc error)
{
    t.wait_for_holds(5);
    worker& holder = t.wait_for_holder();
    what.begin();
    const auto last = t.wait_for_end(holder);
    BOOST_TEST(last.why == "lost");
    BOOST_TEST((*last.over < last.valid_until));

    const auto stopped = steady::now();
    t.wait_for_failure(error, "short");
    t.wait_for_failure(error, "long");
    const auto recovery = steady::now();
    what.end();
    t.wait_for_holds(5);
    t.wait_for_holder();
    for (const std::string resource : {"short", "long"}) {
        for (const auto& each : t.holds(resource))
            BOOST_TEST((each.from < stopped || each.from > recovery), "granted during the trouble");
    }
}

void wait_for_a_ttl_since(steady::time_point moment)
{
    std::this_thread::sleep_until(moment + job{}.ttl);
}

void contended_cluster::start(const std::vector<std::string>& arguments, const job& keeping)
{
    nodes.emplace(3, arguments);
    workers.add_both_kinds(*nodes, urls(nodes->nodes), keeping);
}

std::function<void()> contended_cluster::on_each(std::size_t count, const action& what)
{
    return [=, this] {
        for (std::size_t i = 0; i < count; ++i)
            what(nodes->nodes[i]);
    };
}

trouble contended_cluster::on(std::size_t count, const action& begin, const action& end)
{
    return {on_each(count, begin), on_each(count, end)};
}

void contended_cluster::finish()
{
    workers.finish();
    expect_nothing_left(*nodes);
}

} // namespace holdfast::test
