#include "io/suspension_watch.hpp"

#include "support/times.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast;
using namespace holdfast::test;
using namespace std::chrono_literals;

namespace {

struct watch_fixture {
    io::suspension_watch watch;
    // The lease clock is ahead of the steady clock by this.
    void look(core::duration apart)
    {
        using steady = std::chrono::steady_clock;
        watch.look({steady::time_point(1000h), core::time_point(1000h + apart)});
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(io_suspension_watch, watch_fixture)

BOOST_AUTO_TEST_CASE(a_suspension_counts_once)
{
    for (const core::duration apart : {5s, 5s, 65s, 65s, 65s})
        look(apart);
    BOOST_TEST(watch.count() == 1u);
    look(70s);
    look(70s);
    BOOST_TEST(watch.count() == 2u);
}

// The thread was interrupted between its readings of the two clocks.
BOOST_AUTO_TEST_CASE(an_interruption_is_no_suspension)
{
    for (const core::duration apart : {core::duration(5s), core::duration(6s), core::duration(5s),
             core::duration(7s), core::duration(5s + 10ms), core::duration(5s + 60ms)})
        look(apart);
    BOOST_TEST(watch.count() == 0u);
}

// The first look may be interrupted as well.
BOOST_AUTO_TEST_CASE(the_least_distance_is_the_true_one)
{
    for (const core::duration apart : {10s, 5s, 8s, 8s})
        look(apart);
    BOOST_TEST(watch.count() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
