#include <holdfast/histogram.hpp>

#include <boost/test/unit_test.hpp>

#include <limits>

using holdfast::histogram;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(histograms)

std::size_t bucket_of(histogram::duration d)
{
    histogram h;
    h.record(d);
    for (std::size_t i = 0; i < histogram::buckets; ++i) {
        if (h.in(i) == 1)
            return i;
    }
    return histogram::buckets;
}

// An upper bound belongs to its bucket, as the format of Prometheus requires.
BOOST_AUTO_TEST_CASE(bounds_belong_to_their_buckets)
{
    BOOST_TEST((histogram::bound(0) == 1024ns));
    BOOST_TEST((histogram::bound(10) == 1'048'576ns));
    for (std::size_t i = 0; i < histogram::bounds; ++i) {
        BOOST_TEST(bucket_of(histogram::bound(i)) == i);
        BOOST_TEST(bucket_of(histogram::bound(i) + 1ns) == i + 1);
        BOOST_TEST(bucket_of(histogram::bound(i) - 1ns) == i);
    }
}

BOOST_AUTO_TEST_CASE(extreme_durations)
{
    BOOST_TEST(bucket_of(0ns) == 0u);
    BOOST_TEST(bucket_of(-5s) == 0u);
    BOOST_TEST(bucket_of(histogram::duration::min()) == 0u);
    BOOST_TEST(bucket_of(histogram::duration::max()) == histogram::bounds);
    histogram h;
    h.record(-5s);
    BOOST_TEST((h.sum() == 1ns));
    BOOST_TEST(h.count() == 1u);
}

// 292 years in nanoseconds: ten thousand leases of a week each have reached that.
BOOST_AUTO_TEST_CASE(a_sum_beyond_64_bits_of_nanoseconds)
{
    histogram h;
    for (int i = 0; i < 200'000; ++i)
        h.record(24h + 1ns);
    BOOST_TEST(h.sum_seconds() == 200'000ull * 86'400);
    BOOST_TEST((h.sum_rest() == 200us));
    BOOST_TEST((h.sum() == histogram::duration::max()));
    h += histogram(h);
    BOOST_TEST(h.sum_seconds() == 400'000ull * 86'400);
    BOOST_TEST((h.sum_rest() == 400us));
    histogram longest;
    longest.record(histogram::duration::max());
    longest.record(histogram::duration::max());
    BOOST_TEST(longest.sum_seconds() == 2 * 4'611'686'018ull);
}

BOOST_AUTO_TEST_CASE(quantiles)
{
    histogram h;
    BOOST_TEST((h.quantile(0.5) == 0s));
    for (int i = 0; i < 99; ++i)
        h.record(100us);
    h.record(50ms);
    const histogram::duration low = histogram::bound(6), high = histogram::bound(7);
    BOOST_TEST((low < 100us && high > 100us));
    BOOST_TEST((h.quantile(0) == low));
    BOOST_TEST((h.quantile(0.495) > 97us && h.quantile(0.495) < 99us)); // half way
    BOOST_TEST((h.quantile(0.99) == high));
    BOOST_TEST((h.quantile(0.991) > 33ms));
    BOOST_TEST((h.quantile(1) == histogram::bound(16)));
    BOOST_TEST((h.quantile(7) == histogram::bound(16)));
    BOOST_TEST((h.quantile(-7) == low));
    BOOST_TEST((h.quantile(std::numeric_limits<double>::quiet_NaN()) == low));
    histogram longest;
    longest.record(48h);
    BOOST_TEST((longest.quantile(0.5) == histogram::bound(histogram::bounds - 1)));
}

BOOST_AUTO_TEST_CASE(sums_of_histograms)
{
    histogram a, b, both;
    for (const auto d : {1us, 5us, 5us}) {
        a.record(d);
        both.record(d);
    }
    for (const histogram::duration d : {histogram::duration(5us), histogram::duration(20h)}) {
        b.record(d);
        both.record(d);
    }
    BOOST_TEST((a != both));
    a += b;
    BOOST_TEST((a == both));
    BOOST_TEST(a.count() == 5u);
    BOOST_TEST((a.sum() == 16us + 20h));
}

BOOST_AUTO_TEST_SUITE_END()
