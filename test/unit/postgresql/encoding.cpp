#include "postgresql/encoding.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace holdfast;
using namespace holdfast::postgresql_store;
using sql::action;
using kind = sql::question::kind;

namespace {

BOOST_AUTO_TEST_SUITE(postgresql_encoding)

BOOST_AUTO_TEST_CASE(parameters_are_arrays)
{
    const std::array entries{
        sql::entry{.resource = "a\"{\\", .owner = "A@c", .ttl = 2s, .queues = true},
        sql::entry{.resource = std::string_view("\0\xff", 2),
            .owner = "B",
            .ttl = 1500us,
            .queues = false}};
    const std::vector<std::string> all{
        R"({"\\x61227b5c","\\x00ff"})", "{A@c,B}", "{2000000,1500}", "{t,f}", "77"};
    const auto check = [&](action what, std::size_t count) {
        const auto found =
            parameters_of({.what = what, .waits = true, .not_after = 77, .entries = entries});
        BOOST_TEST(found == std::vector<std::string>(
                                all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)),
            boost::test_tools::per_element());
    };
    check(action::give_back, 2);
    check(action::watch, 2);
    check(action::renew, 3);
    check(action::want, 5);
    BOOST_TEST(parameters_of({.what = action::renew})[0] == "{}");
    BOOST_TEST(bytes_text("ab") == "\\x6162");
}

BOOST_AUTO_TEST_CASE(notifications_are_read)
{
    const auto turn = turn_in("A@c 10 20");
    BOOST_REQUIRE(turn.has_value());
    BOOST_TEST(turn->owner == "A@c");
    BOOST_TEST((turn->tokens == sql::token_block{10, 20}));
    for (const std::string bad : {"", " ", "A", "A 1", "A 1 x", "A 2 1", "A  1", "A 1 2 3"})
        BOOST_TEST(!turn_in(bad).has_value(), bad);
}

BOOST_AUTO_TEST_CASE(questions_have_parameters)
{
    using words = std::vector<std::string>;
    const auto check = [](const sql::question& what, const words& expected) {
        BOOST_TEST(parameters_of(what) == expected, boost::test_tools::per_element());
    };
    check({.what = kind::look, .resource = "ab"}, {"\\x6162"});
    check({.what = kind::page, .resource = "", .end = "\xff"}, {"\\x", "\\xff"});
    check({.what = kind::take, .resource = "a", .owner = "A@c", .address = "c1"},
        {R"({"\\x61"})", R"({"A@c"})", "c1"});
    // Written by hand.
    check({.what = kind::take, .resource = "a", .owner = "a \"{,\\"},
        {R"({"\\x61"})", R"({"a \"{,\\"})", "-"});
    check({.what = kind::tell, .owner = "A@c", .address = "c1"}, {"c1", "A@c"});
}

BOOST_AUTO_TEST_CASE(losses_are_read)
{
    const auto loss = loss_in("A@c taken holdfast_1");
    BOOST_REQUIRE(loss.has_value());
    BOOST_TEST(loss->owner == "A@c");
    BOOST_TEST(loss->address == "holdfast_1");
    // No answer is owed to these.
    for (const std::string& address :
        {std::string("-"), std::string(), std::string("a b"), std::string(64, 'a')})
        BOOST_TEST(loss_in("A@c taken " + address).value().address.empty(), address);
    for (const std::string bad : {"", "A@c", " taken c", "A@c taken", "A 1 2"})
        BOOST_TEST(!loss_in(bad).has_value(), bad);
    BOOST_TEST(told_in("A@c told").value() == "A@c");
    for (const std::string bad : {"", " told", "A@c", "A@c tol", "A@c taken c"})
        BOOST_TEST(!told_in(bad).has_value(), bad);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
