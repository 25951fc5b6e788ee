// The keys on the nodes: their owners, and changes by other programs.
#include "support/cluster.hpp"

#include <algorithm>

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(keys)

task lose_to_a_thief(scene& s, cluster& c)
{
    lease held = co_await s.lock(0).acquire();
    BOOST_TEST(c.copies(s.resource) >= c.majority());
    c.command({"SET", s.resource, "thief"});
    auto [ec, outcome] = co_await held.release(no_throw);
    BOOST_TEST(!ec, ec.message());
    BOOST_TEST(outcome == release_outcome::expired);
    for (auto& node : c.nodes)
        BOOST_TEST(node.command({"GET", s.resource}) == "thief");
}

BOOST_AUTO_TEST_CASE(a_release_does_not_delete_the_key_of_another_client)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return lose_to_a_thief(s, c); });
}

task drop_beside_a_thief(scene& s, cluster& c)
{
    lease held = co_await s.lock(0).acquire();
    c.command({"SET", s.resource, "thief"});
    held = lease();
}

BOOST_AUTO_TEST_CASE(the_destructor_does_not_delete_the_key_of_another_client)
{
    cluster c(3);
    scene s(c.store());
    run(s.io, drop_beside_a_thief(s, c));
    s.finish();
    BOOST_TEST(c.copies(s.resource) == 3u);
}

task meet_a_foreign_client(scene& s, cluster& c)
{
    const std::vector<std::string> theirs{"SET", s.resource, "foreign", "NX", "PX", "3000"};
    const auto set = steady::now();
    c.command(theirs, 2);
    lease none = co_await s.lock(0).try_acquire();
    BOOST_TEST(!none);
    const bool given_back = co_await c.have_copies(s.resource, 2, 2s);
    BOOST_TEST(given_back); // the grant of the third node

    lease ours = co_await s.lock(0).acquire();
    BOOST_TEST((steady::now() > set + 2950ms)); // the other client had it for its ttl
    BOOST_TEST((steady::now() < set + 8s));
    const auto refuses_them = [&](auto& node) {
        return node.command(theirs) == "(nil)";
    };
    const auto refusals = std::count_if(c.nodes.begin(), c.nodes.end(), refuses_them);
    BOOST_TEST(refusals >= 2); // a majority
    co_await ours.release();
    const bool gone_everywhere = co_await c.have_copies(s.resource, 0, 5s);
    BOOST_TEST(gone_everywhere);
    BOOST_TEST(!refuses_them(c.nodes[0]));
}

BOOST_AUTO_TEST_CASE(foreign_redlock_clients_exclude_us_and_we_exclude_them)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return meet_a_foreign_client(s, c); });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
