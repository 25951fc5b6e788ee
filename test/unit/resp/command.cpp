#include "resp/command.hpp"

#include "resp/reader.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>
#include <vector>

using namespace holdfast::resp;
using namespace std::string_view_literals;

BOOST_AUTO_TEST_SUITE(resp_command)

// A command is written as an array of its arguments, exactly as the protocol says. It is appended.
BOOST_AUTO_TEST_CASE(appends_an_array_of_blob_strings)
{
    std::string out = "before";
    append_command(out, {"SET", "key", "", "NX"});
    BOOST_TEST(out == "before*4\r\n$3\r\nSET\r\n$3\r\nkey\r\n$0\r\n\r\n$2\r\nNX\r\n");
}

// The two forms of an argument list, and the piecewise form, give the same bytes.
BOOST_AUTO_TEST_CASE(all_forms_give_the_same_bytes)
{
    const std::vector<std::string_view> arguments = {"PEXPIRE", "stock:A", "10000"};
    std::string listed, spanned, pieced;

    append_command(listed, {"PEXPIRE", "stock:A", "10000"});
    append_command(spanned, std::span<const std::string_view>(arguments));
    append_array_header(pieced, 3);
    append_blob(pieced, "PEXPIRE"sv);
    append_blob(pieced, "stock:A"sv);
    append_blob(pieced, std::int64_t{10000});

    BOOST_TEST(spanned == listed);
    BOOST_TEST(pieced == listed);
}

// Numbers are written in full at both ends of their range, with the right length.
BOOST_AUTO_TEST_CASE(numbers_over_their_whole_range)
{
    std::string out;
    append_blob(out, std::int64_t{0});
    append_blob(out, std::int64_t{-7});
    append_blob(out, std::numeric_limits<std::int64_t>::max());
    append_blob(out, std::numeric_limits<std::int64_t>::min());
    append_array_header(out, std::numeric_limits<std::size_t>::max());
    BOOST_TEST(out == "$1\r\n0\r\n$2\r\n-7\r\n$19\r\n9223372036854775807\r\n"
                      "$20\r\n-9223372036854775808\r\n*18446744073709551615\r\n");
}

// An argument may contain any byte: a name cannot inject a second command.
BOOST_AUTO_TEST_CASE(arguments_may_contain_any_byte)
{
    std::string every_byte;
    for (int byte = 0; byte < 256; ++byte)
        every_byte.push_back(static_cast<char>(byte));
    const std::vector<std::string_view> arguments = {
        "GET", "a\r\nFLUSHALL\r\n", "$3\r\nDEL\r\n*1\r\n", "\0'\" \\"sv, every_byte};

    std::string out;
    append_command(out, arguments);

    reader back;
    back.feed(out);
    BOOST_REQUIRE(back.next() == reader::status::reply);
    BOOST_REQUIRE(back.reply().size() == arguments.size() + 1);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        BOOST_TEST((back.reply()[i + 1].kind == value_kind::blob_string));
        BOOST_TEST((back.reply()[i + 1].text == arguments[i]));
    }
    BOOST_TEST((back.next() == reader::status::need_more));
}

BOOST_AUTO_TEST_SUITE_END()
