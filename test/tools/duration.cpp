#include "holdfast/duration.hpp"

#include <boost/test/unit_test.hpp>

#include <sstream>

namespace {

using namespace std::chrono_literals;
using namespace holdfast::cli;

std::chrono::milliseconds parsed(std::string_view text)
{
    const auto result = parse_duration(text);
    return result ? result->value : -1ms;
}

} // namespace

BOOST_AUTO_TEST_SUITE(durations)

BOOST_AUTO_TEST_CASE(units)
{
    BOOST_CHECK(parsed("500ms") == 500ms);
    BOOST_CHECK(parsed("30s") == 30s);
    BOOST_CHECK(parsed("30") == 30s);
    BOOST_CHECK(parsed("1.5") == 1500ms);
    BOOST_CHECK(parsed("0.25m") == 15s);
    BOOST_CHECK(parsed("2h") == 2h);
    BOOST_CHECK(parsed("0") == 0ms);
}

BOOST_AUTO_TEST_CASE(other_text_is_refused)
{
    for (const char* text : {"", "s", "-1s", "1x", "1 s", "1s2", "s1", "1e3", "inf", "nan", "0x1",
             "1d", "99999999999h", "+1"}) {
        BOOST_TEST(!parse_duration(text), text);
        BOOST_TEST(!duration_error(text).empty());
        std::istringstream in(text);
        duration value;
        BOOST_TEST((!(in >> value) || !in.eof()), text);
    }
    BOOST_TEST(duration_error("5m").empty());
}

BOOST_AUTO_TEST_CASE(as_text)
{
    BOOST_TEST(to_text(999ms) == "999 ms");
    BOOST_TEST(to_text(1500ms) == "1.5 s");
    BOOST_TEST(to_text(2s) == "2 s");
}

BOOST_AUTO_TEST_SUITE_END()
