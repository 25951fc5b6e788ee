#include "core/overload_watch.hpp"

#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(core_overload_watch)

BOOST_AUTO_TEST_CASE(an_overload_lasts_until_a_calm_second)
{
    overload_watch w;
    BOOST_TEST((w.look_at() == never));
    BOOST_TEST(w.refused(at(0s)));
    BOOST_TEST(!w.refused(at(900ms)));
    BOOST_TEST((w.look_at() == at(1900ms)));
    BOOST_TEST(!w.ends(true, at(1900ms))); // attempts still wait
    BOOST_TEST((w.look_at() == at(2900ms)));
    BOOST_TEST(w.ends(false, at(2900ms)));
    BOOST_TEST((w.look_at() == never));
    BOOST_TEST(w.refused(at(3s)));
}

BOOST_AUTO_TEST_SUITE_END()
