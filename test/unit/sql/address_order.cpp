#include "sql/address_order.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using holdfast::sql::address_order;
using strings = std::vector<std::string>;

namespace {

BOOST_AUTO_TEST_SUITE(sql_address_order)

BOOST_AUTO_TEST_CASE(each_try_in_vain_puts_the_next_address_first)
{
    address_order order;
    const strings all{"a", "b", "c"};
    BOOST_TEST(order.begin(0, all) == (strings{"a", "b", "c"}));
    BOOST_TEST(order.begin(0, all) == (strings{"b", "c", "a"}));
    BOOST_TEST(order.begin(1, all) == (strings{"a", "b", "c"}));
    BOOST_TEST(order.begin(0, strings{"a", "b"}) == (strings{"a", "b"}));
    BOOST_TEST(order.begin(0, strings{}).empty());
}

BOOST_AUTO_TEST_CASE(a_try_that_succeeds_keeps_the_order)
{
    address_order order;
    const strings all{"silent", "good"};
    order.begin(0, all);
    for (int i = 0; i < 3; ++i) {
        BOOST_TEST(order.begin(0, all) == (strings{"good", "silent"}));
        order.worked(0);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
