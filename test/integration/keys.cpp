// The keys on the nodes: whose they are, and what other programs do with them.
#include "support/cluster.hpp"

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

BOOST_AUTO_TEST_CASE(a_release_does_not_delete_the_key_of_another)
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

BOOST_AUTO_TEST_CASE(neither_does_the_destructor)
{
    cluster c(3);
    scene s(c.store());
    run(s.io, drop_beside_a_thief(s, c));
    s.finish();
    BOOST_TEST(c.copies(s.resource) == 3u);
}

task meet_a_foreign_client(scene& s, cluster& c)
{
    const std::vector<std::string> theirs{"SET", s.resource, "foreign", "NX", "PX", "1000"};
    const auto set = steady::now();
    c.command(theirs, 2);
    lease none = co_await s.lock(0).try_acquire();
    BOOST_TEST(!none);
    const bool given_back = co_await c.have_copies(s.resource, 2, 500ms);
    BOOST_TEST(given_back); // what the third had granted

    lease ours = co_await s.lock(0).acquire();
    BOOST_TEST((steady::now() > set + 950ms)); // they had it for its time
    BOOST_TEST((steady::now() < set + 3s));
    for (auto& node : c.nodes)
        BOOST_TEST(node.command(theirs) == "(nil)");
    co_await ours.release();
    BOOST_TEST(c.nodes[0].command(theirs) == "OK");
}

BOOST_AUTO_TEST_CASE(foreign_redlock_clients_exclude_us_and_we_exclude_them)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return meet_a_foreign_client(s, c); });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
