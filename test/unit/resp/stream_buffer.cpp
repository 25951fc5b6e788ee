#include "resp/stream_buffer.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace {

using namespace holdfast::resp;
using line = stream_buffer::line;

struct fixture {
    stream_buffer bytes;
    reply_builder texts{100, 8};
    std::string_view found; // the last line

    void feed(std::string_view more)
    {
        std::copy(more.begin(), more.end(), bytes.prepare(more.size(), texts).begin());
        bytes.commit(more.size());
    }

    line take_line(std::size_t longest = 1000) { return bytes.take_line(longest, found); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(resp_stream_buffer, fixture)

BOOST_AUTO_TEST_CASE(lines_are_taken_one_by_one)
{
    feed("+one\r\n+\r\n+thr");
    BOOST_TEST((take_line() == line::whole));
    BOOST_TEST(found == "+one");
    BOOST_TEST((take_line() == line::whole));
    BOOST_TEST(found == "+");
    BOOST_TEST((take_line() == line::incomplete));
    BOOST_TEST(bytes.rest() == "+thr");
    BOOST_TEST(bytes.taken() == 9u);
    feed("ee\r");
    BOOST_TEST((take_line() == line::incomplete));
    feed("\n");
    BOOST_TEST((take_line() == line::whole));
    BOOST_TEST(found == "+three");
    BOOST_TEST(!bytes.has_rest());
}

BOOST_AUTO_TEST_CASE(each_byte_of_a_line_is_scanned_once)
{
    bytes.prepare(100, texts); // so that nothing is moved
    const std::string text = '+' + std::string(50, 'x');
    for (const char c : text + '\r') {
        feed({&c, 1});
        BOOST_TEST((take_line() == line::incomplete));
    }
    feed("\n");
    BOOST_TEST((take_line() == line::whole));
    BOOST_TEST(found == text);
    BOOST_TEST(bytes.bytes_handled() == 50u);
}

BOOST_AUTO_TEST_CASE(a_longer_line_is_refused_however_much_has_arrived)
{
    feed("+abc\r\n");
    BOOST_TEST((take_line(3) == line::too_long));
    BOOST_TEST((take_line(4) == line::whole));
    feed("+abc");
    BOOST_TEST((take_line(4) == line::incomplete));
    feed("d");
    BOOST_TEST((take_line(4) == line::too_long));
}

BOOST_AUTO_TEST_CASE(a_line_ends_with_both_bytes)
{
    feed("+ab\n");
    BOOST_TEST((take_line() == line::without_return));
    bytes.clear();
    feed("+ab\r+");
    BOOST_TEST((take_line() == line::without_feed));
    bytes.clear();
    BOOST_TEST(!bytes.has_rest());
    feed("+new\r\n");
    BOOST_TEST((take_line() == line::whole));
    BOOST_TEST(found == "+new");
}

// Texts of the reply refer to its bytes.
BOOST_AUTO_TEST_CASE(texts_follow_the_bytes_when_the_buffer_grows)
{
    texts.begin('*', 2);
    feed("+one\r\n");
    take_line();
    texts.add({value_kind::simple_string, 0, 0, found});
    const char* const before = found.data();
    feed(std::string(100'000, 'x'));
    const std::string_view text = texts.values().back().text;
    BOOST_TEST(text == "+one");
    BOOST_TEST((text.data() != before)); // as pointers, not as strings
    BOOST_TEST(bytes.rest() == std::string(100'000, 'x'));
    BOOST_TEST(bytes.taken() == 6u);
}

BOOST_AUTO_TEST_CASE(the_space_of_earlier_replies_is_used_again)
{
    feed("+reply\r\n+re");
    const std::size_t space = bytes.prepare(0, texts).size();
    for (int i = 0; i < 10'000; ++i) {
        BOOST_REQUIRE((take_line() == line::whole));
        BOOST_REQUIRE(found == "+reply");
        bytes.begin_reply();
        feed("ply\r\n+re");
    }
    BOOST_TEST(bytes.prepare(0, texts).size() <= space);
    BOOST_TEST(bytes.bytes_handled() < 10'000u * 10);
}

BOOST_AUTO_TEST_SUITE_END()
