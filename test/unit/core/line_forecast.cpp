// Which newcomers are refused because they could not be admitted within their wait.
#include "core/line_forecast.hpp"

#include "support/printing.hpp"
#include "support/times.hpp"

#include <holdfast/options.hpp>

#include <boost/test/unit_test.hpp>

using namespace holdfast::core;
using namespace holdfast::test;
using namespace std::chrono_literals;

namespace {

struct forecast_fixture {
    line_forecast line;
    time_point now = start;

    // One admission a millisecond.
    void admit(int count)
    {
        for (; count != 0; --count) {
            now += 1ms;
            line.admitted(now);
        }
    }
    bool refuses(std::size_t length, std::chrono::milliseconds wait) const
    {
        return line.refuses(length, wait, now);
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(core_line_forecast, forecast_fixture)

BOOST_AUTO_TEST_CASE(nobody_is_refused_before_the_rate_is_known)
{
    line.began(now);
    admit(50);
    BOOST_TEST(!refuses(1'000'000, 1ms));
}

// It may be served within its wait: the rate still grows.
BOOST_AUTO_TEST_CASE(a_burst_refuses_nobody_while_the_rate_grows)
{
    line.began(now);
    admit(150);
    BOOST_TEST(!refuses(1'000'000, 1s));
}

BOOST_AUTO_TEST_CASE(a_burst_refuses_those_that_cannot_be_admitted_within_their_whole_wait)
{
    line.began(now);
    admit(300); // 1,000 a second
    BOOST_TEST(!refuses(999, 1s));
    BOOST_TEST(refuses(1'001, 1s));
}

BOOST_AUTO_TEST_CASE(a_line_that_stands_for_longer_than_a_wait_is_kept_short)
{
    line.began(now);
    admit(1000); // 1,000 a second
    BOOST_TEST(!refuses(249, 1s));
    BOOST_TEST(refuses(251, 1s));
    BOOST_TEST(!refuses(9'999, 10s)); // for this one it is a burst
    BOOST_TEST(!refuses(1'000'000'000, holdfast::forever));
    line.ended();
    line.began(now);
    BOOST_TEST(!refuses(251, 1s));
}

// The nodes stand still for two seconds: what waits can be served after that.
BOOST_AUTO_TEST_CASE(an_outage_does_not_count_as_a_low_rate)
{
    line.began(now);
    admit(1000);
    now += 2s;
    line.admitted(now);
    BOOST_TEST(!refuses(470, 2s));
    BOOST_TEST(refuses(480, 2s));
}

// All answers of the first attempts come together: the rate is not known before the next window.
BOOST_AUTO_TEST_CASE(admissions_of_one_instant_make_no_low_rate)
{
    line.began(now);
    now += 120ms;
    for (int i = 0; i < 128; ++i)
        line.admitted(now);
    BOOST_TEST(!refuses(60, 100ms));
}

BOOST_AUTO_TEST_CASE(a_rate_that_is_not_reached_any_more_is_forgotten)
{
    line.began(now);
    admit(200);
    for (int i = 0; i < 100; ++i) { // 10 a second
        now += 100ms;
        line.admitted(now);
    }
    BOOST_TEST(refuses(30, 10s));
}

BOOST_AUTO_TEST_SUITE_END()
