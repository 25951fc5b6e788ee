// A cluster of scripted members: where claims go, and what follows a slot.
#include "unit/redis/cluster_fixture.hpp"

#include <string>

using namespace holdfast::test;
using holdfast::errc;
using holdfast::release_outcome;
namespace core = holdfast::core;

BOOST_FIXTURE_TEST_SUITE(redis_cluster_core, cluster_fixture)

// Attempts that are made before the slots are known wait for them.
BOOST_AUTO_TEST_CASE(goes_where_the_slot_is)
{
    for (const std::size_t half : {0u, 1u}) {
        const std::string name = name_in(half);
        const core::claim_id id = attempt(name);
        pass(100ms);
        BOOST_TEST((told().kind == core::event_kind::granted));
        BOOST_TEST(members[half].keys.at(name) == std::string(32, '1'));
        BOOST_TEST(members[1 - half].keys.empty());
        cluster.release(id, now);
        pass(100ms);
        BOOST_TEST((told().outcome == release_outcome::released));
        BOOST_TEST(members[half].keys.empty());
    }
    BOOST_TEST(members[0].slots_asked + members[1].slots_asked == 1);
    BOOST_TEST(cluster.nodes().stats().size() == 2u);
    BOOST_TEST(cluster.nodes().stats()[1].address == "m:2");
    BOOST_TEST(cluster.nodes().stats()[1].connected);
    BOOST_TEST(cluster.queue().is_usable());
}

// The locker sees only time, and no token is used twice.
BOOST_AUTO_TEST_CASE(attempt_follows_the_slot)
{
    pass(100ms);
    const std::string name = name_in(0);
    owners[slot_of(name)] = 2;
    attempt(name);
    pass(1s);
    BOOST_TEST((told().kind == core::event_kind::granted));
    BOOST_TEST(events.empty());
    BOOST_TEST(members[2].keys.at(name) == "2" + std::string(31, '1'));
}

BOOST_AUTO_TEST_CASE(lease_follows_the_slot)
{
    const std::string name = name_in(0);
    const core::claim_id id = hold(name);
    owners[slot_of(name)] = 2;
    members[2].keys = members[0].keys;
    members[0].keys.clear();
    cluster.renew(std::span(&id, 1), false, now);
    pass(1s);
    BOOST_TEST(events.empty());
    cluster.renew(std::span(&id, 1), true, now); // the locker does so until it is confirmed
    pass(100ms);
    const core::backend_event renewed = told();
    BOOST_TEST((renewed.kind == core::event_kind::validity));
    BOOST_TEST((renewed.valid.until > now + 8s));
    cluster.release(id, now);
    pass(100ms);
    BOOST_TEST((told().outcome == release_outcome::released));
    BOOST_TEST(members[2].keys.empty());
}

// Never silently: the new primary does not have the key.
BOOST_AUTO_TEST_CASE(lease_without_its_key_is_lost)
{
    const std::string name = name_in(1);
    const core::claim_id id = hold(name);
    owners[slot_of(name)] = 2;
    cluster.renew(std::span(&id, 1), false, now);
    pass(1s);
    cluster.renew(std::span(&id, 1), true, now);
    pass(100ms);
    BOOST_TEST((told().kind == core::event_kind::lost));
    BOOST_TEST(events.empty());
}

BOOST_AUTO_TEST_CASE(release_follows_the_slot)
{
    const std::string name = name_in(0);
    const core::claim_id id = hold(name);
    owners[slot_of(name)] = 1;
    std::swap(members[1].keys, members[0].keys);
    cluster.release(id, now);
    pass(1s);
    BOOST_TEST((told().outcome == release_outcome::released));
    BOOST_TEST(events.empty());
    BOOST_TEST(members[1].keys.empty());
}

// While the key is on its way, nothing is lost; what cannot be had is refused in bounded time.
BOOST_AUTO_TEST_CASE(slot_on_its_way)
{
    const std::string name = name_in(0);
    const core::claim_id id = hold(name);
    migrating = true;
    cluster.renew(std::span(&id, 1), false, now);
    attempt("another");
    pass(3s);
    const core::backend_event refused = told();
    BOOST_TEST((refused.kind == core::event_kind::refused));
    BOOST_TEST((refused.reason == errc::unreachable));
    BOOST_TEST(events.empty());
    migrating = false;
    cluster.renew(std::span(&id, 1), true, now);
    pass(100ms);
    BOOST_TEST((told().kind == core::event_kind::validity));
}

