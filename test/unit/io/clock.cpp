#include "io/clock.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(clock_conversion)

BOOST_AUTO_TEST_CASE(an_instant_keeps_its_distance_from_now)
{
    const auto both = io::read_clocks();
    BOOST_TEST((io::to_steady(both.lease + 3s, both) == both.steady + 3s));
    BOOST_TEST((io::to_steady(both.lease - 3s, both) == both.steady - 3s));
}

BOOST_AUTO_TEST_CASE(the_ends_of_time_stay_what_they_are)
{
    using steady = std::chrono::steady_clock;
    const auto both = io::read_clocks();
    BOOST_TEST((io::to_steady(core::never, both) == steady::time_point::max()));
    BOOST_TEST((io::to_steady(core::long_ago, both) == steady::time_point::min()));
    BOOST_TEST((io::to_steady(core::long_ago) == steady::time_point::min()));
}

BOOST_AUTO_TEST_SUITE_END()
