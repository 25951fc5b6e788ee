#include "redis/node/node_address.hpp"

#include "support/session_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace holdfast::redis;
using namespace holdfast::test;
using namespace std::chrono_literals;
namespace core = holdfast::core;

namespace {

using phase = connection_schedule::phase;

struct address_fixture : node_address_owner {
    std::string failed;
    node_settings settings = session_settings();
    core::wake_time wakes;
    connection_schedule schedule{settings, wakes, 1};
    core::time_point now = start;

    void on_no_address(failure why, core::time_point) override { failed += why.text; }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(redis_node_address, address_fixture)

BOOST_AUTO_TEST_CASE(a_fixed_address_needs_no_search)
{
    node_address fixed(settings, schedule, *this);
    schedule.wake(now);
    fixed.search_if_due(now);
    BOOST_TEST((schedule.now() == phase::opening));
    BOOST_TEST(fixed.name() == "a:1");
    BOOST_TEST(fixed.sentinels().empty());
}

// Nothing is opened before the cluster has told the address, or after it has taken it back.
BOOST_AUTO_TEST_CASE(a_cluster_tells_it)
{
    settings.in_cluster = true;
    node_address told(settings, schedule, *this);
    schedule.wake(now);
    told.search_if_due(now);
    BOOST_TEST((schedule.now() == phase::searching));
    BOOST_TEST((schedule.deadline() == core::never));
    told.aim({.host = "m", .port = 7, .path = {}});
    BOOST_TEST(told.is_aimed());
    told.search_if_due(now);
    BOOST_TEST((schedule.now() == phase::opening));
    BOOST_TEST(told.name() == "m:7");
    BOOST_TEST(told.where().port == 7u);

    schedule.give_up(false, now);
    told.park();
    BOOST_TEST(!told.is_aimed());
    schedule.closed(now);
    now += 10s;
    schedule.wake(now);
    told.search_if_due(now);
    BOOST_TEST((schedule.now() == phase::searching));
}

// Sentinels have the connect timeout.
BOOST_AUTO_TEST_CASE(sentinels_are_asked_for_it)
{
    auto known = std::make_shared<sentinel_settings>();
    known->service = "main";
    known->sentinels = {{.where = {.host = "s", .port = 1, .path = {}}, .name = "s:1"}};
    settings.sentinels = known;
    settings.name = "main";
    node_address searched(settings, schedule, *this);
    BOOST_REQUIRE(searched.sentinels().size() == 1u);
    core::connection& sentinel = *searched.sentinels()[0];
    schedule.wake(now);
    searched.search_if_due(now);
    BOOST_TEST(sentinel.wants_open());

    now += settings.connect_timeout / 4;
    BOOST_TEST(!searched.on_overdue(now).has_value());
    BOOST_TEST((schedule.deadline() == start + settings.connect_timeout));
    now = schedule.deadline();
    const auto why = searched.on_overdue(now);
    BOOST_REQUIRE(why.has_value());
    BOOST_TEST(why->text == "no sentinel has named the primary of main: s:1: no answer");
    searched.stop();
    BOOST_TEST(!sentinel.wants_open());
    BOOST_TEST(failed == "");
}

BOOST_AUTO_TEST_SUITE_END()
