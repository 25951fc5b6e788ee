// The counting of the flash sale for a browser.

#include "flash_sale_web/statistics.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>

using namespace flash_sale_web;
using namespace std::chrono_literals;

namespace {

const instant start{};

} // namespace

BOOST_AUTO_TEST_SUITE(flash_sale_statistics)

BOOST_AUTO_TEST_CASE(quantiles_are_recorded_durations)
{
    latencies all;
    BOOST_TEST(all.quantile(0.5).count() == 0);
    for (const int value : {5, 1, 4, 2, 3})
        all.add(microseconds(value));
    BOOST_TEST(all.quantile(0.5).count() == 3);
    BOOST_TEST(all.quantile(0.2).count() == 1);
    BOOST_TEST(all.quantile(0.21).count() == 2);
    BOOST_TEST(all.quantile(0.99).count() == 5);
    BOOST_TEST(all.quantile(1).count() == 5);
    BOOST_TEST(all.count() == 5u);
}

BOOST_AUTO_TEST_CASE(recent_latencies_forget_what_is_older_than_the_window)
{
    recent_latencies recent(5s);
    recent.add(start, 100us);
    recent.add(start + 3s, 10us);
    BOOST_TEST(recent.at(start + 5s).count() == 2u);
    BOOST_TEST(recent.at(start + 6s).count() == 1u);
    BOOST_TEST(recent.at(start + 6s).quantile(1).count() == 10);
    BOOST_TEST(recent.at(start + 9s).count() == 0u);
}

BOOST_AUTO_TEST_CASE(a_rate_is_taken_over_the_window)
{
    rate_meter meter(1s);
    BOOST_TEST(meter.per_second() == 0);
    meter.add(start, 0);
    BOOST_TEST(meter.per_second() == 0);
    meter.add(start + 500ms, 100);
    BOOST_TEST(meter.per_second() == 200); // the time since the first total
    for (int i = 2; i <= 6; ++i)
        meter.add(start + i * 500ms, 100);
    BOOST_TEST(meter.per_second() == 0); // nothing in the last second
    meter.add(start + 3500ms, 150);
    BOOST_TEST(meter.per_second() == 50);
}

BOOST_AUTO_TEST_CASE(orders_are_due_at_the_rate_however_late_they_begin)
{
    pace ten(10, start);
    BOOST_TEST((ten.next() == start));
    BOOST_TEST((ten.next() == start + 100ms));
    BOOST_TEST((ten.next() == start + 200ms));
    ten.restart(start + 7s);
    BOOST_TEST((ten.next() == start + 7s));
    BOOST_TEST((ten.next() == start + 7100ms));
}

BOOST_AUTO_TEST_CASE(an_order_without_an_item_is_oversold)
{
    BOOST_TEST((round_count{.initial = 10, .left = 4, .orders = 6}.oversold()) == 0);
    BOOST_TEST((round_count{.initial = 10, .left = 4, .orders = 9}.oversold()) == 3);
    BOOST_TEST((round_count{.initial = 10, .left = 0, .orders = 25}.oversold()) == 15);
}

BOOST_AUTO_TEST_CASE(the_ledger_keeps_rounds_with_and_without_the_lock_apart)
{
    ledger books;
    books.update({.item = 1, .locked = true, .initial = 10, .left = 5, .orders = 5});
    books.update({.item = 2, .locked = false, .initial = 10, .left = 8, .orders = 6});
    books.update({.item = 1, .locked = true, .initial = 10, .left = 3, .orders = 7}); // replaces
    BOOST_TEST(books.of(true).orders == 7);
    BOOST_TEST(books.of(true).oversold == 0);
    BOOST_TEST(books.of(true).rounds == 1);
    BOOST_TEST(books.of(false).orders == 6);
    BOOST_TEST(books.of(false).oversold == 4);
}

BOOST_AUTO_TEST_CASE(a_settled_round_stays_in_the_totals)
{
    ledger books;
    books.update({.item = 1, .locked = true, .initial = 10, .left = 0, .orders = 10});
    books.update({.item = 2, .locked = false, .initial = 10, .left = 0, .orders = 30});
    books.settle(1);
    books.settle(2);
    books.settle(2); // again: nothing happens
    books.update({.item = 3, .locked = false, .initial = 5, .left = 5, .orders = 0});
    BOOST_TEST(books.of(true).orders == 10);
    BOOST_TEST(books.of(false).orders == 30);
    BOOST_TEST(books.of(false).oversold == 20);
    BOOST_TEST(books.of(false).rounds == 2);
}

BOOST_AUTO_TEST_SUITE_END()
