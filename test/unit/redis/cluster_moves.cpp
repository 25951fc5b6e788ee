// How claims of a cluster move between shards.
#include "redis/cluster_moves.hpp"

#include "unit/redis/scripted_members.hpp"

#include <string>
#include <vector>

using namespace holdfast::test;
namespace core = holdfast::core;

namespace {

// The test takes the place of the life cycle of claims.
struct moves_fixture : scripted_members, cluster_map_owner {
    core::jitter jitter{1};
    cluster_map map{{{.host = "m", .port = 1, .path = {}}}, member_settings(), 100ms,
        {.in_cluster = true, .about = {.name = "redis cluster"}}, jitter, *this};
    cluster_claim_table claims;
    cluster_moves moves{map, claims};
    std::vector<core::backend_event> events; // of the shards
    const std::string name = name_in(0);
    core::claim_id id = 0;

    void on_map(core::time_point) override {}
    void on_no_map(core::time_point) override {}

    moves_fixture()
    {
        settle();
        BOOST_REQUIRE(map.is_known());
        id = claims.all.take();
        cluster_claim& c = the_claim();
        c.slot = map.slot_for(name);
        c.at.shard = map.shard_of(c.slot);
        c.resource = name;
        c.token = token('1');
        c.params = {.ttl = 10s, .drift = 10ms, .guard = 100ms};
        c.now = cluster_claim::stage::asking;
    }

    cluster_claim& the_claim() { return claims[id]; }
    redlock_core& shard() { return map.shards()[the_claim().at.shard]; }
    const node_session& node(std::uint32_t of) { return map.shards()[of].only_node(); }

    void settle()
    {
        for (bool changed = true; changed;) {
            changed = map.wake_at() <= now;
            if (changed)
                map.wake(now, now);
            for (std::size_t i = 0; i < map.connections().size(); ++i)
                changed = follow(*map.connections()[i]) || changed;
            for (std::uint32_t i = 0; i < map.shards().size(); ++i) {
                while (const auto event = map.shards()[i].next_event())
                    events.push_back(*event);
            }
            moves.note_redirections(now);
        }
    }

    void pass(core::duration length)
    {
        now += length;
        settle();
    }

    void ask()
    {
        cluster_claim& c = the_claim();
        moves.note_request(c);
        c.at.inner = shard().attempt(id, c.resource, c.token.of_try(c.tries), c.params, now);
    }

    void hold()
    {
        ask();
        settle();
        BOOST_REQUIRE(events.size() == 1u);
        BOOST_REQUIRE((events[0].kind == core::event_kind::granted));
        the_claim().now = cluster_claim::stage::held;
        the_claim().valid = events[0].valid;
        events.clear();
    }

    void renew()
    {
        shard().renew(std::span(&the_claim().at.inner, 1), true, now);
        settle();
    }

    // The key goes ahead of its slot, and the lease with it.
    std::uint32_t move_ahead()
    {
        const std::uint32_t home = the_claim().at.shard;
        moving[the_claim().slot] = 2;
        std::swap(members[2].keys, members[0].keys);
        renew();
        BOOST_REQUIRE(claims.due.pop_due(now).has_value());
        moves.follow_key(id, now); // the connection is not there yet
        BOOST_TEST(the_claim().at.shard == home);
        settle();
        now = claims.due.earliest();
        BOOST_REQUIRE(claims.due.pop_due(now).has_value());
        moves.follow_key(id, now);
        settle();
        return home;
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(redis_cluster_moves, moves_fixture)

BOOST_AUTO_TEST_CASE(goes_where_its_request_was_sent)
{
    moving[the_claim().slot] = 2;
    ask();
    BOOST_TEST(!moves.was_redirected(the_claim()));
    settle();
    BOOST_TEST(moves.was_redirected(the_claim()));
    BOOST_TEST_REQUIRE(the_claim().ask_at.has_value());
    BOOST_TEST(the_claim().ask_at->port == 3);
    const std::uint32_t ahead = moves.shard_ahead(the_claim(), now);
    BOOST_TEST(map.shards().is_asking(ahead));
    BOOST_TEST(the_claim().home == map.shard_of(the_claim().slot));
    BOOST_TEST((claims.due.earliest() == core::never)); // only a lease has something to do
}

BOOST_AUTO_TEST_CASE(a_slot_that_has_moved_is_no_reason_to_go_ahead)
{
    owners[the_claim().slot] = 1;
    ask();
    settle();
    BOOST_TEST(moves.was_redirected(the_claim()));
    BOOST_TEST(!the_claim().ask_at.has_value());
    BOOST_TEST(moves.shard_ahead(the_claim(), now) == shard_pool::none);
}

// The answer to an earlier try arrives after the next one was sent to the same shard.
BOOST_AUTO_TEST_CASE(ignores_the_answer_to_an_earlier_try)
{
    late = name;
    moving[the_claim().slot] = 2;
    ask();
    settle();
    moving.clear();
    shard().abandon(the_claim().at.inner, now);
    ++the_claim().tries;
    ask();
    settle();
    late.clear();
    settle();
    BOOST_TEST(!the_claim().ask_at.has_value());
    BOOST_TEST_REQUIRE(events.size() == 1u); // of the last try
    BOOST_TEST((events[0].kind == core::event_kind::granted));
}

// The answer arrives after the claim went on at another shard.
BOOST_AUTO_TEST_CASE(ignores_an_answer_of_a_shard_that_was_left)
{
    late = name;
    moving[the_claim().slot] = 2;
    ask();
    settle();
    the_claim().at.shard = 1 - the_claim().at.shard; // where it has the same number
    late.clear();
    settle();
    BOOST_TEST(!the_claim().ask_at.has_value());
}

BOOST_AUTO_TEST_CASE(lease_follows_its_key)
{
    hold();
    const std::uint32_t home = move_ahead();
    BOOST_TEST(map.shards().is_asking(the_claim().at.shard));
    BOOST_TEST(moves.stays_ahead(the_claim(), home));
    BOOST_TEST(!moves.stays_ahead(the_claim(), 1 - home)); // the slot went somewhere else
    BOOST_TEST_REQUIRE(events.size() == 1u);
    BOOST_TEST((events[0].kind == core::event_kind::validity));

    moving.clear(); // the move is called off
    std::swap(members[2].keys, members[0].keys);
    renew();
    BOOST_REQUIRE(claims.due.pop_due(now).has_value());
    moves.follow_key(id, now);
    BOOST_TEST(the_claim().at.shard == home);
    BOOST_TEST(!moves.stays_ahead(the_claim(), home));
    renew();
    BOOST_TEST((events.back().kind == core::event_kind::validity));
}

BOOST_AUTO_TEST_CASE(leaves_connections_that_no_claim_uses)
{
    hold();
    move_ahead();
    const std::uint32_t ahead = the_claim().at.shard;
    const auto is_left = [&] {
        moves.leave_unused();
        pass(1ms);
        return node(ahead).now() != reachability::ready;
    };
    BOOST_TEST(!is_left());
    the_claim().at.shard = the_claim().home;
    the_claim().ask_at = map.shards()[ahead].only_node().connection().target();
    BOOST_TEST(!is_left()); // it is about to go there
    the_claim().ask_at.reset();
    BOOST_TEST(is_left());
}

BOOST_AUTO_TEST_SUITE_END()
