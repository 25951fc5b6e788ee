// The keys on the nodes: whose they are, and what other programs do with them.
#include "support/cluster.hpp"

namespace holdfast::test {
namespace {

BOOST_AUTO_TEST_SUITE(keys)

lock_options unrenewed(std::chrono::milliseconds ttl)
{
    lock_options options;
    options.ttl = ttl;
    options.renewal = renewal::manual;
    return options;
}

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

task release_late_and_twice(scene& s, cluster& c)
{
    lease held = co_await s.lock(0, unrenewed(300ms)).acquire();
    co_await pause(400ms);
    BOOST_TEST(!held.held());
    c.command({"SET", s.resource, "next", "NX", "PX", "60000"});

    auto [late, outcome] = co_await held.release(no_throw);
    BOOST_TEST(!late, late.message());
    BOOST_TEST(outcome == release_outcome::expired);
    auto [twice, again] = co_await held.release(no_throw);
    BOOST_TEST(twice == errc::not_held);
    BOOST_TEST(again == release_outcome::expired);
    for (auto& node : c.nodes)
        BOOST_TEST(node.command({"GET", s.resource}) == "next");
}

BOOST_AUTO_TEST_CASE(a_late_release_and_a_second_one_are_harmless_and_say_so)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return release_late_and_twice(s, c); });
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

task keep_off_a_list(scene& s, cluster& c)
{
    c.command({"RPUSH", s.resource, "a", "b"});
    lock_options options;
    options.wait = 500ms;
    auto [ec, held] = co_await s.lock(0, options).acquire(no_throw);
    BOOST_TEST((ec == errc::key_conflict || ec == errc::contended), ec.message());
    BOOST_TEST(!held);
    lease none = co_await s.lock(0).try_acquire();
    BOOST_TEST(!none);
    for (auto& node : c.nodes)
        BOOST_TEST(node.command({"LRANGE", s.resource, "0", "-1"}) == "a\nb");
}

BOOST_AUTO_TEST_CASE(a_key_of_another_type_is_not_touched)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return keep_off_a_list(s, c); });
}

task find_a_list_instead(scene& s, cluster& c)
{
    lock_options options;
    options.ttl = 600ms;
    lease held = co_await s.lock(0, options).acquire();
    c.command({"DEL", s.resource});
    c.command({"RPUSH", s.resource, "a"});
    auto [ec] = co_await held.lost(no_throw);
    BOOST_TEST(ec == errc::lease_lost);
    auto [none, outcome] = co_await held.release(no_throw);
    BOOST_TEST(!none, none.message());
    BOOST_TEST(outcome == release_outcome::expired);
    for (auto& node : c.nodes)
        BOOST_TEST(node.command({"LRANGE", s.resource, "0", "-1"}) == "a");
}

BOOST_AUTO_TEST_CASE(a_key_that_becomes_another_type_ends_the_lease_and_is_not_touched)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return find_a_list_instead(s, c); });
}

task use_any_bytes(scene& s, cluster& c)
{
    const std::string name("\r\n$3\r\nFOO\0 \xff{a} %s", 18);
    lease held = co_await lock(s.locker(), name).acquire();
    BOOST_TEST(c.copies(name) >= c.majority());
    const release_outcome outcome = co_await held.release();
    BOOST_TEST(outcome == release_outcome::released);
}

BOOST_AUTO_TEST_CASE(any_bytes_are_a_name)
{
    cluster c(3);
    play(c.store(), 1, [&](scene& s) { return use_any_bytes(s, c); });
    BOOST_TEST(c.empty_within(0s));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::test
