#include "io/delivery_lag.hpp"

#include <boost/test/unit_test.hpp>

#include "support/print.hpp"

using namespace holdfast::core;
using namespace std::chrono_literals;

namespace {

struct lag_fixture {
    holdfast::io::delivery_lag lag;
    time_point now{1h};

    void finish(int count)
    {
        for (int i = 0; i < count; ++i)
            lag.finished();
    }
    void deliver(int count)
    {
        for (int i = 0; i < count; ++i)
            lag.delivered();
    }
    duration look(duration later = 0ms) { return lag.look(now += later); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(io_delivery_lag, lag_fixture)

BOOST_AUTO_TEST_CASE(there_is_no_lag_while_nothing_waits)
{
    BOOST_TEST(look() == 0ms);
    BOOST_TEST(look(1s) == 0ms);
    finish(2);
    deliver(2);
    BOOST_TEST(look(1s) == 0ms);
}

BOOST_AUTO_TEST_CASE(idle_time_is_no_lag)
{
    finish(1);
    BOOST_TEST(look() == 0ms);
    deliver(1);
    finish(1);
    BOOST_TEST(look(1s) == 0ms);
}

BOOST_AUTO_TEST_CASE(grows_while_the_same_operation_waits)
{
    finish(2);
    BOOST_TEST(look() == 0ms);
    deliver(1);
    BOOST_TEST(look(30ms) == 30ms);
    BOOST_TEST(look(30ms) == 60ms);
}

BOOST_AUTO_TEST_CASE(the_latest_measurement_counts_until_the_next_one)
{
    finish(2);
    look();
    finish(2);
    deliver(2);
    BOOST_TEST(look(40ms) == 40ms);
    BOOST_TEST(look(10ms) == 40ms);
    finish(1);
    deliver(2);
    BOOST_TEST(look(10ms) == 20ms);
}

BOOST_AUTO_TEST_CASE(ends_when_all_are_delivered)
{
    finish(2);
    look();
    deliver(1);
    BOOST_TEST(look(200ms) == 200ms);
    deliver(1);
    BOOST_TEST(look(1ms) == 0ms);
}

// Each handler finishes the next operation, as a lease that changes owners within a process.
BOOST_AUTO_TEST_CASE(a_chain_of_handlers_is_no_lag)
{
    finish(1);
    look();
    for (int i = 0; i < 100; ++i) {
        finish(1);
        deliver(1);
        BOOST_TEST(look(10ms) <= 10ms);
    }
}

BOOST_AUTO_TEST_SUITE_END()