// The key is not at the old primary, so it can only be at the new one.
BOOST_AUTO_TEST_CASE(attempt_goes_ahead_of_the_slot)
{
    pass(100ms);
    const std::string name = name_in(0);
    moving[slot_of(name)] = 2;
    const core::claim_id id = attempt(name);
    pass(20ms);
    BOOST_TEST((told().kind == core::event_kind::granted));
    BOOST_TEST(members[2].keys.at(name) == "2" + std::string(31, '1'));
    BOOST_TEST(!members[0].keys.contains(name));
    pass(5s); // the slots are asked for, and nothing is new
    cluster.renew(std::span(&id, 1), false, now);
    pass(20ms);
    BOOST_TEST((told().kind == core::event_kind::validity));
    attempt(name, '5');
    pass(20ms);
    BOOST_TEST((told().reason == errc::contended));
    cluster.release(id, now);
    pass(20ms);
    BOOST_TEST((told().outcome == release_outcome::released));
    BOOST_TEST(members[2].keys.empty());
}

// For this lease the old primary still has the key, whatever it says of others in the slot.
BOOST_AUTO_TEST_CASE(lease_goes_ahead_with_its_key_alone)
{
    const core::claim_id id = hold("{slot}held");
    const std::size_t from = owners[slot_of("{slot}held")];
    moving[slot_of("{slot}held")] = 2;
    attempt("{slot}another");
    pass(20ms);
    BOOST_TEST((told().kind == core::event_kind::granted));
    BOOST_TEST(members[2].keys.contains("{slot}another"));
    cluster.renew(std::span(&id, 1), false, now);
    pass(20ms);
    BOOST_TEST((told().kind == core::event_kind::validity)); // at the old primary
    attempt("{slot}held", '5');
    pass(20ms);
    BOOST_TEST((told().reason == errc::contended));
    BOOST_TEST(!members[2].keys.contains("{slot}held"));

    members[2].keys.insert(members[from].keys.extract("{slot}held"));
    cluster.renew(std::span(&id, 1), false, now);
    pass(20ms);
    BOOST_TEST((told().kind == core::event_kind::validity)); // at the new one
    moving.clear();
    owners[slot_of("{slot}held")] = 2;
    attempt("{slot}third"); // finds out
    pass(1s);
    BOOST_TEST((told().kind == core::event_kind::granted));
    events.clear();
    cluster.release(id, now);
    pass(20ms);
    BOOST_TEST((told().outcome == release_outcome::released));
    BOOST_TEST(!members[2].keys.contains("{slot}held"));
}

// An attempt that has failed for another reason does not know where its key is, although another
// one in the same slot was sent ahead at the same time.
BOOST_AUTO_TEST_CASE(attempt_goes_ahead_alone)
{
    pass(100ms);
    failing = "{slot}held";
    moving[slot_of(failing)] = 2;
    attempt(failing);
    attempt("{slot}another");
    pass(2s);
    BOOST_TEST(events.size() == 2u);
    BOOST_TEST(members[2].keys.contains("{slot}another"));
    BOOST_TEST(!members[2].keys.contains(failing));
}

// The slot goes away and comes back within an attempt. What its first request was answered there
// says nothing about the last one.
BOOST_AUTO_TEST_CASE(attempt_does_not_go_ahead_by_an_earlier_answer)
{
    pass(100ms);
    const std::string name = name_in(0);
    const std::uint32_t slot = slot_of(name), other = slot_of("other");
    late = name;
    moving[slot] = 2;
    attempt(name); // is answered with ASK, later
    settle();
    moving.clear();
    const auto move_slots = [&](std::size_t to) {
        owners[slot] = to;
        owners[other] = 1 - owners[other]; // so that another attempt finds out
        const int asked = members[0].slots_asked + members[1].slots_asked;
        attempt("other");
        for (int i = 0; i < 50 && members[0].slots_asked + members[1].slots_asked == asked; ++i)
            pass(1ms);
        pass(20ms); // longer than the pause
    };
    move_slots(2);
    BOOST_TEST(members[2].keys.contains(name));
    moving[slot] = 2;
    failing = name; // the last request is answered with another error
    move_slots(0);
    members[2].keys.clear();
    BOOST_TEST(events.size() == 2u); // of the others
    late.clear();
    pass(2s);
    BOOST_TEST(members[2].keys.empty());
}

// The move is called off, and the key taken back.
BOOST_AUTO_TEST_CASE(lease_comes_back)
{
    const std::string name = name_in(0);
    const core::claim_id id = hold(name);
    moving[slot_of(name)] = 2;
    std::swap(members[2].keys, members[0].keys);
    cluster.renew(std::span(&id, 1), false, now);
    pass(20ms);
    BOOST_TEST((told().kind == core::event_kind::validity));
    moving.clear();
    std::swap(members[2].keys, members[0].keys);
    cluster.renew(std::span(&id, 1), false, now);
    pass(20ms);
    BOOST_TEST(events.empty());
    cluster.renew(std::span(&id, 1), true, now); // the locker does so until it is confirmed
    pass(20ms);
    BOOST_TEST((told().kind == core::event_kind::validity));
    BOOST_TEST(events.empty());
}

