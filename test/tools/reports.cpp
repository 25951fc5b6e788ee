// Words and JSON for what nodes say.
#include "holdfast/reports.hpp"
#include "holdfast/text.hpp"
#include "holdfast/top_page.hpp"

#include <boost/test/unit_test.hpp>

namespace {

using namespace holdfast;
using namespace holdfast::cli;
using namespace std::chrono_literals;

listed_lock lock_of(const std::string& name, int age, std::chrono::milliseconds left)
{
    listed_lock lock;
    lock.resource = name;
    lock.owner.emplace();
    lock.owner->since = std::chrono::system_clock::time_point(1'000'000s - age * 1s);
    lock.ttl_left = left;
    return lock;
}

std::string order_of(top_page& page, top_order order)
{
    page.order = order;
    page.sort();
    std::string listed;
    for (const listed_lock& each : page.found.locks)
        listed += each.resource;
    return listed;
}

} // namespace

BOOST_AUTO_TEST_SUITE(cli_reports)

BOOST_AUTO_TEST_CASE(nothing_can_command_the_terminal)
{
    BOOST_TEST(visible("plain \\ text, \xc3\xa4\xe4\xba\xba\xf0\x9f\x98\x80") ==
               "plain \\ text, \xc3\xa4\xe4\xba\xba\xf0\x9f\x98\x80");
    BOOST_TEST(visible(std::string_view("\x1b[2J\n\t\0\x7f", 8)) == "\\x1b[2J\\x0a\\x09\\x00\\x7f");
    BOOST_TEST(visible("\xc2\x9b") == "\\u009b"); // CSI in one character
    BOOST_TEST(visible("\x9b") == "\\x9b");       // the same in other encodings
    BOOST_TEST(visible("a\xe2\x80\xae"
                       "b") == "a\\u202eb");                                    // right to left
    BOOST_TEST(visible("\xc0\xaf\xed\xa0\x80") == "\\xc0\\xaf\\xed\\xa0\\x80"); // no UTF-8
    BOOST_TEST(visible("\xe4\xba") == "\\xe4\\xba");                            // cut off
    BOOST_TEST(visible("\xf3\xa0\x80\x81") == "\\U000e0001");                   // a tag
}

BOOST_AUTO_TEST_CASE(json_is_utf8)
{
    BOOST_TEST(utf8("a\xff\xe4\xba") == "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    BOOST_TEST(utf8("\xe4\xba\xba\xc2\x9b\x1b") == "\xe4\xba\xba\xc2\x9b\x1b");
}

BOOST_AUTO_TEST_CASE(columns)
{
    BOOST_TEST(columns_of("ab\xc3\xa4\xe4\xba\xba") == 5u);
    BOOST_TEST(clipped("ab\xe4\xba\xba", 3) == "ab");
    BOOST_TEST(clipped("ab\xe4\xba\xba", 4) == "ab\xe4\xba\xba");
    table all;
    all.add({{"name"}, {"x"}});
    all.add({{"n"}, {""}, {"last"}});
    const console out(console::settings{});
    const std::vector<std::string> whole{"name  x", "n        last"}, cut{"name", "n"};
    BOOST_TEST(all.lines(out) == whole, boost::test_tools::per_element());
    BOOST_TEST(all.lines(out, 6) == cut, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(lengths_of_time)
{
    BOOST_TEST(brief(350ms) == "350ms");
    BOOST_TEST(brief(12'550ms) == "12.5s");
    BOOST_TEST(brief(12s) == "12s");
    BOOST_TEST(brief(4min + 5s) == "4m05s");
    BOOST_TEST(brief(2h + 3min) == "2h03m");
    BOOST_TEST(brief(76h) == "3d04h");
    const auto now = std::chrono::system_clock::now();
    BOOST_TEST(age_of(now + 5s, now) == "0s");
    BOOST_TEST(age_of(now - 65s, now) == "1m05s");
    BOOST_TEST(time_left(std::nullopt, true) == "no ttl");
    BOOST_TEST(time_left(std::nullopt, false) == "-");
}

BOOST_AUTO_TEST_CASE(orders)
{
    top_page page;
    page.found.locks = {lock_of("b", 10, 1s), lock_of("a", 5, 2s), lock_of("c", 20, 3s)};
    page.found.locks.emplace_back().resource = "d"; // without an owner
    page.queues = {{"a", 0}, {"b", 2}, {"c", 1}};
    BOOST_TEST(order_of(page, top_order::age) == "cbad");
    BOOST_TEST(order_of(page, top_order::ttl) == "bacd");
    BOOST_TEST(order_of(page, top_order::queue) == "bcad");
    BOOST_TEST(order_of(page, top_order::name) == "abcd");
    const console out(console::settings{});
    BOOST_TEST(lines_of(page, out, 6, 10, "keys").size() == 6u);
    BOOST_TEST(lines_of(page, out, 1, 10, "keys").size() == 1u);
    for (const std::string& line : lines_of(page, out, 6, 10, "keys"))
        BOOST_TEST(line.size() <= 10u);
}

BOOST_AUTO_TEST_SUITE_END()
