#include <holdfast/guarded_write.hpp>

#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>
#include <vector>

using namespace holdfast;
using words = std::vector<std::string>;

BOOST_AUTO_TEST_SUITE(guarded_write_test)

BOOST_AUTO_TEST_CASE(the_fence_key_and_the_token_come_first)
{
    const guarded_write made = guarded_set("stock:A:fence", 17, "stock:A", "5");
    BOOST_TEST(made.keys == (words{"stock:A:fence", "stock:A"}));
    BOOST_TEST(made.arguments == (words{"17", "5"}));
}

BOOST_AUTO_TEST_CASE(a_command_contains_the_number_of_keys)
{
    const guarded_write made = guarded_run("f", 17, "return 1", {"a", "b"}, {"x"});
    BOOST_TEST(made.command() == (words{"EVAL", made.script, "3", "f", "a", "b", "17", "x"}));
    BOOST_TEST(made.script.ends_with(" return 1"));
}

BOOST_AUTO_TEST_CASE(keys_and_values_may_contain_any_byte)
{
    const std::string value("a\r\n\0b", 5);
    const guarded_write made = guarded_set("f", 17, "k\r\n", value);
    const std::string expected =
        "*7\r\n$4\r\nEVAL\r\n$" + std::to_string(made.script.size()) + "\r\n" + made.script +
        "\r\n$1\r\n2\r\n$1\r\nf\r\n$3\r\nk\r\n\r\n$2\r\n17\r\n$5\r\n" + value + "\r\n";
    BOOST_TEST(made.encoded() == expected);
}

BOOST_AUTO_TEST_CASE(the_largest_numbers_are_written_in_full)
{
    const guarded_write made =
        guarded_take("f", largest_guarded_number, "k", largest_guarded_number);
    BOOST_TEST(made.arguments == (words{"9007199254740991", "9007199254740991"}));
}

BOOST_AUTO_TEST_CASE(a_lease_without_a_token_is_refused)
{
    BOOST_CHECK_THROW(guarded_get("f", std::nullopt, "k"), std::invalid_argument);
    BOOST_CHECK_THROW(guarded_set("f", std::nullopt, "k", "v"), std::invalid_argument);
    BOOST_CHECK_THROW(guarded_take("f", std::nullopt, "k", 1), std::invalid_argument);
    BOOST_CHECK_THROW(guarded_run("f", std::nullopt, "return 1", {}, {}), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(numbers_that_lua_cannot_hold_are_refused)
{
    BOOST_CHECK_THROW(guarded_get("f", 0, "k"), std::invalid_argument);
    BOOST_CHECK_THROW(guarded_get("f", largest_guarded_number + 1, "k"), std::invalid_argument);
    BOOST_CHECK_THROW(guarded_take("f", 1, "k", largest_guarded_number + 1), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(the_fence_key_must_differ_from_other_keys)
{
    BOOST_CHECK_THROW(guarded_set("k", 1, "k", "v"), std::invalid_argument);
    BOOST_CHECK_THROW(guarded_run("k", 1, "return 1", {"a", "k"}, {}), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
