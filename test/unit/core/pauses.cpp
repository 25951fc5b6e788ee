// The random pauses between attempts.
#include "core/pauses.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace holdfast;
using namespace holdfast::core;
using namespace std::chrono_literals;

namespace {

// The longest of many pauses. None may be shorter than `least`.
template <class Pause>
duration longest_of(duration least, Pause pause)
{
    duration found{};
    for (int i = 0; i < 2000; ++i) {
        const duration d = pause();
        BOOST_REQUIRE((d >= least));
        found = std::max(found, d);
    }
    return found;
}

bool nearly(duration found, duration limit)
{
    return found <= limit && found > limit - limit / 50;
}

} // namespace

BOOST_AUTO_TEST_SUITE(core_pauses)

BOOST_AUTO_TEST_CASE(a_pause_doubles_with_each_failure)
{
    pauses p(8ms, 128ms, 1);
    const auto after = [&](unsigned failures) {
        return longest_of(
            0ms, [&] { return p.after_failure(failures, errc::unreachable, duration(0)); });
    };
    BOOST_TEST(nearly(after(1), 8ms));
    BOOST_TEST(nearly(after(2), 16ms));
    BOOST_TEST(nearly(after(9), 128ms));
}

// An attempt that lasts long keeps others out for long, if the resource is contended.
BOOST_AUTO_TEST_CASE(a_pause_grows_with_a_slow_refusal)
{
    pauses p(8ms, 128ms, 1);
    const auto after = [&](unsigned failures, errc reason) {
        return longest_of(0ms, [&] { return p.after_failure(failures, reason, 40ms); });
    };
    BOOST_TEST(nearly(after(1, errc::contended), 40ms));
    BOOST_TEST(nearly(after(9, errc::contended), 320ms));
    BOOST_TEST(nearly(after(1, errc::unreachable), 8ms));
    BOOST_TEST(nearly(after(9, errc::unreachable), 128ms));
}

BOOST_AUTO_TEST_CASE(the_other_pauses_stay_in_their_ranges)
{
    pauses p(8ms, 128ms, 1);
    BOOST_TEST(nearly(longest_of(4ms, [&] { return p.after_turns(); }), 8ms));
    BOOST_TEST(nearly(longest_of(0ms, [&] { return p.after_free(); }), 8ms));
    BOOST_TEST(nearly(longest_of(500ms, [&] { return p.without_room(); }), 1s));
}

BOOST_AUTO_TEST_SUITE_END()
