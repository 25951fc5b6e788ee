// Where slots are, as the members of a cluster tell.
#include "redis/cluster_map.hpp"

#include "unit/redis/scripted_members.hpp"

#include <cstring>
#include <string>

using namespace holdfast::test;
using holdfast::errc;
namespace core = holdfast::core;

namespace {

struct map_fixture : cluster_map_owner {
    std::string heard;
    core::jitter jitter{1};
    core::time_point now = start;
    cluster_map map{{{.host = "m", .port = 1, .path = {}}}, member_settings(), 100ms,
        {.key_prefix = "p:", .in_cluster = true, .about = {.name = "redis cluster"}}, jitter,
        *this};
    core::connection& search = *map.connections()[0];

    void on_map(core::time_point) override { heard += "map "; }
    void on_no_map(core::time_point) override { heard += "none "; }

    void answer(const std::string& bytes)
    {
        map.wake(now, now);
        BOOST_REQUIRE(search.wants_open());
        search.opened(now);
        const std::span<char> space = search.read_space();
        std::memcpy(space.data(), bytes.data(), bytes.size());
        search.received(bytes.size(), now);
        search.closed({}, now);
        map.wake(now, now);
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(redis_cluster_map, map_fixture)

// The slots of the first half have a primary, those of the second have none.
BOOST_AUTO_TEST_CASE(follows_what_a_member_tells)
{
    BOOST_TEST(!map.is_known());
    BOOST_TEST((map.cut_off() == errc{}));
    BOOST_TEST(map.shard_of(0) == shard_pool::none);
    BOOST_TEST(map.stats().back().reason == "no member has told the slots yet");
    answer("*1\r\n*3\r\n:0\r\n:8191\r\n*2\r\n" + blob("m") + ":1\r\n");
    BOOST_TEST(heard == "map ");
    BOOST_TEST(map.is_known());
    BOOST_TEST(map.shard_of(8191) == 0u);
    BOOST_TEST(map.shard_of(8192) == shard_pool::none);
    BOOST_TEST(map.connections().size() == 2u);
    BOOST_TEST(map.stats().size() == 1u);
}

// As long as no member has told its slots, the reason is known.
BOOST_AUTO_TEST_CASE(tells_when_no_member_knows)
{
    answer("-ERR This instance has cluster support disabled\r\n");
    BOOST_TEST(heard == "none ");
    BOOST_TEST((map.cut_off() == errc::misconfigured_node));
    BOOST_TEST(map.stats().back().reason == "no member of the cluster has told its slots: m:1: it "
                                            "is no member of a cluster");
    BOOST_TEST((map.wake_at() != core::never)); // it asks again by itself
    now = map.wake_at();
    answer("*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n" + blob("m") + ":1\r\n");
    BOOST_TEST(heard == "none map ");
    BOOST_TEST((map.cut_off() == errc{}));
}

BOOST_AUTO_TEST_CASE(the_prefix_belongs_to_the_key)
{
    BOOST_TEST(map.slot_for("A") == slot_of("p:A"));
}

BOOST_AUTO_TEST_SUITE_END()
