#include "redis/node/connection_schedule.hpp"

#include "support/session_fixture.hpp"

#include <boost/test/unit_test.hpp>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using test::at;
using phase = connection_schedule::phase;

struct schedule_fixture {
    node_settings settings = test::session_settings(); // 2 s to connect, pauses of 50 ms to 2 s
    core::wake_time wakes;
    connection_schedule schedule{settings, wakes, 1};
    core::time_point now = at(0s);

    schedule_fixture() { schedule.wake(now); }

    void greet()
    {
        if (schedule.now() == phase::pausing) {
            now = schedule.deadline();
            schedule.wake(now);
        }
        BOOST_REQUIRE(schedule.opened());
        schedule.greeted(now);
    }
    core::duration fail(bool hopeless = false)
    {
        schedule.give_up(hopeless, now);
        schedule.closed(now);
        return schedule.wants_open() ? core::duration(0) : schedule.deadline() - now;
    }
};

BOOST_FIXTURE_TEST_SUITE(redlock_connection_schedule, schedule_fixture)

// It wants a connection from the first wake() on.
BOOST_AUTO_TEST_CASE(a_connection_that_lasts)
{
    connection_schedule s{settings, wakes, 1};
    BOOST_TEST(!s.wants_open());
    BOOST_TEST((s.reach() == reachability::soon));
    BOOST_TEST((s.deadline() < now));
    BOOST_TEST(!s.wake(now));
    BOOST_TEST((s.now() == phase::opening));
    BOOST_TEST((s.deadline() == now + 2s));
    BOOST_TEST(s.opened());
    BOOST_TEST(s.is_open());
    BOOST_TEST((s.reach() == reachability::soon));
    BOOST_TEST((s.deadline() == now + 2s)); // the same for both
    s.greeted(now + 1s);
    BOOST_TEST((s.reach() == reachability::ready));
    BOOST_TEST((s.deadline() == core::never));
    BOOST_TEST(s.wants_open());
}

// An attempt is given up at its deadline, whether it is being opened or greeted.
BOOST_AUTO_TEST_CASE(attempts_that_take_too_long)
{
    BOOST_TEST(!schedule.wake(at(2s - 1ns)));
    BOOST_TEST(schedule.wake(at(2s)));
    BOOST_TEST(schedule.give_up(false, at(2s)));
    BOOST_TEST((schedule.now() == phase::closing));
    BOOST_TEST(!schedule.give_up(false, at(2s)));
    BOOST_TEST(!schedule.opened());
    schedule.closed(at(2s));
    schedule.wake(schedule.deadline());
    BOOST_TEST(schedule.opened());
    BOOST_TEST((schedule.reach() == reachability::down)); // the attempt before it had failed
    BOOST_TEST(schedule.wake(schedule.deadline()));
}

// Only a failed attempt proves that the node cannot be reached: not the first one while it lasts,
// nor the first after a connection that worked.
BOOST_AUTO_TEST_CASE(attempts_that_have_failed)
{
    BOOST_TEST(!connection_schedule(settings, wakes, 1).is_failing());
    BOOST_TEST(!schedule.is_failing());
    fail();
    BOOST_TEST(schedule.is_failing());
    greet();
    BOOST_TEST(!schedule.is_failing());
    now += 101ms;
    schedule.give_up(false, now);
    BOOST_TEST((schedule.now() == phase::closing));
    BOOST_TEST(!schedule.is_failing());
    schedule.closed(now);
    BOOST_TEST(!schedule.is_failing());
    fail();
    BOOST_TEST(schedule.is_failing());
}

// The limit of the pauses doubles up to the longest.
BOOST_AUTO_TEST_CASE(pauses_grow)
{
    core::duration limit = 50ms, longest{};
    for (int i = 0; i < 50; ++i) {
        const core::duration pause = fail();
        BOOST_REQUIRE(pause <= limit);
        longest = std::max(longest, pause);
        limit = std::min<core::duration>(2 * limit, 2s);
        now += pause;
        schedule.wake(now);
        BOOST_REQUIRE((schedule.now() == phase::opening));
    }
    BOOST_TEST((longest > core::duration(1s)));
    greet();
    now += 101ms;
    BOOST_TEST((fail() == core::duration(0))); // at once after a connection that worked
    BOOST_TEST((schedule.reach() == reachability::soon));
    BOOST_TEST((fail() <= core::duration(50ms))); // and the pauses begin again
}

// A connection that breaks soon is a failure like any other.
BOOST_AUTO_TEST_CASE(connections_that_do_not_last)
{
    int at_once = 0;
    for (int i = 0; i < 20; ++i) {
        greet();
        now += 100ms;
        at_once += fail() == core::duration(0) ? 1 : 0;
    }
    BOOST_TEST(at_once <= 1);
}

// After a failure that a person must fix, it pauses even if the connection had worked.
BOOST_AUTO_TEST_CASE(a_hopeless_failure)
{
    greet();
    now += 1h;
    BOOST_TEST((fail(true) >= core::duration(1s)));
    BOOST_TEST((schedule.reach() == reachability::down));
    settings.reconnect_max = 300ms;
    greet();
    BOOST_TEST((fail(true) == core::duration(300ms)));
}

BOOST_AUTO_TEST_CASE(shut)
{
    greet();
    BOOST_TEST(schedule.shut());
    BOOST_TEST(!schedule.shut());
    BOOST_TEST(!schedule.give_up(false, now));
    schedule.closed(now);
    BOOST_TEST((schedule.now() == phase::shut));
    BOOST_TEST((schedule.deadline() == core::never));
    BOOST_TEST(!schedule.wake(at(1h)));
    BOOST_TEST(!schedule.wants_open());
    BOOST_TEST((schedule.reach() == reachability::down));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::redis