BOOST_AUTO_TEST_CASE(release_goes_ahead_of_the_slot)
{
    const std::string name = name_in(0);
    const core::claim_id id = hold(name);
    moving[slot_of(name)] = 2;
    std::swap(members[2].keys, members[0].keys);
    cluster.release(id, now);
    pass(50ms);
    BOOST_TEST((told().outcome == release_outcome::released));
    BOOST_TEST(members[2].keys.empty());
}

// However many slots have been on their way: one connection to each of the primaries for them.
BOOST_AUTO_TEST_CASE(connections_for_slots_on_their_way)
{
    pass(100ms);
    const std::size_t before = cluster.connections().size(), open_before = open.size();
    for (int i = 0; i < 40; ++i) {
        const std::string name = "moved" + std::to_string(i);
        const std::uint32_t slot = slot_of(name);
        const std::size_t to = 1 - owners[slot];
        moving[slot] = to;
        const core::claim_id id = attempt(name);
        pass(50ms);
        BOOST_TEST((told().kind == core::event_kind::granted));
        moving.clear();
        owners[slot] = to;
        cluster.release(id, now);
        pass(3s);
        BOOST_TEST((told().outcome == release_outcome::released));
        events.clear();
    }
    BOOST_TEST(cluster.connections().size() <= before + 2);
    BOOST_TEST(open.size() > open_before);
    attempt("moved39"); // finds out that the slots have arrived
    pass(3s);
    BOOST_TEST(open.size() == open_before);
    BOOST_TEST(cluster.nodes().stats().size() == 2u);
}

BOOST_AUTO_TEST_CASE(slot_without_a_primary)
{
    owners.fill(nobody);
    owners[0] = 0;
    attempt("foo");
    pass(5s);
    BOOST_TEST((told().reason == errc::unreachable));
    BOOST_TEST((cluster.nodes().cut_off() == errc{}));
}

// Another primary takes over: as many connections as primaries, however often that happens.
BOOST_AUTO_TEST_CASE(fail_over)
{
    const std::string name = name_in(0);
    const core::claim_id id = hold(name);
    const std::size_t before = cluster.connections().size();
    for (const std::size_t next : {2u, 0u, 2u, 0u}) {
        const std::size_t old = next == 2 ? 0 : 2;
        members[next] = {.keys = members[old].keys};
        members[old].is_down = true;
        pass(50ms);
        for (std::size_t& each : owners)
            each = each == old ? next : each;
        pass(10s);
        cluster.renew(std::span(&id, 1), true, now);
        pass(100ms);
        BOOST_TEST((told().kind == core::event_kind::validity));
        events.clear();
    }
    BOOST_TEST(cluster.connections().size() <= before + 1);
    BOOST_TEST(cluster.nodes().stats().size() == 2u);
}

BOOST_AUTO_TEST_CASE(no_member_answers)
{
    members[0].is_down = members[1].is_down = true;
    attempt("a");
    pass(3s);
    BOOST_TEST((told().reason == errc::unreachable));
    BOOST_TEST((cluster.nodes().cut_off() == errc::unreachable));
    const auto nodes = cluster.nodes().stats();
    BOOST_TEST_REQUIRE(nodes.size() == 1u);
    BOOST_TEST(nodes[0].reason.find("m:1: Connection refused, m:2: Connection refused") !=
               std::string::npos);
    members[1].is_down = false;
    pass(5s); // the search goes on by itself
    BOOST_TEST((cluster.nodes().cut_off() == errc{}));
    attempt("a");
    pass(1s);
    BOOST_TEST((told().kind == core::event_kind::granted));
}

// An attempt that waits can be given up at any time.
BOOST_AUTO_TEST_CASE(abandoned)
{
    const core::claim_id early = attempt("a");
    BOOST_TEST((cluster.pending_error(early) == errc::unreachable));
    cluster.abandon(early, now);
    pass(100ms);
    const core::claim_id asking = attempt("a");
    cluster.abandon(asking, now);
    pass(1s);
    BOOST_TEST(events.empty());
    BOOST_TEST(members[0].keys.empty());
    BOOST_TEST(members[1].keys.empty());
}

BOOST_AUTO_TEST_CASE(shut)
{
    hold("a");
    cluster.close(now);
    settle();
    BOOST_TEST(open.empty());
    BOOST_TEST((cluster.wake_at() >= now));
}

BOOST_AUTO_TEST_SUITE_END()
