#include "core/delay_estimate.hpp"

#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(core_delay_estimate)

BOOST_AUTO_TEST_CASE(knows_nothing_before_the_first_answer)
{
    const delay_estimate delays;
    BOOST_TEST((delays.usual() == 0ns));
    BOOST_TEST((delays.shortest() == 0ns));
    BOOST_TEST((delays.expected() == 0ns));
}

// The expected delay is far above the usual one only where delays differ.
BOOST_AUTO_TEST_CASE(expects_more_than_usual_with_some_reserve)
{
    delay_estimate delays;
    for (int i = 0; i < 200; ++i)
        delays.note(16ms, start);
    BOOST_TEST((delays.usual() > 15999us && delays.usual() <= 16ms));
    BOOST_TEST((delays.expected() == delays.shortest()));
    delays.note(32ms, start);
    BOOST_TEST((delays.usual() > 16999us && delays.usual() <= 17ms));
    BOOST_TEST((delays.shortest() == 16ms));
    BOOST_TEST((delays.expected() > 19990us && delays.expected() <= 20ms));
}

// The shortest delay lasts for one to two periods of five minutes: nodes may have moved away.
BOOST_AUTO_TEST_CASE(forgets_an_old_shortest_delay)
{
    delay_estimate delays;
    delays.note(1ms, start);
    delays.note(8ms, at(299s));
    BOOST_TEST((delays.shortest() == 1ms));
    delays.note(8ms, at(300s));
    BOOST_TEST((delays.shortest() == 1ms));
    delays.note(8ms, at(599s));
    BOOST_TEST((delays.shortest() == 1ms));
    delays.note(8ms, at(600s));
    BOOST_TEST((delays.shortest() == 8ms));
}

BOOST_AUTO_TEST_SUITE_END()
