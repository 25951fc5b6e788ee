#include "core/output_buffer.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace holdfast::core {
namespace {

BOOST_AUTO_TEST_SUITE(core_output_buffer)

BOOST_AUTO_TEST_CASE(bytes_leave_in_order)
{
    output_buffer out;
    BOOST_TEST(out.bytes() == "");
    out.append("first");
    out.append("second");
    out.take(7);
    BOOST_TEST(out.bytes() == "cond");
    BOOST_TEST(out.size() == 4u);
    out.append("third");
    out.take(8);
    BOOST_TEST(out.bytes() == "d");
    out.clear();
    BOOST_TEST(out.size() == 0u);
    out.append("x");
    BOOST_TEST(out.bytes() == "x");
}

// A stream that takes a piece at a time, and never all, needs no more and more memory.
BOOST_AUTO_TEST_CASE(bytes_that_were_sent_are_removed)
{
    output_buffer out;
    const std::string piece(1000, 'x');
    out.append(piece);
    for (int i = 0; i < 10'000; ++i) {
        out.append(piece);
        out.take(piece.size());
    }
    BOOST_TEST(out.bytes() == piece);
    BOOST_TEST(out.capacity() <= output_buffer::most_kept);
}

// The memory is kept, unless it is very much.
BOOST_AUTO_TEST_CASE(memory)
{
    output_buffer out;
    out.append(std::string(10'000, 'x'));
    out.take(10'000);
    BOOST_TEST(out.capacity() >= 10'000u);
    out.append(std::string(2 * output_buffer::most_kept, 'x'));
    out.take(out.size());
    BOOST_TEST(out.capacity() < 10'000u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace holdfast::core
