#include "core/backoff.hpp"

#include "support/printing.hpp"
#include "support/times.hpp"

#include <holdfast/options.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <climits>

using namespace holdfast::core;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(core_backoff)

// A pause is random, from zero to a limit. The limit starts at retry_min and doubles after each
// failure, up to retry_max.
BOOST_AUTO_TEST_CASE(limits)
{
    jitter random(1);
    for (const unsigned failures : {0u, 1u, 2u, 3u, 5u, 30u, 31u, 32u, 1000u, UINT_MAX}) {
        const duration limit = failures <= 1 ? 8ms
                               : failures < 8
                                   ? std::min<duration>(8ms * (1 << (failures - 1)), 100ms)
                                   : 100ms;
        duration shortest = 1h, longest{};
        for (int i = 0; i < 1000; ++i) {
            const duration d = backoff(failures, 8ms, 100ms, random);
            shortest = std::min(shortest, d);
            longest = std::max(longest, d);
        }
        BOOST_TEST(longest <= limit);
        BOOST_TEST(longest > limit * 9 / 10); // the whole range is used
        BOOST_TEST(shortest >= duration(0));
        BOOST_TEST(shortest < limit / 10);
    }
}

// The largest settings do not overflow.
BOOST_AUTO_TEST_CASE(large_settings)
{
    jitter random(1);
    for (unsigned failures = 0; failures < 70; ++failures)
        BOOST_TEST(backoff(failures, 1h, 1h, random) <= duration(1h));
}

// The same seed gives the same numbers. Limits in the wrong order give the lower one.
BOOST_AUTO_TEST_CASE(jitter_is_repeatable)
{
    jitter a(7), b(7), c(8);
    const auto first = a.next();
    BOOST_TEST(first == b.next());
    BOOST_TEST(first != c.next());
    BOOST_TEST(a.between(5ms, 4ms) == duration(5ms));
    BOOST_TEST(a.between(5ms, 5ms) == duration(5ms));
    for (int i = 0; i < 1000; ++i) {
        const duration d = a.between(5ms, 6ms);
        BOOST_TEST((d >= duration(5ms) && d <= duration(6ms)));
    }
}

// `later` saturates at `never`.
BOOST_AUTO_TEST_CASE(later_does_not_overflow)
{
    using holdfast::test::at;
    BOOST_TEST(later(at(0ms), 5ms) == at(5ms));
    BOOST_TEST(later(at(0ms), holdfast::forever) == never);
    BOOST_TEST(later(never, 0ms) == never);
    BOOST_TEST(later(never - 1ms, 1h) == never);
}

BOOST_AUTO_TEST_SUITE_END()
