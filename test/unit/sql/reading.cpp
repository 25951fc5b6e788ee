#include "sql/reading.hpp"
#include "unit/sql/table.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace holdfast;
using namespace holdfast::sql;
using holdfast::test::table;
using kind = question::kind;

namespace {

BOOST_AUTO_TEST_SUITE(sql_reading)

BOOST_AUTO_TEST_CASE(answers_are_read_in_any_order)
{
    const auto found = answer_in(action::want, 4,
        table(8,
            {{"2", "q", "500", "1", "2", "3", "-70", ""}, {"1", "g", "500", "10", "20", "", "", ""},
                {"4", "r", "500", "", "", "", "2000000", ""},
                {"3", "l", "500", "", "", "", "", ""}}));
    BOOST_REQUIRE(found.has_value());
    BOOST_TEST(found->clock == 500);
    BOOST_REQUIRE(found->rows.size() == 4u);
    BOOST_TEST(found->rows[0].entry == 1u);
    BOOST_TEST((found->rows[0].what == finding::queued));
    BOOST_TEST(found->rows[0].ahead == 3);
    BOOST_TEST((found->rows[0].free_in == -70us));
    BOOST_TEST((found->rows[1].what == finding::granted));
    BOOST_TEST((found->rows[1].tokens == sql::token_block{10, 20}));
    BOOST_TEST((found->rows[2].what == finding::refused));
    BOOST_TEST(found->rows[2].ahead == sql::row::no_place);
    BOOST_TEST((found->rows[2].free_in == 2s));
    BOOST_TEST((found->rows[3].what == finding::locked));

    const auto back =
        answer_in(action::give_back, 3, table(3, {{"1", "f", ""}, {"2", "w", ""}, {"3", "n", ""}}));
    BOOST_REQUIRE(back.has_value());
    BOOST_TEST((back->rows[0].what == finding::released));
    BOOST_TEST((back->rows[1].what == finding::left));
    BOOST_TEST((back->rows[2].what == finding::gone));

    const auto renewed =
        answer_in(action::renew, 3, table(2, {{"1", "k"}, {"2", "x"}, {"3", "o"}}));
    BOOST_REQUIRE(renewed.has_value());
    BOOST_TEST((renewed->rows[0].what == finding::renewed));
    BOOST_TEST(!renewed->rows[0].others_wait);
    BOOST_TEST((renewed->rows[1].what == finding::lost));
    BOOST_TEST((renewed->rows[2].what == finding::renewed));
    BOOST_TEST(renewed->rows[2].others_wait);

    const auto watched =
        answer_in(action::watch, 3, table(2, {{"1", "k"}, {"2", "x"}, {"3", "o"}}));
    BOOST_REQUIRE(watched.has_value());
    BOOST_TEST((watched->rows[0].what == finding::kept));
    BOOST_TEST((watched->rows[1].what == finding::lost));
    BOOST_TEST((watched->rows[2].what == finding::kept));
    BOOST_TEST(watched->rows[2].others_wait);
}

BOOST_AUTO_TEST_CASE(other_tables_are_no_answers)
{
    BOOST_TEST(!answer_in(action::renew, 1, table(2)).has_value());
    BOOST_TEST(!answer_in(action::renew, 1, table(3, {{"1", "k", ""}})).has_value());
    for (const std::string ordinal : {"0", "2", "-1", "", "x", "99999999999999999999"})
        BOOST_TEST(!answer_in(action::renew, 1, table(2, {{ordinal, "k"}})).has_value());
    for (const std::string letter : {"", "g", "kk", "K"})
        BOOST_TEST(!answer_in(action::renew, 1, table(2, {{"1", letter}})).has_value());
    for (const auto& [first, last] : {std::pair{"", ""}, {"5", "4"}, {"0", "4"}, {"-1", "4"}})
        BOOST_TEST(!answer_in(action::want, 1, table(8, {{"1", "g", "1", first, last, "", "", ""}}))
                        .has_value());
    BOOST_TEST(
        !answer_in(action::want, 1, table(8, {{"1", "l", "", "", "", "", "", ""}})).has_value());
    const auto far = answer_in(
        action::want, 1, table(8, {{"1", "r", "1", "", "", "", "9223372036854775807", ""}}));
    BOOST_REQUIRE(far.has_value());
    BOOST_TEST((far->rows[0].free_in > 24h));
}

BOOST_AUTO_TEST_CASE(replies_are_read)
{
    const auto look =
        reply_in(kind::look, table(7, {{"61ff", "A@c", "1500000", "20", "3", "B@d C D@e", "f"}}));
    BOOST_REQUIRE((look && look->rows.size() == 1u));
    const sql::sight& seen = look->rows[0];
    BOOST_TEST(seen.resource == "a\xff");
    BOOST_TEST(seen.owner == "A@c");
    BOOST_TEST((seen.left == 1500ms));
    BOOST_TEST(seen.fence == 20u);
    BOOST_TEST(seen.waiting == 3u);
    BOOST_TEST(seen.waiters == (std::vector<std::string>{"B@d", "C", "D@e"}),
        boost::test_tools::per_element());
    BOOST_TEST(reply_in(kind::look, table(7)).value().rows.empty());

    const auto page = reply_in(kind::page,
        table(7, {{"61", "A", "1", "2", "0", "", "f"}, {"62", "", "", "2", "0", "", "t"}}));
    BOOST_REQUIRE(page.has_value());
    BOOST_TEST(page->rows.size() == 1u);
    BOOST_TEST(page->more);
    BOOST_TEST(page->last == "b");

    for (const auto& [letter, found] : {std::pair{"f", finding::released}, {"w", finding::left},
             {"n", finding::gone}, {"l", finding::locked}})
        BOOST_TEST(
            (reply_in(kind::take, table(4, {{"1", letter, "", ""}})).value().taken == found));
    BOOST_TEST(reply_in(kind::tell, table(1, {{""}})).has_value());
}

BOOST_AUTO_TEST_CASE(other_tables_are_no_replies)
{
    BOOST_TEST(!reply_in(kind::look, table(6)).has_value());
    BOOST_TEST(!reply_in(kind::take, table(4)).has_value());
    BOOST_TEST(!reply_in(kind::take, table(4, {{"1", "x", "", ""}})).has_value());
    const std::vector<std::string> row{"61", "A", "1", "2", "0", "", "f"};
    BOOST_TEST(!reply_in(kind::look, table(7, {row, row})).has_value());
    BOOST_TEST(
        !reply_in(kind::page, table(7, std::vector(sql::most_in_page + 1, row))).has_value());
    for (const auto& [column, text] :
        {std::pair{0, "6"}, {0, "6x"}, {3, ""}, {3, "-1"}, {4, "x"}, {4, "-1"}}) {
        auto bad = row;
        bad[static_cast<std::size_t>(column)] = text;
        BOOST_TEST(!reply_in(kind::page, table(7, {bad})).has_value(), text);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
