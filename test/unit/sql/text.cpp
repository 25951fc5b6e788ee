#include "sql/text.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace holdfast::sql;

namespace {

BOOST_AUTO_TEST_SUITE(sql_text)

BOOST_AUTO_TEST_CASE(texts_become_one_short_line)
{
    BOOST_TEST(one_line("a\tb\nc") == "a b");
    BOOST_TEST(one_line(std::string(1000, 'x')).size() == 200u);
    BOOST_TEST(one_line("").empty());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
