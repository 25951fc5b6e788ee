#include "resp/reply_builder.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>
#include <string>

namespace holdfast::resp {
namespace {

struct builder_fixture {
    reply_builder builder{7, 2}; // values, depth

    bool add(std::string_view text) { return builder.add({value_kind::blob_string, 0, 0, text}); }
    // True if the reply is whole.
    bool begin(char type, std::uint64_t declared)
    {
        BOOST_TEST(builder.begin(type, declared) == "");
        return builder.is_whole();
    }
    std::string texts() const
    {
        std::string all;
        for (const value& v : builder.values())
            all += v.text.empty() ? std::to_string(v.count) + " " : std::string(v.text) + " ";
        return all;
    }
};

BOOST_FIXTURE_TEST_SUITE(resp_reply_builder, builder_fixture)

// A value alone is a reply; an aggregate is one when its last element is complete.
BOOST_AUTO_TEST_CASE(whole_replies)
{
    BOOST_TEST(add("a"));
    builder.clear();
    BOOST_TEST(begin('*', 0));
    builder.clear();
    BOOST_TEST(!begin('%', 1));
    BOOST_TEST(!add("key"));
    BOOST_TEST(!begin('~', 2));
    BOOST_TEST(!add("a"));
    BOOST_TEST(add("b"));
    BOOST_TEST(texts() == "2 key 2 a b ");
    BOOST_TEST((builder.values()[0].kind == value_kind::map));
    BOOST_TEST((builder.values()[2].kind == value_kind::set));
    builder.clear();
    BOOST_TEST(!begin('*', 2));
    BOOST_TEST(!begin('*', 0));
    BOOST_TEST(begin('*', 0));
    BOOST_TEST(texts() == "2 0 0 ");
}

// An attribute leaves nothing behind, and the value that it describes is still to come.
BOOST_AUTO_TEST_CASE(attributes)
{
    BOOST_TEST(!begin('|', 1));
    BOOST_TEST(!add("key"));
    BOOST_TEST(!add("value"));
    BOOST_TEST(add("a"));
    BOOST_TEST(texts() == "a ");
    builder.clear();
    BOOST_TEST(!begin('|', 0));
    BOOST_TEST(!begin('*', 1));
    BOOST_TEST(add("b"));
    BOOST_TEST(texts() == "1 b ");
}

// Values count when they are declared, and what was dropped counts too.
BOOST_AUTO_TEST_CASE(too_many_values)
{
    constexpr auto refusal = "a reply with too many elements";
    BOOST_TEST(builder.begin('*', 7) == refusal);
    BOOST_TEST(builder.begin('%', 4) == refusal);
    BOOST_TEST(builder.begin('*', std::numeric_limits<std::uint64_t>::max()) == refusal);
    BOOST_TEST(!begin('*', 3));
    BOOST_TEST(builder.begin('*', 4) == refusal);
    BOOST_TEST(!begin('*', 3));
    builder.clear();
    BOOST_TEST(!begin('|', 2));
    for (int i = 0; i < 4; ++i)
        BOOST_TEST(!add("x"));
    BOOST_TEST(builder.begin('*', 2) == refusal);
    BOOST_TEST(!begin('*', 1));
    BOOST_TEST(add("a"));
}

BOOST_AUTO_TEST_CASE(values_in_the_wrong_place)
{
    BOOST_TEST(!begin('>', 2));
    BOOST_TEST(builder.begin('>', 1) == "a push inside a reply");
    BOOST_TEST(!begin('*', 1));
    BOOST_TEST(builder.begin('*', 1) == "values nested too deeply");
    builder.clear(); // in the middle of a reply
    BOOST_TEST(begin('>', 0));
}

// Texts follow the bytes that they are a part of; other values have no text.
BOOST_AUTO_TEST_CASE(texts_that_move)
{
    const std::string from = "first second", to = "FIRST SECOND";
    begin('*', 3);
    add(std::string_view(from).substr(0, 5));
    builder.add({value_kind::null, 0, 0, {}});
    add(std::string_view(from).substr(6));
    builder.move_texts(from.data(), to.data());
    BOOST_TEST(builder.values()[1].text == "FIRST");
    BOOST_TEST((builder.values()[2].text.data() == nullptr));
    BOOST_TEST(builder.values()[3].text == "SECOND");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::resp
